#!/usr/bin/env bash
# What UCX and Open MPI reach between two CPUs of this machine, for the page of `make run`: those that are installed.
#
#     bench/peers/page.sh FILE.csv
#
# UCX is ucx_perftest (Debian: ucx-utils); Open MPI is mpicc.openmpi and mpirun.openmpi (openmpi-bin, libopenmpi-dev).
# Each runs once, behind hostwire and not in turn with it: enough for bars, not for a claim. ucx.sh and mpi.sh compare.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C

out=${1:?say where the figures go}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo peer,bench,size_bytes,unit,value >"$out"

# A line, if there is a number. Who gave none is told, and left out.
figure() { # PEER BENCH BYTES UNIT VALUE
    if [[ $5 =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
        echo "$1,$2,$3,$4,$5" >>"$out"
    else
        echo "page.sh: $1 gave no figure for $2 of $3 bytes: expected a number, got \"$5\""
    fi
}

if command -v ucx_perftest >/dev/null; then
    . bench/peers/perftest.sh
    for size in 8 4096; do
        figure UCX latency "$size" ns "$(perftest tag_lat "$size" 100000 | awk '{ print $(NF-4) * 1000 }')"
    done
    figure UCX rate 8 M/s "$(perftest tag_bw 8 2000000 | awk '{ print $NF / 1e6 }')"
    # ucx_perftest counts MB of 2^20 bytes.
    figure UCX bandwidth-staged 1048576 GB/s \
        "$(perftest tag_bw 1048576 5000 | awk '{ print $(NF-2) * 1048576 / 1e9 }')"
else
    echo "page.sh: no ucx_perftest: UCX is left out"
fi

if command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null; then
    mpicc.openmpi -O2 -o "$work/mpi" bench/peers/mpi.c
    mpi() { # WHAT BYTES TURNS
        timeout 60 mpirun.openmpi --allow-run-as-root --bind-to core -n 2 "$work/mpi" "$@" || true
    }
    for size in 8 4096; do
        figure 'Open MPI' latency "$size" ns "$(mpi latency "$size" 50000)"
    done
    figure 'Open MPI' bandwidth-staged 1048576 GB/s "$(mpi bandwidth 1048576 1600)"
    figure 'Open MPI' barrier 0 ns "$(mpi barrier 1 50000)"
    figure 'Open MPI' allreduce 65536 ns "$(mpi allreduce 65536 2000)"
else
    echo "page.sh: no mpicc.openmpi or mpirun.openmpi: Open MPI is left out"
fi
