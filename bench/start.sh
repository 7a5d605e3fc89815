#!/usr/bin/env bash
# What it takes to start and end a job on one host, by the number of its PEs:
#
#   bench/start.sh [PES...]        default 32 128 256 512 1000
#   BIN=DIR bench/start.sh ...     with the hostwire and hello of DIR instead of a build of this tree
#   RUNS=N bench/start.sh ...      each N times; default 3, of which the median is shown
#
# Wall time, and processor time in the program and in the kernel of the launcher and all PEs
# together, in seconds. Where other programs run, only the processor time is worth comparing.
set -euo pipefail
cd "$(dirname "$0")/.."
sizes=("$@")
[[ ${#sizes[@]} -gt 0 ]] || sizes=(32 128 256 512 1000)
runs=${RUNS:-3}
if [[ -z ${BIN:-} ]]; then
    cargo build --quiet --release
    BIN=${CARGO_TARGET_DIR:-target}/release
fi

# The median of the numbers in column $1.
median() {
    awk -v column="$1" '{ print $column }' | sort -n | sed -n "$(((runs + 1) / 2))p"
}

printf '%6s %10s %10s %10s %16s\n' PEs 'wall s' 'user s' 'system s' 'ms of CPU per PE'
for pes in "${sizes[@]}"; do
    taken=
    for ((run = 0; run < runs; run++)); do
        TIMEFORMAT='%R %U %S'
        one=$({ time "$BIN/hostwire" run -n "$pes" "$BIN/hello" >/dev/null; } 2>&1) || {
            printf 'bench/start.sh: the job of %s PEs failed:\n%s\n' "$pes" "$one" >&2
            exit 1
        }
        taken+=$one$'\n'
    done
    taken=${taken%$'\n'}
    wall=$(median 1 <<<"$taken") user=$(median 2 <<<"$taken") system=$(median 3 <<<"$taken")
    awk -v pes="$pes" -v wall="$wall" -v user="$user" -v kernel="$system" 'BEGIN {
        printf "%6d %10.2f %10.2f %10.2f %16.2f\n", pes, wall, user, kernel, 1000 * (user + kernel) / pes
    }'
done
