#!/bin/bash
# Everything that CI checks, in the order in which it fails fastest. All steps share one target
# directory and its flags, but for those that need others (model, sanitize). At the end it says
# what each step took, and which tests took longest; docs/testing.md says what is tested where, and why.
#
#     scripts/test.sh             all steps
#     scripts/test.sh clippy doc  only these
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}

# Here a test that cannot run for want of a tool is a failure: see qa/testing.
if [[ -n ${CI:-} && ${CI:-} != false && ${CI:-} != 0 ]]; then
    export HOSTWIRE_TESTS_DEMAND=1
fi

step_fmt() { "$cargo" fmt --all --check; }

step_scripts() {
    local script
    for script in .ci/run {scripts,bench,{bench,examples,scripts,tools}/*,bench/*/*,tools/cli/tests/launchers,runtime/wires/*/tests}/*.sh; do
        bash -n "$script"
    done
}

# What no compiler checks: arrows between crates and modules, lengths, tests that are left out.
step_tidy() { "$cargo" xtask tidy; }

step_licences() { scripts/licences.sh; }

# With the features that tests are behind. Without them: `lints` of scripts/test-long.sh.
step_clippy() {
    "$cargo" clippy --locked --workspace --all-targets --all-features -- -D warnings
}

# Several programs at a time: see tests.toml. With the MPI libraries of PyPI, if they can be had.
step_test() {
    local mpi
    mpi=$(scripts/mpi.sh)
    eval "$mpi"
    # What OpenSHMEM's suite installs. It would build it itself, while other tests take its cores.
    "$cargo" build --locked --release --package hostwire-shmem --package hostwire-preload \
        --package hostwire-clock --package hostwire-fabric-provider --package hostwire-tca
    "$cargo" xtask test --documentation --times "$tests" --locked --workspace --all-features
}

# What is committed is what the table says; the library is tested by step_test.
step_headers() { "$cargo" xtask headers --check; }

# rustdoc needs the metadata of all libraries. This is a build as that of step_clippy, which has made them: with its compiler and
# lints, and with examples, because of which crates have the features that tests ask for. Of the programs only the laboratory is
# large enough for links.
step_doc() {
    local lints='-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__'
    RUSTC_WORKSPACE_WRAPPER=$(rustc --print sysroot)/bin/clippy-driver CLIPPY_ARGS=$lints RUSTDOCFLAGS="-D warnings" \
        "$cargo" doc --locked --workspace --all-features --no-deps \
        --lib --examples --bin hostwire-lab
}

# On macOS, by its standard library: the planner and the simulator build, the rest says why not.
step_portable() { scripts/portable.sh; }

step_codegen() { scripts/codegen.sh --check; }

# What it builds, step_test uses again.
step_instructions() { scripts/instructions.sh --check; }

# The Python package: built, installed, and tested as its users do.
step_python() { scripts/python.sh built; }

step_loom() { scripts/loom.sh; }

step_model() { scripts/model.sh --quick; }

# The hardware in lab/rtl. Its proofs and its synthesis: `make rtl`.
step_rtl() {
    if command -v verilator >/dev/null; then
        # By the program that the step `test` has built.
        COSIM='--workspace --all-features' scripts/rtl.sh quick
    else
        echo "skipped: verilator is not installed (make rtl installs it)"
    fi
}

step_sanitize() { scripts/sanitize.sh address miri; }

steps=("$@")
if ((${#steps[@]} == 0)); then
    steps=(fmt scripts tidy licences headers clippy codegen instructions test python doc portable loom model rtl sanitize)
fi
for step in "${steps[@]}"; do
    if ! declare -F "step_$step" >/dev/null; then
        echo "test.sh: there is no step '$step'" >&2
        exit 2
    fi
done

# Nobody compiles a second time in a clean tree, so nothing is kept for that.
if [[ -n ${HOSTWIRE_TESTS_DEMAND:-} ]]; then
    export CARGO_INCREMENTAL=0
fi
# Seconds and name of each test, by all steps that know them.
tests=$(mktemp)
export HOSTWIRE_TEST_TIMES=$tests
trap 'rm -f "$tests" "$tests.processor"' EXIT

# Seconds of processor time of all that has ended so far, to the variable `processor`. Not by what it prints: a shell of
# its own has taken none.
read_processor() {
    times >"$tests.processor"
    processor=$(tail -n 1 "$tests.processor" | awk -F '[ms ]+' '{ printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }')
}

scripts/setup.sh test
taken=()
for step in "${steps[@]}"; do
    printf '\n=== %s\n' "$step"
    begin=$SECONDS
    read_processor
    before=$processor
    # In a subshell, so that its first failing command ends it; and not behind `||`, which
    # would switch that off.
    set +e
    (
        set -e
        "step_$step"
    )
    status=$?
    set -e
    read_processor
    taken+=("$(printf '%6d %10d  %s' $((SECONDS - begin)) $((processor - before)) "$step")")
    if ((status)); then
        printf '\n=== FAILED: %s (repeat it alone with: scripts/test.sh %s)\n' "$step" "$step"
        exit "$status"
    fi
done
if [[ -s $tests ]]; then
    printf '\n=== the tests that took longest, in seconds\n'
    sort -rn "$tests" | sed -n 1,10p
fi
printf '\n=== seconds, and seconds of processor time, by step\n'
printf '%s\n' "${taken[@]}"
printf '\n=== all passed, in %d s\n' "$SECONDS"
