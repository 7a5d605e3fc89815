#!/usr/bin/env bash
# The suite of the wires over providers of libfabric, supported or not, one line for each: passed, failed, or
# still running after LIMIT_S. With --current it runs over a current libfabric 2.x instead of the system's: the
# one in MPICH's wheel on PyPI, whose hash is checked, or the one in the folder FABRIC_LIBRARY.
#
#     runtime/wires/fabric/tests/providers.sh [--current] [PROVIDER...]
set -euo pipefail
cd "$(dirname "$0")/../../../.."
limit_s=${LIMIT_S:-300}
wheel=mpich-5.0.2-py3-none-manylinux_2_28_x86_64.whl
wheel_sha256=8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4
is_current=0
[ "${1-}" = --current ] && is_current=1 && shift
providers=("$@")
[ $# = 0 ] && providers=("tcp" "tcp;ofi_rxm" "net" "udp;ofi_rxd" "sockets" "shm")
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
cargo test --quiet --package hostwire-fabric --test fabric --no-run
if ((is_current)); then
    folder=${FABRIC_LIBRARY-}
    if [ -z "$folder" ]; then
        python3 -m pip download --quiet --no-deps --dest "$logs" mpich==5.0.2
        echo "$wheel_sha256  $logs/$wheel" | sha256sum --check --quiet
        python3 -m zipfile -e "$logs/$wheel" "$logs/wheel"
        folder=$logs/wheel/mpich-5.0.2.data/data/lib/mpich
    fi
    export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
for provider in "${providers[@]}"; do
    begin=$SECONDS
    status=0
    # The process group of its own lets the limit reach the test itself.
    FABRIC_TEST_PROVIDER=$provider timeout --kill-after 5 "$limit_s" \
        cargo test --quiet --package hostwire-fabric --test fabric -- \
        --ignored --nocapture the_chosen_provider >"$logs/log" 2>&1 || status=$?
    last=$(grep -a ' PEs on ' "$logs/log" | tail -1 || true)
    case $status in
    0) result=passed ;;
    124 | 137) result="still running after $limit_s s, in: ${last#*: }" ;;
    *) result="failed in: ${last:-$(grep -a -m 1 panicked -A 1 "$logs/log" | tail -1)}" ;;
    esac
    printf '%-14s %4d s  %s\n' "$provider" $((SECONDS - begin)) "$result"
done
