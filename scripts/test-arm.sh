#!/bin/bash
# The lower crates' tests, the example programs as jobs, and libshmem with its C programs, on 64-bit
# Arm: by QEMU's user emulation where this machine is another one. That shows whether the code is right,
# not whether its order of stores is: emulated on x86-64, loads and stores keep the order of x86-64. Takes
# an hour there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=aarch64-unknown-linux-gnu
cargo=${CARGO:-cargo}
emulator=

scripts/setup.sh arm
if [[ $(uname -m) != aarch64 ]]; then
    rustup target add $target
    emulator="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$emulator
fi

"$cargo" test --locked --target $target -p hostwire-packet -p hostwire-link
# What needs rights to send frames has its tests on the machine itself.
"$cargo" test --locked --target $target -p hostwire-transport -p hostwire-region --lib --test conformance
"$cargo" build --locked --target $target -p hostwire-examples --bins
# Emulated PEs, started by the launcher of this machine.
"$cargo" build --locked --release -p hostwire-cli
built=${CARGO_TARGET_DIR:-target}
job() { "$built/release/hostwire" run --timeout 600 -n "$1" -- $emulator "$built/$target/debug/${@:2}"; }
job 4 hello
job 4 wordcount README.md docs/*.md | tail -n 2
job 2 heat2d --size 32x32 --steps 300
job 2 gups --log2-words 10

# The C programs: the suite runs here, and builds and starts them for the other machine.
"$cargo" test --locked --target $target -p hostwire-shmem --lib
if [[ -n $emulator ]]; then
    export SHMEM_TEST_TARGET=$target HOSTWIRE
    HOSTWIRE=$(realpath "$built/release/hostwire")
fi
# Random traffic a hundred times would take longer than all else.
SHMEM_TEST_RUNS=20 "$cargo" test --locked -p hostwire-shmem --test suite programs::
echo "test-arm: all is well"
