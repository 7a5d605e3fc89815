#!/usr/bin/env bash
# The wire fabric between two hosts beside bare libfabric (bench/peers/fabric.c, with the same
# provider), in turn on the same two CPUs, as root; for long puts also beside Open MPI over TCP and
# the wires ether and udp. Needs libfabric-dev, or its headers by FABRIC_CFLAGS=-I...; Open MPI
# (openmpi-bin libopenmpi-dev) is left out where it is not installed.
#
# The two hosts are network namespaces joined by a veth pair: those of
# tools/cli/tests/launchers/hosts.sh for the peers, hostwire bench makes its own. Compare within a
# round. Let nothing else run meanwhile.
#
#     bench/peers/fabric.sh [ROUNDS [PROVIDER...]]
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "fabric.sh: needs root, to make network namespaces"; exit 2; }
if [ ! -x /run/agent ]; then
    exec bash tools/cli/tests/launchers/hosts.sh "$PWD/bench/peers/fabric.sh" "$@"
fi
hostwire=$(realpath "${CARGO_TARGET_DIR:-target}/release/hostwire")
rounds=${1:-3}
shift || true
providers=("$@")
[ $# = 0 ] && providers=("tcp;ofi_rxm")
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
# By the name that the library has at run time: the link without a number is in the -dev package.
# shellcheck disable=SC2086
cc -O2 ${FABRIC_CFLAGS-} -o "$build/bare" bench/peers/fabric.c -l:libfabric.so.1
has_mpi=0
if command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null; then
    mpicc.openmpi -O2 -o "$build/mpi" bench/peers/mpi.c && has_mpi=1
fi

# latency|bandwidth BYTES COUNT -> ns, or GB/s
bare() {
    /run/agent fb exec taskset -c 1 timeout 60 "$build/bare" "'$provider'" 10.9.0.2 "$@" &
    local server=$!
    ip netns exec fa taskset -c 0 timeout 60 "$build/bare" "$provider" 10.9.0.1 "$@" 10.9.0.2 || true
    wait "$server" || true
}
open_mpi() {
    mpirun.openmpi --mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include 10.9.0.0/24 \
        --mca mpi_yield_when_idle 0 \
        -H fa -np 1 taskset -c 0 "$build/mpi" bandwidth 1048576 480 : \
        -H fb -np 1 taskset -c 1 "$build/mpi" bandwidth 1048576 480
}
# WIRE BENCH BYTES -> the median of hostwire bench
ours() {
    HOSTWIRE_FABRIC=$provider timeout 100 "$hostwire" bench "$2" --wire "$1" --insecure-wire \
        --size "$3" --repeats 3 --json 2>/dev/null | sed -E 's/.*"median":([0-9.]+|null).*/\1/' | tail -1 || true
}
number() { awk -v x="$1" 'BEGIN { printf x + 0 ? (x < 100 ? "%.3f" : "%.0f") : "-", x }'; }
row() { printf '%5s  %-14s  %-28s %8s\n' "$1" "$2" "$3" "$(number "$4")"; }

printf '%5s  %-14s  %-28s %8s\n' round what who figure
for round in $(seq "$rounds"); do
    for provider in "${providers[@]}"; do
        row "$round" "64 B, ns" "bare $provider" "$(bare latency 64 20000)"
        row "$round" "64 B, ns" "hostwire $provider" "$(ours fabric pingpong 64)"
        row "$round" "1 MiB, GB/s" "bare $provider" "$(bare bandwidth 1048576 2000)"
        row "$round" "1 MiB, GB/s" "hostwire $provider" "$(ours fabric put 1048576)"
    done
    ((has_mpi)) && row "$round" "1 MiB, GB/s" "Open MPI, TCP" "$(open_mpi)"
    row "$round" "1 MiB, GB/s" "hostwire ether, bare frames" "$(ours ether put 1048576)"
    row "$round" "1 MiB, GB/s" "hostwire udp, bare" "$(ours udp put 1048576)"
done
