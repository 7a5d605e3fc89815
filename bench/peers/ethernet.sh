#!/usr/bin/env bash
# Puts of hostwire and of UCX over TCP (Debian: apt-get install ucx-utils) between two hosts that
# are network namespaces joined by a veth pair, in turn on the same two CPUs, as root. hostwire
# bench makes namespaces of its own and measures beside bare frames or datagrams. Compare within a
# round. Let nothing else run meanwhile.
#
#     bench/peers/ethernet.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v ucx_perftest >/dev/null || { echo "ethernet.sh: needs ucx_perftest (ucx-utils)"; exit 2; }
[ "$(id -u)" = 0 ] || { echo "ethernet.sh: needs root, to make network namespaces"; exit 2; }
bench="${CARGO_TARGET_DIR:-target}/release/hostwire bench"
first=hw-peers-$$-0 second=hw-peers-$$-1

end() {
    ip netns pids "$second" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns del "$first" 2>/dev/null || true
    ip netns del "$second" 2>/dev/null || true
}
trap end EXIT
ip netns add "$first"
ip netns add "$second"
ip link add wire netns "$first" type veth peer name wire netns "$second"
for host in 0 1; do
    name=hw-peers-$$-$host
    ip -n "$name" address add "10.77.0.$((host + 1))/24" dev wire
    ip -n "$name" link set wire up
    ip -n "$name" link set lo up
done

# test, bytes, iterations -> the last line of one run
ucx() {
    local wire="env UCX_TLS=tcp UCX_NET_DEVICES=wire UCX_WARN_UNUSED_ENV_VARS=n"
    ip netns exec "$second" $wire taskset -c 1 ucx_perftest -p 13998 >/dev/null 2>&1 &
    local server=$!
    sleep 0.5
    ip netns exec "$first" $wire taskset -c 0 ucx_perftest 10.77.0.2 -p 13998 \
        -t "$1" -s "$2" -n "$3" -w 1000 -f 2>/dev/null | grep -vE '^\s*$|\+|\||Final' | tail -1
    wait "$server" || true
}
field() { sed -E "s/.*\"$1\":([0-9.]+|null).*/\1/" <<<"$line"; }
row() { printf '%5s  %-24s %-9s %12s %12s %6s  %s\n' "$@"; }

row round what "unit" hostwire limit ratio "UCX tcp"
for round in $(seq "${1:-3}"); do
    for size in 64 1024; do
        peer=$(ucx tag_lat $size 20000 | awk '{printf "%.0f", $(NF-5) * 1000}')
        for mode in "ether --insecure-wire" ether "udp --insecure-wire" udp; do
            line=$($bench pingpong --wire $mode --size $size --repeats 3 --json 2>/dev/null)
            row "$round" "$size B $mode" ns "$(field median)" "$(field limit)" "$(field ratio)" "$peer"
        done
    done
    peer=$(ucx tag_bw 1048576 500 | awk '{printf "%.3f", $(NF-3) / 1000 * 1.048576}')
    for mode in "ether --insecure-wire" ether "udp --insecure-wire" udp; do
        line=$($bench put --wire $mode --size 1048576 --repeats 3 --json 2>/dev/null)
        row "$round" "1 MiB $mode" GB/s "$(field median)" "$(field limit)" "$(field ratio)" "$peer"
    done
done
