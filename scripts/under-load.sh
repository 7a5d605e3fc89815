#!/bin/bash
# Tests on two hosts, with limits of time, and that kill, many times in a row while two compilers run beside them:
# what fails here fails at random in `make test`.
#
#     scripts/under-load.sh          so many times as TURNS says (2)
#     scripts/under-load.sh FILTER   the tests with FILTER in their names
#
# By which rule the kernel shares the processors is a setting of the machine: with `kernel.sched_autogroup_enabled` each
# session has the same share, without it each process. As root half of the turns run with each; the setting is put back.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
turns=${TURNS:-2}
autogroup=/proc/sys/kernel/sched_autogroup_enabled
if [[ ! $turns =~ ^[1-9][0-9]{0,3}$ ]]; then
    echo "under-load.sh: TURNS is '$turns'; expected a number from 1 to 9999" >&2
    exit 2
fi
filters=("$@")
if (($# == 0)); then
    filters=(host kill die dead death lost loss leave end stop stay silen signal interrupt timeout turn cable faults)
fi
tests=(--locked --all-features
    --package hostwire-cli --test borrow --test faults --test launchers --test run --test window --test wire
    --package hostwire --test peers_that_end
    --package hostwire-fabric-provider --test libfabric)

scratch=$(mktemp -d)
loads=()
was=
put_back() {
    ((${#loads[@]} == 0)) || kill -- "${loads[@]/#/-}" 2>/dev/null || true
    [[ -z $was ]] || echo "$was" >"$autogroup"
    rm -rf "$scratch"
}
trap put_back EXIT
trap 'exit 130' INT TERM

# Something that takes the compiler some seconds.
for ((i = 0; i < 300; i++)); do
    printf 'pub fn f%d(v: &[u64]) -> Vec<String> { v.iter().map(|x| format!("{}", x + %d)).collect() }\n' "$i" "$i"
done >"$scratch/load.rs"
compile_for_ever() {
    while rustc --edition 2024 --crate-type lib -O --out-dir "$scratch/$1" "$scratch/load.rs"; do :; done
}

# With the programs that the tests start.
"$cargo" build --locked --all-features --package hostwire-cli --examples
"$cargo" test "${tests[@]}" --no-run
# Each a process group of its own, so that it can be ended with its compiler.
set -m
for i in 1 2; do
    compile_for_ever "$i" &
    loads+=($!)
done
set +m
if [[ -w $autogroup ]]; then was=$(<"$autogroup"); fi
for ((turn = 1; turn <= turns; turn++)); do
    if [[ -n $was ]]; then echo $((turn % 2)) >"$autogroup"; fi
    echo "=== turn $turn of $turns${was:+, autogroup $(<"$autogroup")}"
    "$cargo" xtask test "${tests[@]}" -- "${filters[@]}"
    for load in "${loads[@]}"; do
        kill -0 "$load" || { echo "under-load.sh: a compiler has ended" >&2; exit 1; }
    done
done
