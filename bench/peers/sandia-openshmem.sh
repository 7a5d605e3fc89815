#!/usr/bin/env bash
# Sandia OpenSHMEM over the provider: the tests that it brings along.
#
#     SOS=FOLDER [RANKS=2] [PROVIDER=FOLDER] bench/peers/sandia-openshmem.sh [SET]...
#
# FOLDER is a build of https://github.com/Sandia-OpenSHMEM/SOS with its submodule tests-sos: `configure --with-ofi
# --enable-pmi-simple`, `make` and `make check TESTS=`. A SET is unit, shmemx, spec-example or apps; all, if none is named.
# PROVIDER has libhostwire-fi.so; without it, that of target/release is built. MPIEXEC is of any MPICH: it starts the
# processes. The status is 1 if something fails; outputs are beside the tests.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

: "${SOS:?set SOS to the folder where Sandia OpenSHMEM was built}"
LIMIT_S=${LIMIT_S:-120} MPIEXEC=${MPIEXEC:-mpiexec.hydra} RANKS=${RANKS:-2}
source bench/peers/provider.sh
export FI_PROVIDER_PATH=$PROVIDER FI_PROVIDER=hostwire SHMEM_OFI_PROVIDER=hostwire
sets=("$@")
((${#sets[@]})) || sets=(unit shmemx spec-example apps)
failed=0
for set in "${sets[@]}"; do
    # `make` prints how each test ended; its status is an error if any has failed.
    make -s -k -C "$SOS/modules/tests-sos/test/$set" check TEST_RUNNER="timeout -k 5 $LIMIT_S $MPIEXEC -n $RANKS" 2>&1 |
        grep -E '^(FAIL|ERROR|# (TOTAL|PASS|SKIP|XFAIL|FAIL|XPASS|ERROR))' | sed "s|^|$set: |"
    ((PIPESTATUS[0] == 0)) || failed=1
done
exit $failed
