#!/bin/bash
# Shows that the tests on modelled memory bite: leaves out each fence, flush, invalidation and
# order of runtime/transport and runtime/wires that has a name (`site!`, `order!`), one after the other, and wants
# a test to fail for each. Those that none misses are listed, with the reason, in
# runtime/transport/tests/model/survivors.txt; a list that is wrong fails as well.
#
#     scripts/mutate-fences.sh          all of them
#     scripts/mutate-fences.sh NAME     this one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
survivors=runtime/transport/tests/model/survivors.txt

# Names may stand on the line behind the macro.
mapfile -t names < <(
    find runtime/transport/src runtime/wires -name '*.rs' -print0 | xargs -0 cat | tr '\n' ' ' |
        grep -oE '\b(site|order)!\( *"[^"]+"' | sed 's/^[^"]*"//; s/"$//' | sort
)
twice=$(printf '%s\n' "${names[@]}" | uniq -d)
if [[ -n $twice ]]; then
    printf 'mutate-fences: two places have the name "%s"\n' "$twice" >&2
    exit 1
fi
if (($#)); then
    names=("$1")
fi

is_listed() { grep -qF "$1 -- " "$survivors"; }

# The suites take longer and see no more.
model() { RUST_BACKTRACE=0 scripts/model.sh --transport -- --skip conformance::; }

if ! model >/dev/null; then
    echo "mutate-fences: scripts/model.sh fails with nothing left out" >&2
    exit 1
fi
wrong=0
for name in "${names[@]}"; do
    if output=$(HOSTWIRE_MODEL_WITHOUT=$name model 2>/dev/null); then
        if is_listed "$name"; then
            echo "survives, as listed: $name"
        else
            echo "SURVIVES: $name"
            wrong=1
        fi
    else
        failed=$(grep -c '^test .*FAILED$' <<<"$output" || true)
        first=$(grep -m 1 '^test .*FAILED$' <<<"$output" | cut -d ' ' -f 2 || true)
        if ((failed == 0)); then
            echo "DID NOT RUN: $name"
            wrong=1
        elif is_listed "$name"; then
            echo "MISSED BY $failed TESTS, but listed as a survivor: $name"
            wrong=1
        else
            echo "missed by $failed tests: $name ($first)"
        fi
    fi
done
while read -r line; do
    name=${line%% -- *}
    if [[ -n $line && $line != \#* ]] && ! printf '%s\n' "${names[@]}" | grep -qxF "$name"; then
        if (($# == 0)); then
            echo "LISTED BUT NOT THERE: $name"
            wrong=1
        fi
    fi
done <"$survivors"
echo "mutate-fences: ${#names[@]} places"
exit "$wrong"
