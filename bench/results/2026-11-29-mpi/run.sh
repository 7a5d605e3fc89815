#!/usr/bin/env bash
# Half a round trip of Open MPI's messages, in ns: over two builds of the libfabric provider of hostwire, and over its own shared memory.
#
#     run.sh OLD NEW TURNS
#
# OLD and NEW are folders with a libhostwire-fi.so each.
set -euo pipefail
old=$1 new=$2 turns=$3
program=$(mktemp)
trap 'rm -f "$program"' EXIT
mpicc -O2 -o "$program" "$(dirname "${BASH_SOURCE[0]}")/pingpong.c"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
measure() { mpirun --mca osc ^ucx --bind-to core -n 2 "$@" "$program" | tail -n 1; }
for ((turn = 0; turn < turns; turn++)); do
    for folder in "$old" "$new"; do
        export FI_PROVIDER_PATH=$folder
        echo "$folder $(measure --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include hostwire)"
    done
    echo "vader $(measure --mca pml ob1 --mca btl vader,self)"
done
