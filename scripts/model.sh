#!/bin/bash
# The protocols on modelled memory (runtime/transport/src/model): write-combining buffers that
# leave early, late and in pieces, caches that nobody keeps coherent, Arm's order.
#
#     scripts/model.sh            all tests
#     scripts/model.sh NAME       those with NAME in their names
#     scripts/model.sh --quick    without the suites on memory that forgives more than flushed memory does
#     scripts/model.sh --transport [NAME]    without the suite of the API, which takes longer
#
# HOSTWIRE_MODEL_SEED=N repeats one run of each, HOSTWIRE_MODEL_SEEDS=N does so many.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=(--package hostwire-transport --package hostwire-region --package hostwire)
# Compiling takes longer than the quick tests do.
level=2
if [[ ${1-} == --transport ]]; then
    packages=(--package hostwire-transport --package hostwire-region)
    shift
fi
if [[ ${1-} == --quick ]]; then
    level=1
    # What they find on other memory, they find on this; what is left of it are rings, flags and sleep.
    set -- -- --skip api_coherent:: --skip api_write_combining:: \
        --skip conformance::coherent:: --skip conformance::write_combining::
fi
# A directory of its own: other flags, so nothing can be shared.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/model
RUSTFLAGS="${RUSTFLAGS:-} --cfg memory_model" \
    "${CARGO:-cargo}" test --locked --no-fail-fast \
    --config "profile.dev.package.hostwire-transport.opt-level=$level" "${packages[@]}" --test model "$@"
