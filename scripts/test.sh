#!/bin/bash
# Everything that CI checks, in the order in which it fails fastest. All steps share
# one target directory and its flags, but for those that need others (loom, sanitizers).
#
#     scripts/test.sh             all steps
#     scripts/test.sh clippy doc  only these
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}

# Here a test that cannot run for want of a tool is a failure: see crates/testing.
if [[ -n ${CI:-} && ${CI:-} != false && ${CI:-} != 0 ]]; then
    export HOSTWIRE_TESTS_DEMAND=1
fi

step_fmt() { "$cargo" fmt --all --check; }

step_scripts() {
    local script
    for script in .ci/run {scripts,bench,{bench,examples,scripts,tools}/*,bench/*/*,crates/cli/tests/launchers}/*.sh; do
        bash -n "$script"
    done
}

# What no compiler checks: arrows between crates and modules, lengths, tests that are left out.
step_tidy() { "$cargo" xtask tidy; }

step_licences() { scripts/licences.sh; }

step_clippy() {
    "$cargo" clippy --locked --workspace --all-targets --all-features -- -D warnings
    # What users get, without the features that tests are behind.
    "$cargo" check --locked --workspace --exclude hostwire-fuzzing
}

# With the MPI libraries of PyPI, if they can be had.
step_test() {
    local mpi
    mpi=$(scripts/mpi.sh)
    eval "$mpi"
    "$cargo" test --locked --workspace --all-features --no-fail-fast
}

# What is committed is what the table says; the library is tested by step_test.
step_headers() { "$cargo" xtask headers --check; }

step_doc() { RUSTDOCFLAGS="-D warnings" "$cargo" doc --locked --workspace --no-deps; }

# On macOS, by its standard library: the planner and the simulator build, the rest says why not.
step_portable() { scripts/portable.sh; }

step_codegen() { scripts/codegen.sh --check; }

# The Python package: built, installed, and tested as its users do.
step_python() { scripts/python.sh && scripts/python.sh warehouse; }

step_loom() { if_present scripts/loom.sh; }

# Also what is built for it alone, which no other step compiles.
step_model() {
    RUSTFLAGS="${RUSTFLAGS:-} --cfg memory_model" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/model \
        "$cargo" clippy --locked \
        --package hostwire-transport --package hostwire --lib --test model -- -D warnings
    scripts/model.sh
}

step_sanitize() { if_present scripts/sanitize.sh; }

if_present() {
    if [[ -x $1 ]]; then
        "$1"
    else
        echo "there is no $1"
    fi
}

steps=("$@")
if ((${#steps[@]} == 0)); then
    steps=(fmt scripts tidy licences headers clippy test python doc portable codegen loom model sanitize)
fi
for step in "${steps[@]}"; do
    if ! declare -F "step_$step" >/dev/null; then
        echo "test.sh: there is no step '$step'" >&2
        exit 2
    fi
done

scripts/setup.sh test
times=()
for step in "${steps[@]}"; do
    printf '\n=== %s\n' "$step"
    begin=$SECONDS
    # In a subshell, so that its first failing command ends it; and not behind `||`, which
    # would switch that off.
    set +e
    (
        set -e
        "step_$step"
    )
    status=$?
    set -e
    times+=("$step $((SECONDS - begin)) s")
    if ((status)); then
        printf '\n=== FAILED: %s (repeat it alone with: scripts/test.sh %s)\n' "$step" "$step"
        exit "$status"
    fi
done
printf '\n=== all passed:'
printf ' %s,' "${times[@]}" | sed 's/,$/\n/'
