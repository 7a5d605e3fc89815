#!/bin/bash
# What others have made, unmodified, over the libfabric provider: the programs of bench/peers that look whether results are
# right. It takes from minutes to hours. Applications are of Debian and PyPI; of the suites it runs those that were built, whose folders are
# in the variables OSU (and its MPIRUN), FABTESTS, MPICH_TESTS, MPI4PY, SOS and GASNET: each script says where its sources are and how to
# build them. It says of the others, each in a line, that they are left out. The status is 1 if something fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source bench/peers/provider.sh
export PROVIDER
settings=$(MPI_PACKAGES='numpy dask distributed dask-mpi' scripts/mpi.sh)
eval "$settings"
mpich=${HOSTWIRE_TESTS_MPICH-} open_mpi=${HOSTWIRE_TESTS_OPEN_MPI_5-}
[[ $mpich ]] && export MPIEXEC=$mpich/mpiexec
failed=0

suite() { # VARIABLE COMMAND...: if the variable is set
    if [[ -z ${!1-} ]]; then
        echo "suites.sh: ${*:2} is left out: $1 is not set" >&2
        return
    fi
    printf '\n=== %s\n' "${*:2}"
    "${@:2}" || failed=1
}

suite FABTESTS bench/peers/fabtests.sh unit functional short
suite OSU bench/peers/osu-mpi.sh
suite MPICH_TESTS bench/peers/mpich-tests.sh --ranks-max 5
suite SOS env MPIEXEC=mpiexec.hydra bench/peers/sandia-openshmem.sh
suite GASNET env MPIEXEC=mpiexec.hydra bench/peers/gasnet-tests.sh
[[ $mpich ]] && suite MPI4PY env "PYTHON=$mpich/python" bench/peers/mpi4py.sh
for application in hpcc lmp; do
    command -v "$application" >/dev/null && continue
    echo "suites.sh: applications.sh is left out: there is no $application (Debian packages hpcc, lammps, scalapack-mpi-test)" >&2
    exit $failed
done
hosts=('')
[[ $(id -u) == 0 ]] && hosts+=(--hosts)
for where in "${hosts[@]}"; do
    # dask-mpi is left out without a Python that has it.
    suite PROVIDER env ${open_mpi:+"PYTHON=$open_mpi/python"} bench/peers/applications.sh $where
done
exit $failed
