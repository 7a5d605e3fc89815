#!/usr/bin/env bash
# Streams between two hosts: the wires udp and tcp of hostwire, encrypted and bare, beside a plain TCP stream of iperf3.
#
#   HOSTWIRE=target/release/hostwire bench/peers/tcp.sh        a table on standard output
#
# As root: hosts are network namespaces with a cable between them. Rounds (ROUNDS, 5) are interleaved: each measures all, one after
# the other. A figure is the median of the rounds. iperf3 runs with Reno, as the wire does, and with the default of the system. RUN is
# put in front of each program: `RUN="nice -n -20"` gives it the cores of a busy machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
hostwire=$(realpath "${HOSTWIRE:-target/release/hostwire}")
rounds=${ROUNDS:-5}
read -ra run <<<"${RUN:-}"
results=$(mktemp -d)
near=tcp-sh-a-$$
far=tcp-sh-b-$$
trap 'rm -rf "$results"; ip netns del "$near" 2>/dev/null; ip netns del "$far" 2>/dev/null; true' EXIT

ip netns add "$near"
ip netns add "$far"
ip -n "$near" link add wire type veth peer name wire netns "$far"
ip -n "$near" address add 10.77.0.1/24 dev wire
ip -n "$far" address add 10.77.0.2/24 dev wire
ip -n "$near" link set wire up
ip -n "$far" link set wire up

# GB/s of one stream: stream CONGESTION_CONTROL
stream() {
    ip netns exec "$far" "${run[@]}" iperf3 -s -1 >/dev/null 2>&1 &
    local server=$!
    sleep 0.3
    ip netns exec "$near" "${run[@]}" timeout 30 iperf3 -c 10.77.0.2 -t 2 -l 128K -C "$1" --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["end"]["sum_received"]["bits_per_second"] / 8e9)'
    wait "$server" || true
}

# What hostwire measures: measure BENCH SIZE OPTION...
measure() {
    "${run[@]}" timeout 120 "$hostwire" bench "$1" --size "$2" --repeats 3 --json "${@:3}" |
        python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
print(next(row["median"] for row in rows if row["bench"] == sys.argv[1]))' "$1"
}

note() { echo "$2" >>"$results/$1"; }

default=$(cat /proc/sys/net/ipv4/tcp_congestion_control)
for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds, load $(cut -d' ' -f1 /proc/loadavg)" >&2
    for wire in udp tcp; do
        for option in encrypted bare; do
            options=(--wire "$wire")
            [[ $option = bare ]] && options+=(--insecure-wire)
            note "$wire, $option: bandwidth 1 MiB, GB/s" "$(measure bandwidth 1M "${options[@]}")"
            note "$wire, $option: put 1 MiB, GB/s" "$(measure put 1M "${options[@]}")"
            note "$wire, $option: latency 8 B, ns" "$(measure latency 8 "${options[@]}")"
        done
    done
    for control in reno "$default"; do
        note "iperf3, $control: GB/s" "$(stream "$control")"
    done
done

echo "| median of $rounds | |"
echo '|---|---|'
for file in "$results"/*; do
    echo "| $(basename "$file") | $(sort -g "$file" | sed -n "$(((rounds + 1) / 2))p") |"
done
