#!/usr/bin/env bash
# Streaming a table out of the memory of owners: hostwire.warehouse, Arrow Flight and a copy, in one job by
# turns (bench/peers/warehouse.py), and what `hostwire bench bandwidth` gives on the same wire before and after.
# By the environment that `scripts/python.sh release warehouse` makes, or that of PYTHON, an interpreter that has the
# package hostwire in release mode. The first job is on one host; each WIRE makes two hosts of this machine, and then
# three, which needs root. Let nothing else run meanwhile.
#
#     bench/peers/warehouse.sh [SCALE [WIRE...]]        1 ether xdp udp tcp
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD
python=$(realpath -s "${PYTHON:-${CARGO_TARGET_DIR:-target}/python/warehouse/bin/python}")
[ -x "$python" ] || { echo "warehouse.sh: no $python; run scripts/python.sh release warehouse, or set PYTHON"; exit 2; }
bin=$(dirname "$python")
scale=${1:-1}
shift || true
wires=("$@")
[ $# = 0 ] && wires=(ether xdp udp tcp)
# What query 1 reads.
columns=(l_quantity l_extendedprice l_discount l_tax l_returnflag l_linestatus l_shipdate)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out certificate.pem 2>/dev/null
"$bin/tpchgen-cli" parquet --quiet --scale-factor "$scale" --tables lineitem --output-dir "$work"

bandwidth() {
    "$bin/hostwire" bench bandwidth --size 1M --json "$@" |
        "$python" -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if row["bench"] == "bandwidth":
        print("  bench bandwidth, %s: %.2f GB/s" % (row["wire"], row["median"]))'
}

# job OWNERS OPTION...
job() {
    local pes=$(($1 + 1))
    shift
    timeout 120 "$bin/hostwire" run -n "$pes" --heap 3G "$@" "$python" "$here/bench/peers/warehouse.py" \
        lineitem.parquet "${columns[@]}"
}

echo "one host, two owners:"
bandwidth --wire shm
job 2
bandwidth --wire shm
for wire in "${wires[@]}"; do
    bandwidth --wire "$wire"
    for owners in 1 2; do
        echo "$wire, $owners owners on hosts of their own:"
        job "$owners" --wire "$wire" --hosts $((owners + 1))
    done
    bandwidth --wire "$wire"
done
