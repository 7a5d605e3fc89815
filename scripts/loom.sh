#!/bin/bash
# Model checking: every interleaving, within loom's bounds, of the ring's two ends and of
# a sleeper with its waker. Modules named `model` in runtime/transport.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Only the program itself has the flag, so that it shares all else with the other tests.
program=$("${CARGO:-cargo}" rustc --locked --package hostwire-transport --lib --profile test \
    --message-format=json-render-diagnostics -- --cfg loom | sed -nE 's/.*"executable":"([^"]+)".*/\1/p')
"$program" model
