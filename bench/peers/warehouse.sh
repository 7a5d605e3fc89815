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

# binding OWNERS: where hosts of this machine have fewer processors than processes, the consumer gets one for
# itself and the owners share the others, as its hosts would. Else the kernel may put it beside an owner, for a while.
binding() {
    local cpus owner list=0
    cpus=$(nproc)
    if [ "$cpus" -gt 1 ] && [ "$cpus" -le "$1" ]; then
        for ((owner = 0; owner < $1; owner++)); do
            list+=",$((1 + owner % (cpus - 1)))"
        done
        echo "--bind $list"
    fi
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
        # shellcheck disable=SC2046 # Two words, or none.
        job "$owners" --wire "$wire" --hosts $((owners + 1)) $(binding "$owners")
    done
    bandwidth --wire "$wire"
done
