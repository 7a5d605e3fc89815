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

echo "round  what                     hostwire       limit   ratio  UCX ($(ucx_info -v 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1))"

turn() { # ROUND BENCH UNIT BYTES UCX
    local line
    line=$($bench "$2" --size "$4" --repeats 3 --json)
    printf '%5s  %-7s %6s B %-4s %11s %11s %7s  %s\n' "$1" "$2" "$4" "$3" \
        "$(field median <<<"$line")" "$(field limit <<<"$line")" "$(field ratio <<<"$line")" "$5"
}

for round in $(seq "${1:-5}"); do
    for size in 8 64 256 1024 4096 16384 65536; do
        turn "$round" latency ns $size "$(perftest tag_lat $size 50000 | awk '{printf "%.1f", $(NF-4) * 1000}')"
    done
    for size in 8 64 256 1024 4096 16384; do
        turn "$round" rate M/s $size "$(perftest tag_bw $size 500000 | awk '{printf "%.2f", $NF / 1e6}')"
    done
done
