#!/bin/bash
# 64-bit Arm: tests of the crates, example programs as jobs, libshmem with its C programs, and the provider. By QEMU's
# user emulation where this machine is another one. That shows whether the code is right, not whether its order
# of stores is: emulated on x86-64, loads and stores keep the order of x86-64 (scripts/model.sh has Arm's).
#
#     scripts/test-arm.sh            all parts
#     scripts/test-arm.sh PART...    these
#
# Parts; docs/arm.md says how long each takes and what it leaves out:
#     protocols    packet, link
#     transport    transport, region: their unit tests and the conformance suite
#     hostwire     the interface for Rust: unit tests, and jobs of several processes
#     examples     programs as jobs
#     shmem        libshmem, its C programs by calls
#     inline       the same with operations inside the program
#     provider     the provider of libfabric
#     pages        transport and region with pages of 64 KiB (under QEMU only)
#     python       the wheel for Arm, by Zig's linker, and a job of Python's (under QEMU only)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
parts=(protocols transport hostwire examples shmem inline provider pages python)
target=aarch64-unknown-linux-gnu
cargo=${CARGO:-cargo}
emulator=
built=${CARGO_TARGET_DIR:-target}

scripts/setup.sh arm
if [[ $(uname -m) != aarch64 ]]; then
    rustup target add $target
    emulator="qemu-aarch64 -cpu neoverse-n1 -L /usr/aarch64-linux-gnu"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$emulator
elif [[ -n ${CI:-} && ${CI:-} != false && ${CI:-} != 0 ]]; then
    # A test that cannot run for want of a tool is a failure: see qa/testing.
    export HOSTWIRE_TESTS_DEMAND=1
fi

arm() { "$cargo" "$1" --locked --target $target "${@:2}"; }

# Emulated PEs are started by the launcher of this machine.
launcher() { "$cargo" build --locked --release -p hostwire-cli; }
job() { "$built/release/hostwire" run --timeout 600 -n "$1" -- $emulator "$built/$target/debug/${@:2}"; }

# The suite runs here, and builds and starts its programs for the other machine.
suite() (
    launcher
    if [[ -n $emulator ]]; then
        export SHMEM_TEST_TARGET=$target HOSTWIRE
        HOSTWIRE=$(realpath "$built/release/hostwire")
    fi
    "$cargo" test --locked -p hostwire-shmem --test suite "$@"
)

part_protocols() { arm test -p hostwire-packet -p hostwire-link; }

# What needs rights to send frames has its tests on the machine itself.
part_transport() {
    local left_out=()
    # QEMU has no process_vm_readv, and `cc` makes libraries for this machine.
    if [[ -n $emulator ]]; then
        left_out=(--skip os::neighbour::tests:: --skip os::library::tests::signals_stay_the_programs)
    fi
    arm test -p hostwire-transport -p hostwire-region --lib --test conformance -- "${left_out[@]}"
}

part_hostwire() {
    local left_out=()
    if [[ -n $emulator ]]; then
        # Where a station cannot copy from a process it asks for no address to copy from, and an answer with one is refused.
        left_out=(--skip station::tests::a_get_from_nowhere_comes_in_pieces)
        # QEMU before 8.0 cannot protect encryption from copies of a process.
        export HOSTWIRE_INSECURE_WIRE=1
    fi
    arm test -p hostwire --lib -- "${left_out[@]}"
    arm test -p hostwire --test tags --test threads --test different_calls
}

part_examples() {
    launcher
    arm build -p hostwire-examples --bins
    job 4 hello
    job 4 wordcount README.md docs/*.md | tail -n 2
    job 2 heat2d --size 32x32 --steps 300
    job 2 gups --log2-words 10
}

part_shmem() {
    arm test -p hostwire-shmem --lib
    # Random traffic a hundred times would take longer than all else.
    SHMEM_TEST_RUNS=20 suite programs::
}

part_inline() { suite inline::; }

part_provider() {
    if [[ -z $emulator ]]; then
        arm test -p hostwire-fabric-provider
        return
    fi
    arm test -p hostwire-fabric-provider --lib
    arm build -p hostwire-fabric-provider
    # Its own tests start programs of this machine. These are the same programs, for the other one.
    local root folder program
    root=$(scripts/arm-root.sh)
    folder=$built/$target/provider
    mkdir -p "$folder"
    cp "$built/$target/debug/libhostwire_fi.so" "$folder/libhostwire-fi.so"
    export FI_PROVIDER_PATH=$folder
    local run=(timeout -s KILL 120 qemu-aarch64 -cpu neoverse-n1 -L "$root")
    "${run[@]}" "$root/usr/bin/fi_info" -p hostwire
    for program in messages memory waits closes; do
        aarch64-linux-gnu-gcc -O1 -Wall -Wextra -Werror -o "$folder/$program" -I "$root/usr/include" \
            "fronts/fabric-provider/tests/c/$program.c" "$root/usr/lib/aarch64-linux-gnu/libfabric.so" \
            -Wl,--allow-shlib-undefined -pthread
        echo "$program: $("${run[@]}" "$folder/$program")"
    done
    local pingpong=("${run[@]}" "$root/usr/bin/fi_pingpong" -p hostwire -e rdm -c -I 20)
    "${pingpong[@]}" -B 47592 &
    # The client does not try again.
    until grep -q ' 00000000:B9E8 .* 0A ' /proc/net/tcp; do sleep 0.1; done
    "${pingpong[@]}" -P 47592 127.0.0.1
    wait $!
}

part_pages() {
    if [[ -z $emulator ]]; then
        echo "test-arm: the pages of this machine have $(getconf PAGESIZE) bytes: part pages is left out"
        return
    fi
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$emulator -p 65536"
    # Without jobs: QEMU cannot map a file that is shorter than such a page, as the board of a launcher is, and may say that it has.
    part_transport
}

part_python() {
    if [[ -z $emulator ]]; then
        echo "test-arm: scripts/python.sh tests the package of this machine: part python is left out"
        return
    fi
    local wheel root packages
    # By Zig's linker, and not by the one of the other parts, whose C library is newer.
    unset CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER
    wheel=$(TARGET=$target scripts/python.sh portable wheel | tail -n 1)
    root=$(scripts/arm-root.sh)
    packages=$(realpath "$built/$target")/python
    rm -rf "$packages"
    "${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$packages" \
        --platform manylinux_2_28_aarch64 --python-version 3.11 "$wheel"
    launcher
    "$built/release/hostwire" run --timeout 300 -n 2 --env "PYTHONPATH=$packages" -- \
        qemu-aarch64 -cpu neoverse-n1 -L "$root" "$root/usr/bin/python3.11" -c "
import hostwire, platform
with hostwire.Job() as job:
    inbox = job.zeros(3, 'float64')
    inbox.put(1 - job.pe, [job.pe, 0.25, 0.5])
    job.barrier()
    assert inbox.local.tolist() == [1 - job.pe, 0.25, 0.5]
    print(f'PE {job.pe} of Python on {platform.machine()} is well')"
}

for part in "${@:-${parts[@]}}"; do
    if [[ " ${parts[*]} " != *" $part "* ]]; then
        echo "test-arm: there is no part $part; there are ${parts[*]}" >&2
        exit 2
    fi
done
for part in "${@:-${parts[@]}}"; do
    SECONDS=0
    # In a shell of its own: what one part sets is not there for the next.
    (part_"$part")
    echo "test-arm: $part is well, in $SECONDS s"
done
