#!/usr/bin/env bash
# Tagged messages of hostwire and of UCX (Debian: apt-get install ucx-utils) in turn on the
# same two CPUs. Each round is one run of either; compare within a round. Let nothing else
# run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v ucx_perftest >/dev/null || { echo "ucx.sh: needs ucx_perftest (ucx-utils)"; exit 2; }
bench="${CARGO_TARGET_DIR:-target}/release/hostwire bench"
export UCX_TLS=${UCX_TLS:-posix,self} UCX_WARN_UNUSED_ENV_VARS=n

# test, bytes, iterations -> the overall latency in us and messages/s of one run
ucx() {
    taskset -c 1 ucx_perftest -p 13999 >/dev/null 2>&1 &
    local server=$!
    sleep 0.3
    taskset -c 0 ucx_perftest 127.0.0.1 -p 13999 -t "$1" -s "$2" -n "$3" -w 10000 -f 2>/dev/null |
        grep -vE '^\s*$|\+|\||Final' | tail -1
    wait "$server" || true
}
field() { sed -E "s/.*\"$1\":([0-9.]+|null).*/\1/"; }

echo "round  what            hostwire       limit   ratio  UCX ($(ucx_info -v 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1))"
for round in $(seq "${1:-5}"); do
    for size in 8 64; do
        line=$($bench latency --size $size --repeats 3 --json)
        peer=$(ucx tag_lat $size 200000 | awk '{printf "%.1f", $(NF-5) * 1000}')
        printf '%5s  %4s B ns     %11s %11s %7s  %s\n' "$round" $size \
            "$(field median <<<"$line")" "$(field limit <<<"$line")" "$(field ratio <<<"$line")" "$peer"
    done
    line=$($bench rate --size 64 --repeats 3 --json)
    peer=$(ucx tag_bw 64 2000000 | awk '{printf "%.1f", $NF / 1e6}')
    printf '%5s  %4s B M/s    %11s %11s %7s  %s\n' "$round" 64 \
        "$(field median <<<"$line")" "$(field limit <<<"$line")" "$(field ratio <<<"$line")" "$peer"
done
