#!/usr/bin/env bash
# OpenSHMEM operations of hostwire and of all peers that are here, in turn, on two CPUs.
#
#     bench/peers/openshmem.sh [-t TURNS] [-f FIRST] [-o FOLDER]
#
# Peers are left out, with a word, where they are not found:
#
#     openmpi   Debian: apt-get install openmpi-bin libopenmpi-dev
#     sos       Sandia OpenSHMEM: SOS=PREFIX of its installation, with the launcher that it finds
#     ucx       Debian: apt-get install ucx-utils (ucx_perftest: put, get and atomics)
#     gasnet    GASNet-EX, smp-conduit: PKG_CONFIG_PATH with its gasnet-smp-seq.pc
#
# OPENMPI=OSHCC,OSHRUN names other programs of Open MPI.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
peers=()
without() { echo "openshmem.sh: without $1: $2" >&2; }

openmpi=${OPENMPI:-oshcc.openmpi,oshrun.openmpi}
if command -v "${openmpi%%,*}" >/dev/null && command -v "${openmpi#*,}" >/dev/null; then
    peers+=("openmpi=$openmpi")
else
    without openmpi "no ${openmpi/,/ and }"
fi

if [[ -n ${SOS:-} && -x $SOS/bin/oshcc ]]; then
    # Pinned as the others are: the launcher of MPICH, with its own PMI.
    printf '#!/bin/sh\nexec mpiexec.hydra -bind-to user:0,1 "$@"\n' >"$build/sosrun"
    chmod +x "$build/sosrun"
    peers+=("sos=$SOS/bin/oshcc,$build/sosrun")
else
    without sos "SOS is not set to where it is installed"
fi

if command -v ucx_perftest >/dev/null; then
    peers+=("ucx:bench/peers/ucx-operations.sh")
else
    without ucx "no ucx_perftest"
fi

if gasnet=$(pkg-config --cflags --libs gasnet-smp-seq 2>/dev/null); then
    # shellcheck disable=SC2046,SC2086
    ${CC:-cc} $(bench/cflags.sh) -std=gnu11 -o "$build/gasnet" bench/peers/gasnet.c $gasnet
    peers+=("gasnet:env GASNET_PSHM_NODES=2 GASNET_QUIET=1 $build/gasnet")
else
    without gasnet "pkg-config does not find gasnet-smp-seq"
fi

bench/shmem/run.sh "$@" "${peers[@]}"
