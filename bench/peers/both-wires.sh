#!/usr/bin/env bash
# Frames, libfabric and both in one job (HOSTWIRE_LONG_PUTS=fabric) between two hosts that hostwire bench
# makes of this machine, in turn, as root, all without encryption; and Open MPI over TCP between two such
# hosts, where it is installed. Sizes around the usual HOSTWIRE_LONG_BYTES go by libfabric in the job with both, so that the
# size from which libfabric is faster can be read. Compare within a round. Let nothing else run meanwhile.
#
#     bench/peers/both-wires.sh [ROUNDS [WIRE...]]
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "both-wires.sh: needs root, to make network namespaces"; exit 2; }
if [ ! -x /run/agent ]; then
    exec bash crates/cli/tests/launchers/hosts.sh "$PWD/bench/peers/both-wires.sh" "$@"
fi
hostwire=$(realpath "${CARGO_TARGET_DIR:-target}/release/hostwire")
rounds=${1:-3}
shift || true
wires=("$@")
[ $# = 0 ] && wires=(xdp ether udp)
export HOSTWIRE_FABRIC="${HOSTWIRE_FABRIC:-tcp;ofi_rxm}"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
has_mpi=0
if command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null; then
    mpicc.openmpi -O2 -o "$build/mpi" bench/peers/mpi.c && has_mpi=1
fi

# WIRE LONG_PUTS BENCH BYTES -> the median of hostwire bench
ours() {
    HOSTWIRE_LONG_PUTS=$2 HOSTWIRE_LONG_BYTES=8K timeout 100 "$hostwire" bench "$3" --wire "$1" \
        --insecure-wire --size "$4" --repeats 5 --json 2>/dev/null |
        sed -E 's/.*"median":([0-9.]+|null).*/\1/' | tail -1 || true
}
open_mpi() {
    mpirun.openmpi --mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include 10.9.0.0/24 \
        --mca mpi_yield_when_idle 0 \
        -H fa -np 1 taskset -c 0 "$build/mpi" "$@" : -H fb -np 1 taskset -c 1 "$build/mpi" "$@"
}
number() { awk -v x="$1" 'BEGIN { printf x + 0 ? (x < 100 ? "%.3f" : "%.0f") : "-", x }'; }
row() { printf '%5s  %-22s  %-14s %8s\n' "$1" "$2" "$3" "$(number "$4")"; }
# WIRE LONG_PUTS NAME
all() {
    row "$round" "put 64 B, ns" "$3" "$(ours "$1" "$2" pingpong 64)"
    row "$round" "get 64 B, ns" "$3" "$(ours "$1" "$2" get 64)"
    for size in 8 16 32 64 128 1024; do
        for bench in put get bandwidth; do
            row "$round" "$bench $size KiB, GB/s" "$3" "$(ours "$1" "$2" "$bench" "${size}K")"
        done
    done
}

printf '%5s  %-22s  %-14s %8s\n' round what who figure
for round in $(seq "$rounds"); do
    for wire in "${wires[@]}"; do
        all "$wire" same "$wire"
        all "$wire" fabric "$wire, fabric"
    done
    all fabric same fabric
    if ((has_mpi)); then
        row "$round" "put 64 B, ns" "Open MPI, TCP" "$(open_mpi latency 64 5000)"
        row "$round" "bandwidth 1024 KiB, GB/s" "Open MPI, TCP" "$(open_mpi bandwidth 1048576 480)"
    fi
done
