#!/usr/bin/env bash
# GASNet-EX over the provider: tests that it brings along, of its ofi-conduit.
#
#     GASNET=FOLDER [RANKS=2] [PROVIDER=FOLDER] bench/peers/gasnet-tests.sh [TEST]...
#
# FOLDER is a build of GASNet-EX (https://gasnet.lbl.gov): `configure --enable-ofi --with-ofi-provider=generic
# --with-ofi-spawner=mpi`, and `make seq tests-seq testhello` in ofi-conduit. Its launcher is that of the MPI that it was configured
# with. Before `make`, gasnet_config.h needs `hostwire` in GASNETC_OFI_PROVIDER_LIST: GASNet takes no other providers, and
# configure knows none by this name. PROVIDER has libhostwire-fi.so; without it, that of target/release is built. ITERATIONS are what a test is given
# as its first argument. The status is 1 if something fails; outputs are in out/gasnet.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

: "${GASNET:?set GASNET to the folder where GASNet was built}"
LIMIT_S=${LIMIT_S:-180} RANKS=${RANKS:-2} ITERATIONS=${ITERATIONS:-10}
MPIEXEC=${MPIEXEC:-mpiexec.hydra}
out=$PWD/out/gasnet
mkdir -p "$out"
source bench/peers/provider.sh
# All messages go by libfabric, not by GASNet's own shared memory.
export FI_PROVIDER_PATH=$PROVIDER FI_PROVIDER=hostwire GASNET_OFI_SPAWNER=mpi GASNET_SUPERNODE_MAXSIZE=1
tests=("$@")
((${#tests[@]})) || tests=(testhello testgasnet testsmall testlarge testam testcore1 testcore2 testcore3 testbarrier
    testalign testmisc testqueue testslice testvis testcoll testratomic testreduce testteam testval)
passed=0 failed=0
for name in "${tests[@]}"; do
    arguments=("$ITERATIONS")
    [[ $name == testhello || $name == testcore3 ]] && arguments=()
    timeout -k 5 "$LIMIT_S" "$MPIEXEC" -n "$RANKS" "$GASNET/ofi-conduit/$name" "${arguments[@]}" >"$out/$name" 2>&1
    status=$?
    if ((status == 0)) && ! grep -qE '^ *ERROR|: ERROR' "$out/$name"; then
        ((++passed))
    else
        ((++failed))
        echo "$name: FAILED, status $status: $(tail -n 1 "$out/$name")"
    fi
done
echo "$passed pass, $failed fail"
((failed == 0))
