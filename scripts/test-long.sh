#!/bin/bash
# Suites that are too slow for every change: tests marked `ignored`, and random tests and
# fuzz targets with many times the usual number of cases, runs on modelled memory with many
# times the seeds, each fence left out in turn, the backend of torch.distributed (installs PyTorch, 6 GB),
# all queries of TPC-H at scale factor 1, suites of others over the libfabric provider (scripts/suites.sh),
# and two virtual machines that share memory. Takes up to an hour, and longer with those suites.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test
mpi=$(scripts/mpi.sh)
eval "$mpi"
export PROPTEST_CASES=${PROPTEST_CASES:-10000} FUZZ_CASES=${FUZZ_CASES:-300000} SHMEM_TEST_RUNS=${SHMEM_TEST_RUNS:-300}
"${CARGO:-cargo}" test --locked --workspace --release -- --include-ignored
for provider in 'tcp;ofi_rxm' net; do
    SHMEM_TEST_WIRE=fabric HOSTWIRE_FABRIC=$provider \
        "${CARGO:-cargo}" test --locked --release --package hostwire-shmem --test suite hosts::
done
HOSTWIRE_MODEL_SEEDS=${HOSTWIRE_MODEL_SEEDS:-5000} scripts/model.sh --transport -- --skip conformance::
HOSTWIRE_MODEL_SEEDS=${HOSTWIRE_MODEL_SEEDS:-24} scripts/model.sh
scripts/mutate-fences.sh
if [[ $(uname -m) == x86_64 ]]; then
    # The wheels of PyTorch that are pinned are for CPython 3.11.
    if "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
        scripts/python.sh release torch
    else
        echo "test-long.sh: the tests of hostwire.torch are left out: they need Python 3.11 (PYTHON)" >&2
        [[ -z ${HOSTWIRE_TESTS_DEMAND:-} ]]
    fi
    HOSTWIRE_WAREHOUSE_SCALE=1 scripts/python.sh release warehouse
    scripts/suites.sh
    # Two to three minutes.
    scripts/vm-demo.sh all
fi
# Builds each package from what would be uploaded.
"${CARGO:-cargo}" publish --locked --workspace --dry-run --allow-dirty
