#!/usr/bin/env bash
# The wire `window` beside shared memory: what hostwire bench measures, on both in turn.
#
#     bench/peers/window.sh [ROUNDS]
#
# Two PEs over memory without a name (shm), over a region of the job's own, and over a region in a file
# (WINDOW_PATH, default /dev/shm). Each round runs all three, so that what the machine does meanwhile
# meets all. Prints the median of the rounds, and the median of the ratios of a round: for times above 1 is
# slower, for rates (GB/s, 1/s) below 1 is. Let nothing else run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5}
hostwire=${HOSTWIRE:-${CARGO_TARGET_DIR:-target}/release/hostwire}
[ -x "$hostwire" ] || { echo "window.sh: build it first: cargo build --release"; exit 2; }
folder=$(mktemp -d)
pool=$(mktemp -u "${WINDOW_PATH:-/dev/shm}/hostwire-XXXXXX")
trap 'rm -rf "$folder" "$pool"' EXIT
"$hostwire" window make "$pool,size=2G" >/dev/null
benches=${BENCHES:-latency rate bandwidth put get atomic barrier allreduce}
for ((round = 0; round < rounds; round++)); do
    for bench in $benches; do
        for wire in shm own file; do
            name=window window=
            if [ $wire = shm ]; then name=shm; fi
            if [ $wire = file ]; then window=$pool; fi
            HOSTWIRE_WINDOW=$window "$hostwire" bench "$bench" --wire $name \
                --csv "$folder/figures" >/dev/null
            tail -n +2 "$folder/figures" | sed "s/^/$round,$wire,/" >>"$folder/all"
            rm "$folder/figures"
        done
    done
done
# round,wire,bench,name,pes,size,unit,median,...
awk -F, '
    { key = $3 " " $6 " " $7; if (!(key in seen)) { seen[key]; order[++count] = key }
      value[key, $2, $1] = $8; if ($1 + 1 > rounds) rounds = $1 + 1 }
    function median(list, n,   i, j, t) {
        for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
            t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
        return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    function of(key, wire,   r, list) {
        for (r = 0; r < rounds; r++) list[r + 1] = value[key, wire, r]
        return median(list, rounds)
    }
    function ratio(key, wire,   r, list) {
        for (r = 0; r < rounds; r++) list[r + 1] = value[key, wire, r] / value[key, "shm", r]
        return median(list, rounds)
    }
    END {
        printf "%-10s %9s %6s %12s %12s %12s %8s %8s\n", "bench", "bytes", "unit", "shm", "own", "file",
            "own/shm", "file/shm"
        for (i = 1; i <= count; i++) {
            split(order[i], part, " ")
            printf "%-10s %9s %6s %12.1f %12.1f %12.1f %8.2f %8.2f\n", part[1], part[2], part[3],
                of(order[i], "shm"), of(order[i], "own"), of(order[i], "file"),
                ratio(order[i], "own"), ratio(order[i], "file")
        }
    }' "$folder/all"
