#!/bin/bash
# Shows that the quick tests still find what tests have found: puts thirty defects back, one after the other, and wants the
# test that qa/testing/defects/index.tsv names to fail. A patch that does not apply any more has to be written anew.
#
#     scripts/mutate-defects.sh          all of them; half an hour
#     scripts/mutate-defects.sh 03 17    these
#
# It works in a tree of its own below target/, made of the last commit. What each command printed stays in target/defects/log.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# For tests that need an MPI: that of the other tests, so before the folder of cargo changes.
settings=$(scripts/mpi.sh)
eval "$settings"
defects=$PWD/qa/testing/defects
place=$(realpath -m "${CARGO_TARGET_DIR:-target}")/defects
tree=$place/tree
export CARGO_TARGET_DIR=$place/build CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never
# A test that is left out would miss everything.
export HOSTWIRE_TESTS_DEMAND=1
limit_s=300

undo() { git worktree remove --force "$tree" 2>/dev/null; }
trap undo EXIT
trap 'exit 130' INT TERM
undo
mkdir -p "$place/log"
git worktree add --quiet --detach "$tree" HEAD || exit
cd "$tree" || exit

# How many tests the last command ran: by cargo, or by pytest.
count() { sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed;.*/\1 \2/p; s/^([0-9]+) (passed|failed)\b.*/\1/p' "$1" |
    awk '{ all += $1 + $2 } END { print all + 0 }'; }

wrong=0
while IFS=$'\t' read -r name _commit what command <&3; do
    [[ $name != \#* ]] || continue
    (($# == 0)) || [[ " $* " == *" ${name%%-*} "* ]] || continue
    if [[ $command == - ]]; then
        echo "no test of make test finds it: $name"
        continue
    fi
    log=$place/log/$name
    if ! git apply "$defects/$name.patch" 2>"$log"; then
        echo "DOES NOT APPLY: $name"
        wrong=1
        continue
    fi
    build=${command/cargo test/cargo test --no-run}
    [[ $command == "cargo test "* ]] || build='scripts/python.sh wheel'
    if ! bash -c "$build" >"$log" 2>&1 </dev/null; then
        echo "DOES NOT COMPILE: $name"
        wrong=1
    elif timeout -k 10 "$limit_s" bash -c "$command" >"$log" 2>&1 </dev/null; then
        echo "MISSED: $name: $what"
        wrong=1
    elif (($(count "$log") == 0)) && ! grep -q 'has been running for' "$log"; then
        echo "DID NOT RUN: $name"
        wrong=1
    else
        echo "found: $name"
    fi
    git checkout --quiet .
done 3<"$defects/index.tsv"
exit "$wrong"
