#!/bin/bash
# Everything that CI checks, in the order in which it fails fastest. All steps share one target
# directory and its flags, but for those that need others (model, sanitize). At the end it says
# what each step took, and which tests took longest; docs/testing.md says what is tested where, and why.
#
#     scripts/test.sh             all steps, some of them beside others
#     scripts/test.sh clippy doc  only these, one after the other
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
    "$cargo" xtask test --documentation --times "$HOSTWIRE_TEST_TIMES" --locked --workspace --all-features
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

# Without names, all of them. A group is a line: what is behind the bar runs beside what is before it, because each of the two
# leaves a core idle for a part of its time, and they build into folders of their own. What it prints comes behind.
groups=(
    "fmt scripts tidy licences headers"
    "clippy doc | codegen instructions"
    "test"
    "python loom portable | model sanitize"
    "rtl"
)
if (($#)); then
    groups=("$*")
fi
for step in ${groups[*]//|/}; do
    if ! declare -F "step_$step" >/dev/null; then
        echo "test.sh: there is no step '$step'" >&2
        exit 2
    fi
done

# Nobody compiles a second time in a clean tree, or debugs there: nothing is kept for that.
if [[ -n ${HOSTWIRE_TESTS_DEMAND:-} ]]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none
fi
work=$(mktemp -d)
# Seconds and name of each test, by all steps that know them.
export HOSTWIRE_TEST_TIMES=$work/tests
beside=
end() {
    # With all that it has started.
    [[ -z $beside ]] || kill -- "-$beside" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT

# Seconds of processor time of all that has ended in this shell so far, to the variable `processor`. Not by what it prints: a
# shell of its own has taken none.
read_processor() {
    local file=$work/processor.$BASHPID
    times >"$file"
    processor=$(tail -n 1 "$file" | awk -F '[ms ]+' '{ printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }')
}

run_step() { # STEP
    local begin=$SECONDS before status
    printf '\n=== %s\n' "$1"
    read_processor
    before=$processor
    # In a subshell, so that its first failing command ends it; and not behind `||`, which
    # would switch that off.
    set +e
    (
        set -e
        "step_$1"
    )
    status=$?
    set -e
    read_processor
    printf '%6d %10d  %s\n' $((SECONDS - begin)) $((processor - before)) "$1" >>"$work/taken"
    if ((status)); then
        printf '\n=== FAILED: %s (repeat it alone with: scripts/test.sh %s)\n' "$1" "$1" >>"$work/failed"
        exit "$status"
    fi
}

run_steps() { # STEP...
    local step
    for step; do run_step "$step"; done
}

run_group() { # "STEP... [| STEP...]"
    local first=${1%%|*} second= status=0
    [[ $1 != *'|'* ]] || second=${1#*|}
    if [[ -n $second ]]; then
        # A process group of its own, to be ended by.
        set -m
        # shellcheck disable=SC2086
        (run_steps $second) >"$work/second" 2>&1 </dev/null &
        set +m
        beside=$!
    fi
    set +e
    # shellcheck disable=SC2086
    (
        set -e
        run_steps $first
    )
    status=$?
    if [[ -n $second ]]; then
        wait "$beside"
        status=$((status ? status : $?))
        beside=
        cat "$work/second"
    fi
    set -e
    if ((status)); then
        cat "$work/failed"
        exit "$status"
    fi
}

scripts/setup.sh test
for group in "${groups[@]}"; do run_group "$group"; done
if [[ -s $work/tests ]]; then
    printf '\n=== the tests that took longest, in seconds\n'
    sort -rn "$work/tests" | sed -n 1,10p
fi
printf '\n=== seconds, and seconds of processor time, by step\n'
cat "$work/taken"
printf '\n=== all passed, in %d s\n' "$SECONDS"
