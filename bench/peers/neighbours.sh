#!/usr/bin/env bash
# Measures how much of a shared network jobs of hostwire leave to others, as root:
#
#     bench/peers/neighbours.sh [SECONDS]
#
# Two hosts, network namespaces joined by a veth pair whose rate is limited (tbf, RATE, default 200mbit, with a
# queue of 100 kB). Between them
#
#     fair      two jobs of one PE per host and one stream of TCP at a time
#     loss      the same, and the jobs lose 1 % of their frames (HOSTWIRE_FAULTS)
#     incast    16 PEs of one host put to one PE of the other
#
# Prints what each got, in Mb/s, and as a part of its fair share or of the link. The jobs are started by Open
# MPI (Debian: openmpi-bin), their wire is udp. Let nothing else run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "neighbours.sh: needs root, to make network namespaces"; exit 2; }
seconds=${1:-10} rate=${RATE:-200mbit}
if [ ! -x /run/agent ]; then
    command -v mpirun.openmpi >/dev/null || { echo "neighbours.sh: needs mpirun.openmpi (package openmpi-bin)"; exit 2; }
    "${CARGO:-cargo}" xtask library >/dev/null
    exec bash tools/cli/tests/launchers/hosts.sh "$PWD/bench/peers/neighbours.sh" "$@"
fi
# What frames of 1500 bytes leave to their contents: 1448 with TCP, about as much in hostwire's.
link=$(awk -v rate="${rate%mbit}" 'BEGIN { printf "%.1f", rate * 1448 / 1514 }')
build=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$build"' EXIT
tree=${CARGO_TARGET_DIR:-target}/shmem
"$tree/bin/oshcc" -O2 -o "$build/stream" bench/peers/neighbours.c
tc qdisc add dev wire root tbf rate "$rate" burst 32kb limit 100kb

job() { # PEs of the first host, options of mpirun for all PEs
    local pes=$1
    shift
    local all=(-x HOSTWIRE_WIRE=udp -x HOSTWIRE_IFACE=wire "$@")
    mpirun.openmpi --oversubscribe "${all[@]}" -H "fa:$pes" -np "$pes" "$build/stream" "$seconds" : \
        "${all[@]}" -H fb -np 1 "$build/stream" "$seconds"
}
tcp() {
    cat >"$build/server.py" <<'SERVER'
import socket
server = socket.create_server(("10.9.0.2", 5201))
peer, _ = server.accept()
while peer.recv(1 << 20): pass
SERVER
    /run/agent fb exec python3 "$build/server.py" &
    python3 -c '
import socket, sys, time
for attempt in range(100):
    try:
        peer = socket.create_connection(("10.9.0.2", 5201))
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
begin, sent = time.monotonic(), 0
while time.monotonic() - begin < float(sys.argv[1]):
    sent += peer.send(bytes(1 << 16))
print("%.1f" % (sent * 8e-6 / (time.monotonic() - begin)))
' "$seconds"
}
fair() {
    local name=$1
    shift
    job 1 "$@" >"$build/one" &
    job 1 "$@" >"$build/two" &
    tcp >"$build/tcp" &
    wait %1 %2 %3
    awk -v name="$name" -v link="$link" '{ got[NR] = $1 } END {
        printf "%-8s two jobs %s and %s, TCP %s Mb/s of %s; of a third %.2f, %.2f, %.2f\n", name,
            got[1], got[2], got[3], link, got[1] * 3 / link, got[2] * 3 / link, got[3] * 3 / link
    }' "$build/one" "$build/two" "$build/tcp"
}
fair fair
fair loss -x HOSTWIRE_FAULTS=drop=0.01
job 16 | awk -v link="$link" '{ sum += $1; if (NR == 1 || $1 < least) least = $1; if ($1 > most) most = $1 } END {
    printf "%-8s %d senders, %.1f Mb/s of %s together; %.2f of the link; each %.1f to %.1f\n", "incast",
        NR, sum, link, sum / link, least, most
}'
