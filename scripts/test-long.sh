#!/bin/bash
# Suites that are too slow for every change: tests marked `ignored`, and random tests and
# fuzz targets with many times the usual number of cases, runs on modelled memory with many
# times the seeds, each fence left out in turn, and two virtual machines that share memory. Takes up to
# an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh test
export PROPTEST_CASES=${PROPTEST_CASES:-10000} FUZZ_CASES=${FUZZ_CASES:-300000}
"${CARGO:-cargo}" test --locked --workspace --release -- --include-ignored
for provider in 'tcp;ofi_rxm' net; do
    SHMEM_TEST_WIRE=fabric HOSTWIRE_FABRIC=$provider \
        "${CARGO:-cargo}" test --locked --release --package hostwire-shmem --test suite hosts::
done
HOSTWIRE_MODEL_SEEDS=${HOSTWIRE_MODEL_SEEDS:-5000} scripts/model.sh --transport -- --skip conformance::
HOSTWIRE_MODEL_SEEDS=${HOSTWIRE_MODEL_SEEDS:-24} scripts/model.sh
scripts/mutate-fences.sh
# Two to three minutes, on x86-64 alone.
[[ $(uname -m) != x86_64 ]] || scripts/vm-demo.sh all
# Builds each package from what would be uploaded.
"${CARGO:-cargo}" publish --locked --workspace --dry-run --allow-dirty
