#!/bin/bash
# Model checking: every interleaving, within loom's bounds, of the ring's two ends and of
# a sleeper with its waker. Modules named `model` in crates/transport.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# A directory of its own: other flags, so nothing can be shared.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/loom
RUSTFLAGS="${RUSTFLAGS:-} --cfg loom" \
    "${CARGO:-cargo}" test --locked --package hostwire-transport --lib model
