#!/bin/bash
# Suites that are too slow for every change: docs/testing.md says what each is for, and what it found.
#
#     scripts/test-long.sh             all of them
#     PART=2/6 scripts/test-long.sh    those of the second of six parts, which take about as long as the others
#     scripts/test-long.sh SUITE...    these, such as sim or fuzz
#     scripts/test-long.sh --list      says which there are, and which part has which
#
# A suite that fails does not end the others; the last lines say how each ended. PROPTEST_CASES, FUZZ_CASES,
# SHMEM_TEST_RUNS and HOSTWIRE_MODEL_SEEDS are numbers of cases, runs and seeds; they have values that fit the parts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}

# Each with the minutes that it is expected to take on two cores; parts are made by them.
suites=(
    lints:3
    protocols:14
    wires:15
    sim:14
    command:15
    openshmem:20
    openshmem_fabric:9
    provider:4
    fuzz:11
    model:9
    fences:7
    defects:25
    sanitizers:15
    torch:10
    warehouse:15
    foreign:4
    iceoryx2:8
    nixl:6
    machines:6
    packages:20
    guides:6
    load:9
    rtl:20
)

# All tests of these packages, in release mode: those that are ignored otherwise, and all numbers of PEs.
tests_of() {
    local packages=()
    for package; do packages+=(--package "$package"); done
    PROPTEST_CASES=${PROPTEST_CASES:-10000} \
        "$cargo" xtask test --locked --release --all-features "${packages[@]}" -- --include-ignored
}

# What `make test` leaves out of clippy and the compiler: the features that users have, and modelled memory.
suite_lints() {
    "$cargo" clippy --locked --workspace --exclude hostwire-fuzzing -- -D warnings
    RUSTFLAGS="${RUSTFLAGS:-} --cfg memory_model" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/model \
        "$cargo" clippy --locked --package hostwire-transport --package hostwire-region --package hostwire --lib --test model -- -D warnings
}

suite_protocols() {
    tests_of hostwire-{address,packet,link,plan,pmix,fabric-abi,borrow,preload,device,testing} xtask
}

suite_wires() { tests_of hostwire-{transport,region,frames,fabric,virtual,station} hostwire; }

# A case of some tests is a whole cluster. Some start the launcher, and example programs.
suite_sim() {
    "$cargo" build --locked --release --all-features --package hostwire-cli --package hostwire-examples --bins --examples
    PROPTEST_CASES=${PROPTEST_CASES:-1000} tests_of hostwire-sim hostwire-lab
}

suite_command() { tests_of hostwire-cli hostwire-examples; }

suite_openshmem() { tests_of hostwire-shmem; }

# The programs between hosts, over the providers of libfabric that `make test` does not take.
suite_openshmem_fabric() {
    local provider
    for provider in 'tcp;ofi_rxm' net; do
        SHMEM_TEST_WIRE=fabric HOSTWIRE_FABRIC=$provider \
            "$cargo" test --locked --release --package hostwire-shmem --test suite \
            -- hosts:: --include-ignored
    done
}

suite_provider() { tests_of hostwire-fabric-provider hostwire-tca; }

# A million packets for each core. Without Verilator it fails: that is what it is for.
suite_rtl() { PACKETS=${PACKETS:-1000000} scripts/rtl.sh all; }

# By its command, which says how far it is.
suite_fuzz() { "$cargo" run --locked --release --package hostwire-fuzzing -- run; }

suite_model() {
    HOSTWIRE_MODEL_SEEDS=${HOSTWIRE_MODEL_SEEDS:-2000} scripts/model.sh --transport -- --skip conformance::
    HOSTWIRE_MODEL_SEEDS=${HOSTWIRE_MODEL_SEEDS:-24} scripts/model.sh
}

suite_fences() { scripts/mutate-fences.sh; }

suite_defects() { scripts/mutate-defects.sh; }

suite_sanitizers() { scripts/sanitize.sh suites thread; }

# The wheels of PyTorch that are pinned are for CPython 3.11 on x86-64; they take 6 GB.
suite_torch() {
    if [[ $(uname -m) != x86_64 ]] ||
        ! "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
        echo "test-long.sh: the tests of hostwire.torch are left out: they need Python 3.11 (PYTHON) on x86-64" >&2
        [[ -z ${HOSTWIRE_TESTS_DEMAND:-} ]]
        return
    fi
    scripts/python.sh release torch
}

