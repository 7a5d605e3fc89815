#!/usr/bin/env bash
# Puts of hostwire between two hosts beside other libraries over the same wire, in turn on the same
# two CPUs, as root: bare frames and bare UDP datagrams, spinning, and for long puts over UDP a bare
# TCP stream (the limits of hostwire bench), and over TCP
#
#     Open MPI     btl self,tcp; sends and receives (Debian: openmpi-bin libopenmpi-dev)
#     UCX          tagged messages (ucx-utils)
#     libfabric    its provider tcp, fi_pingpong (libfabric-bin)
#
# A peer that is not installed is left out, and the script says so. The two hosts are network namespaces joined by a
# veth pair: those of tools/cli/tests/launchers/hosts.sh for the peers, hostwire bench makes its
# own. Compare within a round. Let nothing else run meanwhile.
#
#     bench/peers/ethernet.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "ethernet.sh: needs root, to make network namespaces"; exit 2; }
if [ ! -x /run/agent ]; then
    exec bash tools/cli/tests/launchers/hosts.sh "$PWD/bench/peers/ethernet.sh" "$@"
fi
hostwire=$(realpath "${CARGO_TARGET_DIR:-target}/release/hostwire")
rounds=${1:-3}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
have() { command -v "$1" >/dev/null || { echo "ethernet.sh: without $2: no $1" >&2; return 1; }; }

peers=()
if have mpirun.openmpi "Open MPI" && have mpicc.openmpi "Open MPI"; then
    mpicc.openmpi -O2 -o "$build/mpi" bench/peers/mpi.c
    peers+=(open_mpi)
fi
have ucx_perftest UCX && peers+=(ucx)
have fi_pingpong libfabric && peers+=(libfabric)

# Each peer: BYTES -> half a round trip in ns, or its rate in GB/s for a stream of 1 MiB messages.
open_mpi() {
    local what=(latency "$1" 20000)
    [ "$1" = 1048576 ] && what=(bandwidth "$1" 480)
    # Open MPI spins unless it believes that it has to share its CPUs.
    mpirun.openmpi --mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include 10.9.0.0/24 \
        --mca mpi_yield_when_idle 0 \
        -H fa -np 1 taskset -c 0 "$build/mpi" "${what[@]}" : \
        -H fb -np 1 taskset -c 1 "$build/mpi" "${what[@]}"
}
ucx() {
    local wire="env UCX_TLS=tcp UCX_NET_DEVICES=wire UCX_WARN_UNUSED_ENV_VARS=n"
    local what=(-t tag_lat -n 20000)
    [ "$1" = 1048576 ] && what=(-t tag_bw -n 500)
    /run/agent fb exec $wire taskset -c 1 ucx_perftest -p 13998 >/dev/null 2>&1 &
    local server=$!
    await 13998
    $wire taskset -c 0 ucx_perftest 10.9.0.2 -p 13998 "${what[@]}" -s "$1" -w 1000 -f 2>/dev/null |
        grep -vE '^\s*$|\+|\||Final' | tail -1 | if [ "$1" = 1048576 ]; then
        awk 'NF > 5 { printf "%.3f\n", $(NF - 3) / 1000 * 1.048576 }'
    else
        awk 'NF > 5 { printf "%.0f\n", $(NF - 5) * 1000 }'
    fi
    wait "$server" || true
}
libfabric() {
    # fi_pingpong has no streaming test.
    [ "$1" = 1048576 ] && return
    /run/agent fb exec taskset -c 1 fi_pingpong -p tcp -e msg -I 20000 -S "$1" >/dev/null 2>&1 &
    local server=$!
    await 47592
    taskset -c 0 fi_pingpong -p tcp -e msg -I 20000 -S "$1" 10.9.0.2 2>/dev/null |
        awk 'END { printf "%.0f\n", $(NF - 1) * 1000 }'
    wait "$server" || true
}
# Waits until a process listens there: 5 s at most.
await() {
    for _ in {1..100}; do
        /run/agent fb "ss -Hltn sport = :$1" | grep -q . && return
        sleep 0.05
    done
}

# Collectives, with that many PEs on each host: the time of all of them, in ns. Open MPI yields where PEs share a core.
collectives() {
    local pes=$((2 * $1)) yields=$(($1 > 1))
    for what in barrier allreduce; do
        local name="$what 2 x $1, ns"
        for wire in ether udp; do
            line=$($hostwire bench "$what" --wire "$wire" --pes "$pes" --size 8 --repeats 3 --json 2>/dev/null)
            row "$round" "$name" "hostwire $wire" "$(number "$(field median)")" "" ""
        done
        if ((${#peers[@]})) && [ "${peers[0]}" = open_mpi ]; then
            local bytes=8
            [ "$what" = barrier ] && bytes=1
            row "$round" "$name" "open_mpi tcp" "$(number "$(mpirun.openmpi --mca pml ob1 \
                --mca btl self,vader,tcp --mca btl_tcp_if_include 10.9.0.0/24 \
                --mca mpi_yield_when_idle "$yields" -H "fa:$1,fb:$1" -np "$pes" \
                "$build/mpi" "$what" "$bytes" 2000)")" "" ""
        fi
    done
}

# A value that was not measured is "-".
number() { awk -v x="$1" 'BEGIN { printf x + 0 ? (x < 100 ? "%.3f" : "%.0f") : "-", x }'; }
field() { sed -E "s/.*\"$1\":([0-9.]+|null).*/\1/" <<<"$line"; }
row() { printf '%5s  %-20s  %-30s %8s %8s %7s\n' "$@"; }
# bench, sizes -> a row of each wire and size; that of its limit where it is asked for
ours() {
    for mode in "ether --insecure-wire" ether "xdp --insecure-wire" xdp "udp --insecure-wire" udp; do
        $hostwire bench "$1" --wire $mode --size "$2" --repeats 3 --json 2>/dev/null |
            while read -r line; do
                case $1-$(field size_bytes) in
                    pingpong-*) what="$(field size_bytes) B, ns" ;;
                    put-64) what="64 B, M/s" ;;
                    *) what="1 MiB, GB/s" ;;
                esac
                limit=$(number "$(field limit)")
                row "$round" "$what" "hostwire $mode" "$(number "$(field median)")" "$limit" \
                    "$(number "$(field ratio)")"
                case $mode in
                    "ether --insecure-wire") row "$round" "$what" "bare frames" "$limit" "" "" ;;
                    "udp --insecure-wire")
                        bare="bare UDP"
                        [ "$what" = "1 MiB, GB/s" ] && bare="bare TCP"
                        row "$round" "$what" "$bare" "$limit" "" ""
                        ;;
                esac
            done
    done
}

row round what who figure bare ratio
for round in $(seq "$rounds"); do
    ours pingpong 8,64,1024
    for size in 8 64 1024; do
        for peer in "${peers[@]}"; do
            row "$round" "$size B, ns" "$peer tcp" "$(number "$($peer $size)")" "" ""
        done
    done
    for count in 1 2 4; do
        collectives "$count"
    done
    ours put 64,1048576
    for peer in "${peers[@]}"; do
        row "$round" "1 MiB, GB/s" "$peer tcp" "$(number "$($peer 1048576)")" "" ""
    done
done
