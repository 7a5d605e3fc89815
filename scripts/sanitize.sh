#!/bin/bash
# The tests of the library and its wires under AddressSanitizer, ThreadSanitizer and
# Miri, as far as the nightly toolchain has them. What is skipped is said, with the reason.
#
#     scripts/sanitize.sh               all of them
#     scripts/sanitize.sh address miri  only these, of:
#
# address   AddressSanitizer on the unit tests of the library and its wires
# miri      Miri on what needs no memory of the system
# suites    AddressSanitizer on the conformance suites, and on peers that end
# thread    ThreadSanitizer on all of that, with a standard library that is instrumented too
#
# What they can see here: each PE of a test maps all segments at addresses of its own, and
# all three tools go by address. So AddressSanitizer finds accesses beyond a mapping or a
# heap object; ThreadSanitizer finds races between the threads of one PE (program, agent,
# watcher), but none between two PEs: those are what scripts/loom.sh is for. Miri has no
# memfd, so it runs what works on private memory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
toolchain=${NIGHTLY:-nightly}
target_dir=${CARGO_TARGET_DIR:-target}
# Sanitized code is slow enough.
export PROPTEST_CASES=${PROPTEST_CASES:-32}
# Every tool needs flags of its own, and with them a directory.
export CARGO_TARGET_DIR

libraries=(--package=hostwire{,-transport,-region,-frames,-fabric,-virtual,-station})

skip() { echo "skipped: $1: $2"; }

if ! host=$("$cargo" "+$toolchain" --version --verbose 2>/dev/null | sed -n 's/^host: //p') ||
    [[ -z $host ]]; then
    skip "AddressSanitizer, ThreadSanitizer, Miri" \
        "there is no $toolchain toolchain (rustup toolchain install $toolchain)"
    exit 0
fi
sysroot=$(rustc "+$toolchain" --print sysroot)

has_runtime() {
    compgen -G "$sysroot/lib/rustlib/$host/lib/librustc-*_rt.$1.a" >/dev/null
}

sanitized() { "$cargo" "+$toolchain" test --target "$host" --locked "$@"; }

# Of the conformance suites the wire that programs use, and the one on which agents do all the work.
sanitized_suites() {
    sanitized "$@" -p hostwire --test peers_that_end
    sanitized "$@" -p hostwire-transport -p hostwire --test conformance -- coherent:: stores_only::
}

has_address() {
    has_runtime asan && return
    skip AddressSanitizer "the $toolchain toolchain has no runtime of it for $host"
    return 1
}

run_address() {
    has_address || return 0
    echo "AddressSanitizer"
    CARGO_TARGET_DIR=$target_dir/address RUSTFLAGS="-Zsanitizer=address" \
        sanitized "${libraries[@]}" --lib
}

run_suites() {
    has_address || return 0
    echo "AddressSanitizer on the suites"
    CARGO_TARGET_DIR=$target_dir/address RUSTFLAGS="-Zsanitizer=address" sanitized_suites
}

run_thread() {
    if ! has_runtime tsan; then
        skip ThreadSanitizer "the $toolchain toolchain has no runtime of it for $host"
        return
    fi
    if [[ ! -f $sysroot/lib/rustlib/src/rust/library/Cargo.lock ]]; then
        skip ThreadSanitizer "the standard library has to be instrumented too, or every lock and \
join of it looks like a race; its source is missing (rustup component add rust-src --toolchain $toolchain)"
        return
    fi
    echo "ThreadSanitizer"
    export RUSTFLAGS="-Zsanitizer=thread"
    CARGO_TARGET_DIR=$target_dir/thread
    sanitized -Zbuild-std "${libraries[@]}" --lib
    sanitized_suites -Zbuild-std
    unset RUSTFLAGS
}

run_miri() {
    if ! "$cargo" "+$toolchain" miri --version >/dev/null 2>&1; then
        skip Miri "it is not installed (rustup component add miri --toolchain $toolchain)"
        return
    fi
    echo "Miri"
    CARGO_TARGET_DIR=$target_dir/miri MIRIFLAGS="-Zmiri-disable-isolation" \
        "$cargo" "+$toolchain" miri test --locked -p hostwire-transport --lib -- \
        memory:: reach:: ring::header:: visibility:: wait::
}

tools=("$@")
if ((${#tools[@]} == 0)); then
    tools=(address miri suites thread)
fi
for tool in "${tools[@]}"; do
    if ! declare -F "run_$tool" >/dev/null; then
        echo "sanitize.sh: there is no '$tool': address, miri, suites or thread" >&2
        exit 2
    fi
done
for tool in "${tools[@]}"; do
    "run_$tool"
done
