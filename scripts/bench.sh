#!/bin/bash
# Measures hostwire beside the limits of this machine, then its pieces. Let nothing else
# run meanwhile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
scripts/setup.sh run
"$cargo" build --locked --release
"${CARGO_TARGET_DIR:-target}/release/hostwire" bench all
"$cargo" bench --locked --workspace --benches
