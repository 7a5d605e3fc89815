#!/usr/bin/env bash
# All-reduces of torch.distributed over hostwire and over gloo, sums of float32 tensors, in one job of
# torchrun with a group of each, in turn: so many rounds (9), of each the median, and of the ratios the median.
# By the environment that `scripts/python.sh release torch` makes, or that of PYTHON, an interpreter that has
# PyTorch and the package hostwire in release mode. Compare within a run. Let nothing else run meanwhile.
#
#     bench/peers/gloo.sh [ROUNDS [RANKS...]]
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-${CARGO_TARGET_DIR:-target}/python/torch/bin/python}
[ -x "$python" ] || { echo "gloo.sh: no $python; run scripts/python.sh release torch, or set PYTHON"; exit 2; }
rounds=${1:-9}
shift || true
ranks=("$@")
[ $# = 0 ] && ranks=(2 4)
# One thread each, as torchrun does by itself, with a warning.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
printf '%5s  %12s  %-8s  %10s  %10s  %6s\n' ranks size what hostwire gloo ratio
for count in "${ranks[@]}"; do
    "$python" -m torch.distributed.run --standalone --nproc-per-node "$count" \
        bench/peers/gloo.py "$rounds" 2> >(grep -v -e '^W' -e '^\s*$' >&2)
done
