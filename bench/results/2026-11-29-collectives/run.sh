#!/usr/bin/env bash
# Collective operations of two commits, of Open MPI and of bare loops, in turn.
#
#     run.sh OLD NEW ROUNDS [PES...]
#
# OLD and NEW are folders with the source of a commit, in which `cargo build --release -p hostwire-cli` was done. Prints a line for each
# measurement: round, who, PEs, bytes, and microseconds of an all-reduce, an all-gather, an all-to-all and a broadcast. `limit` is what
# `hostwire bench allreduce` of NEW prints as the limit of an all-reduce, behind the half round trip of a line in ns.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
old=$1 new=$2 rounds=$3
shift 3
pes=("$@")
(($#)) || pes=(2 4 8)
work=${WORK:-$(mktemp -d)}
for who in old new; do
    tree=${!who}
    crate=$tree/runtime/hostwire
    [ -d "$crate" ] || crate=$tree/crates/hostwire
    mkdir -p "$work/$who/src"
    cp "$here/collectives.rs" "$work/$who/src/main.rs"
    cp "$tree/Cargo.lock" "$work/$who"
    printf '[package]\nname = "collectives"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\nhostwire.path = "%s"\n[workspace]\n' \
        "$crate" >"$work/$who/Cargo.toml"
    (cd "$work/$who" && cargo build --release --quiet)
done
mpicc -O2 "$here/collectives.c" -o "$work/mpi"
for round in $(seq "$rounds"); do
    for count in "${pes[@]}"; do
        for who in old new; do
            "${!who}/target/release/hostwire" run -n "$count" "$work/$who/target/release/collectives" | sed "s/^/$round $who /"
        done
        mpirun --oversubscribe -n "$count" "$work/mpi" 2>/dev/null | sed "s/^/$round openmpi /"
        "$new/target/release/hostwire" bench allreduce --pes "$count" --size 1K,4K,16K,64K,256K,1M --csv "$work/csv" >/dev/null
        awk -F, -v round="$round" 'NR > 1 { print round, "limit", $3, $4, $15, $6, $9 }' "$work/csv"
    done
done
