#!/bin/bash
# Instructions of a tagged message within a host by UCX and by other providers of libfabric, counted as scripts/instructions.sh
# counts those of hostwire. It prints a table for each.
#
#     bench/peers/instructions.sh [PROVIDER]...
#
# Providers are those of libfabric, by default shm. Needs valgrind, libucx-dev and libfabric-dev.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

(($#)) || set -- shm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
reader=${CARGO_TARGET_DIR:-target}/release/instructions
[[ -x $reader ]] || scripts/instructions.sh >/dev/null
read_table() { "$reader" table "$1"; }
${CC:-cc} -O2 -o "$work/ucx" bench/peers/instructions.c -lucp -lucs
${CC:-cc} -O2 -o "$work/tagged" bench/instructions/tagged.c -lfabric

# As in scripts/instructions.sh.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-SSSE3,-ERMS,-FSRM
count() {
    timeout 60 valgrind --quiet --tool=callgrind --callgrind-out-file="$work/$1.out" "${@:2}" >"$work/log" 2>&1 || {
        tail -n 3 "$work/log"
        echo "instructions.sh: $1 cannot be counted so"
        return 0
    }
    echo "== $1"
    read_table "$work/$1.out"
}
# Callgrind counts each byte of the instruction with which UCX copies on some processors.
export UCX_BUILTIN_MEMCPY_MAX=0 UCX_TLS=${UCX_TLS:-posix}
count ucx "$work/ucx"
for provider in "$@"; do
    count "$provider" "$work/tagged" "$provider"
done