suite_warehouse() { HOSTWIRE_WAREHOUSE_SCALE=1 scripts/python.sh release warehouse; }

# What others have made, as far as it was built: scripts/suites.sh says how.
suite_foreign() { scripts/suites.sh; }

# A workspace of its own: `make test` does not see it.
suite_iceoryx2() { scripts/iceoryx2.sh test; }

# Needs the headers of NIXL and its library.
suite_nixl() { scripts/nixl.sh test; }

# Two virtual machines that share memory.
suite_machines() { [[ $(uname -m) != x86_64 ]] || scripts/vm-demo.sh all; }

# Builds each crate from what would be uploaded, and packages of distributions; installs these into empty systems.
suite_packages() {
    "$cargo" publish --locked --workspace --dry-run --allow-dirty
    scripts/packages.sh
}

# The pages for users, word by word.
suite_guides() { scripts/guides.sh; }

# The tests that a busy machine could make fail, beside two compilers.
suite_load() { scripts/under-load.sh; }

minutes_of() { # SUITE
    local suite
    for suite in "${suites[@]}"; do
        if [[ ${suite%:*} == "$1" ]]; then
            echo "${suite#*:}"
            return
        fi
    done
    echo "test-long.sh: there is no suite '$1'; scripts/test-long.sh --list names them" >&2
    return 2
}

# The suites of one part of so many: the one that takes longest goes to the part that has least, and so on.
part() { # NUMBER PARTS
    printf '%s\n' "${suites[@]}" | sort -t : -k 2,2nr -k 1,1 |
        awk -F : -v number="$1" -v parts="$2" '
            {
                least = 1
                for (i = 2; i <= parts; i++) if (minutes[i] + 0 < minutes[least] + 0) least = i
                minutes[least] += $2
                if (least == number) print $1
            }'
}

# Of PART=k/n. Without it all are one part.
read_part() {
    if [[ ! ${PART:-1/1} =~ ^([1-9][0-9]?)/([1-9][0-9]?)$ ]] ||
        ((BASH_REMATCH[1] > BASH_REMATCH[2] || BASH_REMATCH[2] > ${#suites[@]})); then
        echo "test-long.sh: PART is '$PART'; expected k/n, such as 2/6, with n up to ${#suites[@]}" >&2
        return 2
    fi
    number=${BASH_REMATCH[1]} parts=${BASH_REMATCH[2]}
}

list() {
    local i suite
    for ((i = 1; i <= parts; i++)); do
        echo "part $i/$parts:"
        for suite in $(part "$i" "$parts"); do
            printf '  %-18s %3d min\n' "$suite" "$(minutes_of "$suite")"
        done
    done
}

read_part
if [[ ${1:-} == --list ]]; then
    list
    exit
fi
if (($#)); then
    chosen=("$@")
    for suite in "${chosen[@]}"; do minutes_of "$suite" >/dev/null; done
    what=$*
else
    mapfile -t chosen < <(part "$number" "$parts")
    what="part $number/$parts"
fi
printf '=== %s:\n' "$what"
for suite in "${chosen[@]}"; do printf '  %-18s %3d min\n' "$suite" "$(minutes_of "$suite")"; done

scripts/setup.sh test
settings=$(scripts/mpi.sh)
eval "$settings"
export HOSTWIRE_TESTS_LONG=1
export FUZZ_CASES=${FUZZ_CASES:-100000} SHMEM_TEST_RUNS=${SHMEM_TEST_RUNS:-100}
failed=0
ended=()
for suite in "${chosen[@]}"; do
    printf '\n=== %s\n' "$suite"
    begin=$SECONDS
    set +e
    (
        set -e
        "suite_$suite"
    )
    status=$?
    set -e
    verdict=passed
    if ((status)); then
        failed=1
        verdict="FAILED with status $status; repeat it with: scripts/test-long.sh $suite"
    fi
    ended+=("$(printf '%6d s  %-18s %s' $((SECONDS - begin)) "$suite" "$verdict")")
done
printf '\n=== %s, in %d s:\n' "$what" "$SECONDS"
printf '%s\n' "${ended[@]}"
exit "$failed"
