#!/usr/bin/env bash
# The machine code of the 64-byte put: writes bench/codegen/put_64.x86-64, or with --check
# says whether the path to its first return is still free of calls and locks.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -m)" != x86_64 ] || ! command -v objdump >/dev/null; then
    echo "codegen: skipped: needs x86-64 and objdump (binutils)"
    exit 0
fi
cargo build --quiet --release -p hostwire --example codegen
listing=$(objdump -d -C --no-show-raw-insn --no-addresses \
    "${CARGO_TARGET_DIR:-target}/release/examples/codegen" |
    awk '/^$/{on=0} /^<codegen::put_64>:/{on=1} on' | sed 's/[[:space:]]*$//')
[ -n "$listing" ] || { echo "codegen: put_64 is not in the program"; exit 1; }
hot=$(awk '!done {print} /\tret/{done=1}' <<<"$listing")
if grep -nE '\b(call|lock|xchg)\b' <<<"$hot"; then
    echo "codegen: the lines above stand between a 64-byte put and its return"
    exit 1
fi
if [ "${1:-}" = --check ]; then
    echo "codegen: 64-byte put: $(grep -c $'\t' <<<"$hot") instructions, no call, no lock"
else
    {
        echo "# The 64-byte put, x86-64, by scripts/codegen.sh. Up to the first ret is what a put"
        echo "# costs; behind it is what happens when the target sleeps, is lost or out of range."
        echo "$listing"
    } >bench/codegen/put_64.x86-64
fi
