#!/usr/bin/env bash
# Tagged messages of hostwire and of UCX (Debian: apt-get install ucx-utils) in turn on the
# same two CPUs. Each round is one run of either; compare within a round. Let nothing else
# run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v ucx_perftest >/dev/null || { echo "ucx.sh: needs ucx_perftest (ucx-utils)"; exit 2; }
bench="${CARGO_TARGET_DIR:-target}/release/hostwire bench"
. bench/peers/perftest.sh

field() { sed -E "s/.*\"$1\":([0-9.]+|null).*/\1/"; }

echo "round  what            hostwire       limit   ratio  UCX ($(ucx_info -v 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1))"
for round in $(seq "${1:-5}"); do
    for size in 8 64; do
        line=$($bench latency --size $size --repeats 3 --json)
        peer=$(perftest tag_lat $size 200000 | awk '{printf "%.1f", $(NF-4) * 1000}')
        printf '%5s  %4s B ns     %11s %11s %7s  %s\n' "$round" $size \
            "$(field median <<<"$line")" "$(field limit <<<"$line")" "$(field ratio <<<"$line")" "$peer"
    done
    line=$($bench rate --size 64 --repeats 3 --json)
    peer=$(perftest tag_bw 64 2000000 | awk '{printf "%.1f", $NF / 1e6}')
    printf '%5s  %4s B M/s    %11s %11s %7s  %s\n' "$round" 64 \
        "$(field median <<<"$line")" "$(field limit <<<"$line")" "$(field ratio <<<"$line")" "$peer"
done
