#!/usr/bin/env bash
# Runs `hostwire bench` of two builds in turn and prints both, as a table: what a change costs.
#
#     bench/compare.sh [-t TURNS] [-w WIRE] [-o FOLDER] OLD NEW [BENCH...]
#
# OLD and NEW are two programs `hostwire`. Medians over the turns of what each run gives; the ratio is
# NEW / OLD, so that for times less is better, and for rates more. Without a BENCH: latency, rate, bandwidth,
# put, get, atomic, barrier and allreduce. Raw values and the table go to FOLDER (default: out/compare).
# Let nothing else run meanwhile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

turns=9 wire=shm out=out/compare
while getopts t:w:o: option; do
    case $option in
    t) turns=$OPTARG ;;
    w) wire=$OPTARG ;;
    o) out=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if (($# < 2)); then
    sed -n '2,/^set/{s/^# \{0,1\}//;/^set/d;p}' "$0" >&2
    exit 2
fi
declare -A program=([old]=$1 [new]=$2)
shift 2
for name in old new; do
    [[ -x ${program[$name]} ]] || {
        echo "compare.sh: ${program[$name]}: no such program" >&2
        exit 2
    }
done
benches=("$@")
((${#benches[@]})) || benches=(latency rate bandwidth put get atomic barrier allreduce)

mkdir -p "$out"
: >"$out/raw.csv"
one=$(mktemp)
trap 'rm -f "$one"' EXIT
for ((turn = 1; turn <= turns; turn++)); do
    for bench in "${benches[@]}"; do
        # Each goes first in half of the turns.
        order=(old new)
        ((turn % 2)) || order=(new old)
        for name in "${order[@]}"; do
            echo "compare.sh: turn $turn of $turns: $bench, $name" >&2
            "${program[$name]}" bench "$bench" --wire "$wire" --csv "$one" >/dev/null
            tail -n +2 "$one" | sed "s/^/$turn,$name,/" >>"$out/raw.csv"
        done
    done
done

# Columns: turn, build, bench, wire, PEs, bytes, unit, median, ...
sort -t, -k3,3 -k5,5n -k6,6n -k2,2 -k8,8g "$out/raw.csv" | awk -F, '
    function middle() { return count % 2 ? value[(count + 1) / 2] : (value[count / 2] + value[count / 2 + 1]) / 2 }
    function finish() { if (count) median[build, row] = middle(); count = 0 }
    { key = $3 "," $5 "," $6 "," $7
      if (key "," $2 != last) { finish(); last = key "," $2 }
      build = $2; row = key; value[++count] = $8
      if (!(key in seen)) { seen[key]; rows[++n] = key } }
    END {
        finish()
        print "| bench | PEs | bytes | unit | old | new | new / old |"
        print "|---|---|---|---|---|---|---|"
        for (i = 1; i <= n; i++) {
            split(rows[i], part, ",")
            old = median["old", rows[i]]; new = median["new", rows[i]]
            printf "| %s | %s | %s | %s | %.4g | %.4g | %.2f |\n", part[1], part[2], part[3], part[4], old, new, new / old
        }
    }' | tee "$out/table.md"
