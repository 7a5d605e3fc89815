#!/usr/bin/env bash
# All-reduces of torch.distributed over hostwire and over gloo, sums of float32 tensors. One job of torchrun
# has a group of each, in turn. Prints the medians of ROUNDS (9) rounds, and the median of their ratios. Uses
# the environment that `scripts/python.sh release torch` makes, or that of PYTHON, an interpreter that has
# PyTorch and the package hostwire in release mode. Compare within a run. Let nothing else run meanwhile.
#
# With --hosts, half of the ranks are on another host, as root: network namespaces that a veth pair joins
# (tools/cli/tests/launchers/hosts.sh). WIRE is what hostwire uses there: udp, ether, xdp; gloo has TCP.
# The frames are bare, as gloo's are (SEALED=1 leaves them sealed, as hostwire has them by itself).
#
#     bench/peers/gloo.sh [--hosts WIRE] [ROUNDS [RANKS...]]
set -euo pipefail
cd "$(dirname "$0")/../.."
wire=
if [ "${1-}" = --hosts ]; then
    wire=${2:?a wire: udp, ether or xdp}
    [ "$(id -u)" = 0 ] || { echo "gloo.sh: needs root, to make network namespaces"; exit 2; }
    [ -x /run/agent ] || exec bash tools/cli/tests/launchers/hosts.sh "$PWD/bench/peers/gloo.sh" "$@"
    shift 2
    export HOSTWIRE_WIRE=$wire HOSTWIRE_IFACE=wire GLOO_SOCKET_IFNAME=wire
    [ -n "${SEALED-}" ] || export HOSTWIRE_INSECURE_WIRE=1
fi
python=${PYTHON:-${CARGO_TARGET_DIR:-target}/python/torch/bin/python}
[ -x "$python" ] || { echo "gloo.sh: no $python; run scripts/python.sh release torch, or set PYTHON"; exit 2; }
rounds=${1:-9}
shift || true
ranks=("$@")
[ $# = 0 ] && ranks=(2 4)
# One thread each, as torchrun does by itself, with a warning.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
printf '%5s  %12s  %-8s  %10s  %10s  %6s\n' ranks size what hostwire gloo ratio
# RANKS NODE_RANK: the command that starts the ranks of a host.
host_of_two() {
    echo "$python" -m torch.distributed.run --nnodes 2 --nproc-per-node "$(($1 / 2))" --node-rank "$2" \
        --master-addr 10.9.0.1 --master-port 29555 bench/peers/gloo.py "$rounds"
}
quietly() { "$@" 2> >(grep -v -e '^W' -e '^\s*$' >&2); }
for count in "${ranks[@]}"; do
    if [ -n "$wire" ]; then
        # The command uses the environment of this shell.
        # shellcheck disable=SC2046
        quietly /run/agent fb cd "$PWD" '&&' exec $(host_of_two "$count" 1) &
        # shellcheck disable=SC2046
        quietly $(host_of_two "$count" 0)
        wait
    else
        quietly "$python" -m torch.distributed.run --standalone --nproc-per-node "$count" \
            bench/peers/gloo.py "$rounds"
    fi
done
