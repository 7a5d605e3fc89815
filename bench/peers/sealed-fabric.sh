#!/usr/bin/env bash
# Times that a sealed wire fabric would have to beat: libfabric without encryption, and frames with and without, between
# two hosts that hostwire bench makes of this machine, in turn, as root. Puts of 8152 bytes are the longest messages of
# the wire fabric, and so the most that a sealed one could carry. At the end, the rate of AES-GCM on one core.
#
#     bench/peers/sealed-fabric.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
hostwire=$(realpath "${CARGO_TARGET_DIR:-target}/release/hostwire")
export HOSTWIRE_FABRIC="${HOSTWIRE_FABRIC:-tcp;ofi_rxm}"

# WIRE BENCH BYTES OPTION... -> the median of hostwire bench
ours() {
    timeout 100 "$hostwire" bench "$2" --wire "$1" --size "$3" --repeats 5 --json "${@:4}" 2>/dev/null |
        sed -E 's/.*"median":([0-9.]+|null).*/\1/' | tail -1 || true
}
# ROUND NAME WIRE OPTION...
row() {
    printf '%5s  %-14s %12s %12s %12s\n' "$1" "$2" "$(ours "$3" pingpong 64 "${@:4}")" \
        "$(ours "$3" put 8152 "${@:4}")" "$(ours "$3" put 1M "${@:4}")"
}

printf '%5s  %-14s %12s %12s %12s\n' round wire '64 B, ns' '8152 B, GB/s' '1 MiB, GB/s'
for round in $(seq "${1:-2}"); do
    row "$round" fabric fabric --insecure-wire
    for wire in udp xdp; do
        row "$round" "$wire" "$wire" --insecure-wire
        row "$round" "$wire, sealed" "$wire"
    done
done
for bytes in 88 8192; do
    openssl speed -seconds 1 -bytes "$bytes" -evp aes-128-gcm 2>/dev/null | tail -1
done
