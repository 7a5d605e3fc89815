#!/usr/bin/env bash
# The MPI programs of the OSU micro-benchmarks, unmodified, over the provider: whether they end well and their data is right.
# It measures nothing: see mpi.sh.
#
#     OSU=FOLDER [MPIRUN=mpirun.openmpi] [PROVIDER=FOLDER] bench/peers/osu-mpi.sh [--hosts] [RANKS]...
#
# FOLDER has the programs osu_latency, osu_allreduce, osu_put_latency and so on (https://mvapich.cse.ohio-state.edu/benchmarks,
# 7.0 or later), compiled by the mpicc of MPIRUN: Open MPI 4.1 or 5.0, or MPICH. Point to point and one-sided programs run on 2
# ranks, and those of several pairs and the collective ones on RANKS each (2, 4 and 8, if none is named). PROVIDER has
# libhostwire-fi.so; without it, that of target/release is built. With --hosts, half of the ranks are on another host
# (namespaces; needs root). The status is 1 if something fails; outputs are in out/osu-mpi.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

: "${OSU:?set OSU to the folder of the programs osu_*}"
MPIRUN=${MPIRUN:-mpirun.openmpi} LIMIT_S=${LIMIT_S:-300} SIZES=${SIZES:-1:1048576} TURNS=${TURNS:-20}
export OSU MPIRUN LIMIT_S SIZES TURNS
out=out/osu-mpi
mkdir -p "$out"
source bench/peers/provider.sh
export PROVIDER FI_PROVIDER_PATH=$PROVIDER

hosts=''
[[ ${1-} == --hosts ]] && hosts=--hosts && shift
if [[ $hosts && $(uname -n) != fa ]]; then
    exec bash tools/cli/tests/launchers/hosts.sh "$PWD/bench/peers/osu-mpi.sh" --hosts "$@"
fi
counts=("$@")
((${#counts[@]})) || counts=(2 4 8)

launch=("$MPIRUN")
# Open MPI needs this even to print its version.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
kind=$("$MPIRUN" --version 2>&1)
is_open=''
[[ $kind == *"Open MPI"* || $kind == *OpenRTE* ]] && is_open=1
if [[ $is_open ]]; then
    launch+=(--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include hostwire --mca osc '^ucx,sm' -x FI_PROVIDER_PATH)
    launch+=(--mca mpi_yield_when_idle 1 --mca btl_ofi_progress_mode auto)
    [[ $hosts ]] || launch+=(--oversubscribe)
else
    export FI_PROVIDER=hostwire MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1
fi

failed=0 passed=0
run() { # RANKS PROGRAM OPTION...
    local ranks=$1 program=$2 where=() file=$out/$2.$1 why=''
    shift 2
    if [[ $hosts && $is_open ]]; then
        where=(-H "fa:$((ranks / 2)),fb:$((ranks / 2))" -n "$ranks")
    elif [[ $hosts ]]; then
        where=(-hosts "fa:$((ranks / 2)),fb:$((ranks / 2))" -n "$ranks")
    else
        where=(-n "$ranks")
    fi
    timeout -k 5 "$LIMIT_S" "${launch[@]}" "${where[@]}" "$OSU/osu_$program" "$@" >"$file" 2>&1 || why="status $?"
    grep -q 'Fail$\|DATA VALIDATION ERROR' "$file" && why='wrong data'
    if [[ $why ]]; then
        echo "$program on $ranks: FAILED, $why: $(tail -n 1 "$file")"
        ((++failed))
    else
        echo "$program on $ranks: ok, $(tail -n 1 "$file" | tr -s ' ')"
        ((++passed))
    fi
}

few=(-i "$TURNS" -x 5)
# Its validation of characters fails over every transport.
numbers=(-T mpi_int)
for program in latency bw bibw; do
    run 2 "$program" -c -m "$SIZES" "${few[@]}"
done
for program in put_latency put_bw put_bibw get_latency get_bw acc_latency get_acc_latency; do
    run 2 "$program" -m "$SIZES" "${few[@]}"
done
for program in fop_latency cas_latency; do
    run 2 "$program" "${few[@]}"
done
for ranks in "${counts[@]}"; do
    for program in mbw_mr multi_lat; do
        run "$ranks" "$program" -m "$SIZES" "${few[@]}"
    done
    run "$ranks" barrier "${few[@]}"
    for program in allgather allgatherv allreduce alltoall alltoallv alltoallw bcast gather gatherv reduce \
        reduce_scatter reduce_scatter_block scatter scatterv; do
        run "$ranks" "$program" -c -m "${COLLECTIVE_SIZES:-4:65536}" "${numbers[@]}" "${few[@]}"
    done
done
echo "$passed end well, $failed fail"
((failed == 0))
