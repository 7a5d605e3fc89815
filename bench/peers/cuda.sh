#!/usr/bin/env bash
# Copies between memory of GPUs: hostwire's TCA interface between two PEs of a host, CUDA alone within a process
# (cudaMemcpyPeer) and between two (an IPC handle), and UCX between two, in turn. The median of ROUNDS (5)
# rounds. One copy at a time: the next begins when the one before has ended.
#
# Needs a GPU, nvcc, and hostwire in release mode (HOSTWIRE, or target/release/hostwire). UCX is left out unless
# UCX_PERFTEST names its ucx_perftest, built for CUDA, as the wheel libucx-cu13 of PyPI has it.
#
#     bench/peers/cuda.sh [ROUNDS [SIZE...]]
set -euo pipefail
cd "$(dirname "$0")/../.."
hostwire=${HOSTWIRE:-target/release/hostwire}
rounds=${1:-5}
shift || true
sizes=("$@")
[ $# = 0 ] && sizes=(256 4096 32768 262144 1048576 4194304 33554432)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -O2 -o "$work/cuda" bench/peers/cuda.c
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader

# UCX SIZE: one put at a time, with its end awaited.
ucx() {
    local port=$((20000 + RANDOM % 10000)) got server
    export UCX_TLS=cuda,shm,self,tcp UCX_LOG_LEVEL=error
    "$UCX_PERFTEST" -p "$port" >/dev/null 2>&1 &
    server=$!
    sleep 0.5
    got=$("$UCX_PERFTEST" -p "$port" -t ucp_put_bw -O 1 -m cuda,cuda -s "$1" -n 400 -w 50 -f 127.0.0.1 | tail -1) || true
    wait "$server" 2>/dev/null || kill "$server" 2>/dev/null || true
    # Iterations, and microseconds: the median is the second.
    awk -v size="$1" '{ us = $2; if (us > 0) printf "ucx %d %.3f %.3f\n", size, size / us * 1e-3, us }' <<<"$got"
}
for _ in $(seq "$rounds"); do
    "$work/cuda" peer "${sizes[@]}"
    "$work/cuda" ipc "${sizes[@]}"
    list=$(IFS=,; echo "${sizes[*]}")
    HOSTWIRE_DEVICES=cuda "$hostwire" bench tca --json --repeats 1 --size "$list" |
        sed -n 's/.*"bench":"tca-copy-device","wire":"shm".*"size_bytes":\([0-9]*\).*"median":\([0-9.]*\).*/\1 \2/p' |
        awk '{ printf "hostwire %d %.3f %.3f\n", $1, $2, $1 / $2 * 1e-3 }'
    if [ -n "${UCX_PERFTEST-}" ]; then
        for size in "${sizes[@]}"; do ucx "$size"; done
    fi
done >"$work/figures"
printf '%-9s  %10s  %10s  %10s\n' way bytes GB/s us
for size in "${sizes[@]}"; do
    for way in peer ipc ucx hostwire; do
        awk -v way="$way" -v size="$size" '$1 == way && $2 == size { print $4, $3 }' "$work/figures" | sort -n |
            awk -v way="$way" -v size="$size" '{ us[NR] = $1; rate[NR] = $2 }
                END { if (NR) { m = int((NR + 1) / 2); printf "%-9s  %10d  %10.2f  %10.2f\n", way, size, rate[m], us[m] } }'
    done
done
