#!/usr/bin/env bash
# What a job of N PEs costs, by counters of the kernel in its PEs: the tables of docs/costs.md.
#
#   bench/costs.sh [PES...]            on one host; default 64 256 512 1024
#   HOSTS=N bench/costs.sh [PES...]    on so many hosts that are made of this machine, over udp. Needs root
#   BIN=DIR bench/costs.sh ...         with the hostwire and costs of DIR instead of a build of this tree
#   ROUNDS=N bench/costs.sh ...        so many barriers and all-reduces; default 10
#
# Nothing stays: hosts and PEs end with the command, however it ends.
set -euo pipefail
cd "$(dirname "$0")/.."
sizes=("$@")
[[ ${#sizes[@]} -gt 0 ]] || sizes=(64 256 512 1024)
if [[ -z ${BIN:-} ]]; then
    cargo build --quiet --release
    BIN=${CARGO_TARGET_DIR:-target}/release
fi
wire=()
[[ -z ${HOSTS:-} ]] || wire=(--wire udp --hosts "$HOSTS")
for pes in "${sizes[@]}"; do
    "$BIN/hostwire" run -n "$pes" "${wire[@]}" --timeout 10m "$BIN/costs" --rounds "${ROUNDS:-10}"
done
