#!/usr/bin/env bash
# Applications that are MPI programs of Debian, unmodified, over the provider: whether their results are right.
#
#     [PROVIDER=FOLDER] bench/peers/applications.sh [--hosts] [--only REGEX]
#
# C: HPC Challenge (package hpcc), which checks its results. C++: LAMMPS (lammps), a melting crystal, whose energies have to
# be those that come out over Open MPI's own transports. Fortran: the tests of ScaLAPACK (scalapack-mpi-test), which check
# residuals. Python: dask-mpi of PyPI (PYTHON=FOLDER/bin/python of a virtual environment with mpi4py, dask, distributed,
# dask-mpi), the MPI being that of PATH; left out without PYTHON. PROVIDER has libhostwire-fi.so; without it, that of
# target/release is built. With --hosts, half of the four ranks are on another host (namespaces; needs root). The status
# is 1 if something is wrong; outputs are in out/applications.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=$PWD/out/applications LIMIT_S=${LIMIT_S:-600}
mkdir -p "$out"
source bench/peers/provider.sh
export PROVIDER FI_PROVIDER_PATH=$PROVIDER LIMIT_S
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

hosts='' only=.
while [[ ${1-} == --* ]]; do
    case $1 in
    --hosts) hosts=--hosts ;;
    --only) only=$2 && shift ;;
    *) echo "applications.sh: unknown: $1" >&2 && exit 2 ;;
    esac
    shift
done
if [[ $hosts && $(uname -n) != fa ]]; then
    exec bash tools/cli/tests/launchers/hosts.sh "$PWD/bench/peers/applications.sh" --hosts --only "$only"
fi

where=(--oversubscribe)
[[ $hosts ]] && where=(-H fa:2,fb:2)
over=(--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include hostwire --mca osc '^ucx,sm,rdma')
mpirun() { # OPTION... PROGRAM...: on four ranks
    timeout -k 5 "$LIMIT_S" mpirun.openmpi "${where[@]}" -n 4 -x FI_PROVIDER_PATH -x OMP_NUM_THREADS=1 \
        --mca mpi_yield_when_idle 1 "$@"
}

failed=0
verdict() { # NAME WHY: nothing is wrong if there is no why
    [[ $2 ]] && ((++failed))
    printf '%-12s %s\n' "$1" "${2:-right}"
}

hpcc() {
    local folder=$out/hpcc why=''
    rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || return
    sed "s/^1000 /${N:-1000} /" /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
    mpirun --wdir "$folder" "${over[@]}" hpcc >said 2>&1 || why="status $?"
    grep -q '^Success=1' hpccoutf.txt 2>/dev/null || why="$why no success"
    grep -q 'FAILED\|Failed\|Found [1-9][0-9]* errors' hpccoutf.txt && why="$why wrong results"
    grep -c PASSED hpccoutf.txt | sed 's/^/             residuals that pass: /'
    verdict hpcc "$why"
}

lammps() {
    local folder=$out/lammps why='' way
    mkdir -p "$folder" && cd "$folder" || return
    printf '%s\n' 'units lj' 'atom_style atomic' 'lattice fcc 0.8442' "region box block 0 ${CELLS:-8} 0 8 0 8" \
        'create_box 1 box' 'create_atoms 1 box' 'mass 1 1.0' 'velocity all create 3.0 87287' \
        'pair_style lj/cut 2.5' 'pair_coeff 1 1 1.0 1.0 2.5' 'neighbor 0.3 bin' 'fix 1 all nve' \
        'thermo 10' "run ${STEPS:-100}" >in.melt
    for way in hostwire own; do
        local chosen=("${over[@]}")
        [[ $way == own ]] && chosen=(--mca pml ob1 --mca btl self,vader,tcp)
        mpirun --wdir "$folder" "${chosen[@]}" lmp -in in.melt -log none >"said.$way" 2>&1 || why="status $? ($way)"
        # The table: the rest are times.
        grep -E '^ +[0-9]+( +-?[0-9.e+-]+){5} *$' "said.$way" >"table.$way"
    done
    (($(wc -l <table.own) > 5)) || why="$why no results"
    cmp -s table.hostwire table.own || why="$why other energies than over Open MPI's own transports"
    verdict lammps "$why"
}

scalapack() {
    local tests=/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests program why
    for program in ${PROGRAMS:-xdlu xzllt xdqr xdls}; do
        local folder=$out/scalapack.$program
        rm -rf "$folder" && mkdir -p "$folder" && cp "$tests"/*.dat "$folder" && cd "$folder" || return
        why=''
        mpirun --wdir "$folder" "${over[@]}" "$tests/$program" >said 2>&1 || why="status $?"
        grep -q 'FAILED$\|ERROR:\|[1-9][0-9]* tests completed and failed' said ./*.out 2>/dev/null && why="$why a test fails"
        grep -q 'PASSED' said || why="$why no test passes"
        verdict "$program" "$why"
    done
}

dask() {
    [[ ${PYTHON-} ]] || return
    local folder=$out/dask why=''
    mkdir -p "$folder" && cd "$folder" || return
    cat >sum.py <<'PYTHON'
from dask_mpi import initialize

initialize(interface=None, nthreads=1)
import dask.array
from dask.distributed import Client

with Client() as client:
    numbers = dask.array.arange(2_000_000, chunks=100_000)
    print("sum", int((numbers * numbers).sum().compute()))
PYTHON
    PATH=$(dirname "$PYTHON"):$PATH timeout -k 5 "$LIMIT_S" "$(dirname "$PYTHON")/mpirun" -n 4 --oversubscribe \
        -x FI_PROVIDER_PATH "${over[@]:0:6}" "$PYTHON" sum.py >said 2>&1 || why="status $?"
    grep -q '^sum 2666664666667000000$' said || why="$why wrong sum"
    verdict dask-mpi "$why"
}

for application in hpcc lammps scalapack dask; do
    [[ $application =~ $only ]] && ($application; exit "$failed")
    failed=$((failed + $?))
done
exit $((failed > 0))
