#!/bin/bash
# Samples of iceoryx2 between two hosts: hostwire-iceoryx2, and the tunnel of iceoryx2 over zenoh (0.9.3, the last one that was published).
#
#     cargo install iceoryx2-integrations-zenoh-tunnel-cli@0.9.3    the other one; ZENOH is where its program is
#     bench/peers/iceoryx2.sh [ROUNDS [ROUND_TRIPS]]                3 rounds of 200 round trips
#
# Two network namespaces on one machine, which a veth pair joins, each with a /dev/shm of its own; needs root. In each round the tunnels have
# their turns: hostwire over udp (sealed, and bare), hostwire over tcp (bare), zenoh over TCP (bare), which polls every millisecond, the
# shortest time that it takes. BURST is a command that is put before each measurement, for example one that stops other work.
# Prints half of a round trip in µs: tunnel, bytes, median of the medians, best of all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
self=$PWD/bench/peers/iceoryx2.sh
out=$PWD/out/iceoryx2
zenoh=${ZENOH:-$(command -v iox2-tunnel-zenoh || true)}
tunnel=${TUNNEL:-$PWD/target/iceoryx2/release/hostwire-iceoryx2}
lengths=(64 4096 65536 1048576)
ways=(udp-sealed udp tcp zenoh)

# The program that measures, with the iceoryx2 that the tunnel of zenoh has.
build_for_zenoh() {
    mkdir -p "$out/zenoh/src"
    cp fronts/iceoryx2/examples/round_trips.rs "$out/zenoh/src/main.rs"
    printf '%s\n' '[package]' 'name = "round-trips-zenoh"' 'edition = "2024"' '[workspace]' \
        '[dependencies]' 'iceoryx2 = "=0.9.3"' >"$out/zenoh/Cargo.toml"
    cargo build --quiet --release --manifest-path "$out/zenoh/Cargo.toml" --target-dir "$out/zenoh/target"
}

# On both hosts: what `on HOST COMMAND` needs.
make_hosts() {
    local host
    for host in fa fb; do
        ip netns exec "$host" unshare --mount bash -c "
            mkdir -p /tmp/iceoryx2
            mount -t tmpfs none /tmp/iceoryx2
            mount -t tmpfs none /dev/shm
            echo \$\$ >/run/$host.pid
            exec sleep infinity" &
        while [[ ! -s /run/$host.pid ]]; do sleep 0.05; done
    done
}

on() { # HOST COMMAND...
    local host=$1
    shift
    nsenter --target "$(<"/run/$host.pid")" --mount --net "$@"
}

measure() { # WAY: one line for each length
    local way=$1 program=$PWD/target/iceoryx2/release/examples/round_trips
    local -x HOSTWIRE_IFACE=wire HOSTWIRE_WIRE=${way%%-*} HOSTWIRE_INSECURE_WIRE=1 IOX2_LOG_LEVEL=Error
    case $way in
    zenoh)
        program=$out/zenoh/target/release/round-trips-zenoh
        echo '{ mode: "peer", scouting: { multicast: { enabled: false } }, listen: { endpoints: ["tcp/10.9.0.2:7447"] } }' >/run/fb.json5
        echo '{ mode: "peer", scouting: { multicast: { enabled: false } }, connect: { endpoints: ["tcp/10.9.0.2:7447"] } }' >/run/fa.json5
        on fb "$zenoh" --poll 1 --zenoh-config /run/fb.json5 >/dev/null 2>&1 &
        on fa "$zenoh" --poll 1 --zenoh-config /run/fa.json5 >/dev/null 2>&1 &
        ;;
    *)
        [[ $way != *-sealed ]] || unset HOSTWIRE_INSECURE_WIRE
        on fb "$tunnel" --quiet --name /run/fb.name &
        on fa "$tunnel" --quiet --name /run/fa.name --peer /run/fb.name &
        ;;
    esac
    on fb "$program" pong &
    on fa timeout "${LIMIT_S:-60}" "$program" ping "$2" "${lengths[@]}"
}

if [[ ${1-} == --inside ]]; then
    make_hosts
    measure "$2" "$3"
    # All that is left ends with the namespace of processes.
    exit
fi
if [[ ${1-} == --one ]]; then
    exec bash tools/cli/tests/launchers/hosts.sh "$self" --inside "$2" "$3"
fi

rounds=${1:-3} round_trips=${2:-200}
mkdir -p "$out"
[[ -x $tunnel ]] || scripts/iceoryx2.sh build
[[ -x target/iceoryx2/release/examples/round_trips ]] ||
    CARGO_TARGET_DIR=$PWD/target/iceoryx2 cargo build --locked --release --manifest-path fronts/iceoryx2/Cargo.toml --example round_trips
if [[ $zenoh ]]; then
    [[ -x $out/zenoh/target/release/round-trips-zenoh ]] || build_for_zenoh
else
    echo "iceoryx2.sh: iox2-tunnel-zenoh is not installed: hostwire alone" >&2
    unset 'ways[-1]'
fi
rm -f "$out"/*.txt
for ((round = 0; round < rounds; ++round)); do
    for way in "${ways[@]}"; do
        ${BURST:-} "$self" --one "$way" "$round_trips" >>"$out/$way.txt" || echo "iceoryx2.sh: $way has failed" >&2
    done
done
printf '%-11s %9s %10s %10s\n' tunnel bytes median best
for length in "${lengths[@]}"; do
    for way in "${ways[@]}"; do
        sort -g -k2 "$out/$way.txt" | awk -v way="$way" -v length_="$length" '
            $1 == length_ { median[n++] = $2; if (best == "" || $3 < best) best = $3 }
            END { printf "%-11s %9d %10s %10s\n", way, length_, n ? median[int(n / 2)] : "-", n ? best : "-" }'
    done
done
