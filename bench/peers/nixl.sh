#!/bin/bash
# Writes of NIXL with a notification: the plugin of hostwire, and those of the NIXL of PyPI for UCX and POSIX.
#
#     scripts/nixl.sh test          builds the plugin, and installs the NIXL of PyPI
#     bench/peers/nixl.sh [ROUNDS]  3 rounds
#
# Two processes with the Python interface; see nixl.py. On one host, with the progress thread that NIXL asks for by default, and without it
# (-calls). POSIX writes a file in memory (/dev/shm), which another agent reads: it has no notifications, and no second process. Between two
# network namespaces that a veth pair joins, if this is root, without the progress thread: udp, sealed, and tcp, not sealed. In each round
# each has its turn. BURST is a command that is put before each measurement, for example one that stops other work; ROUND_TRIPS is how many
# there are of each length, at most.
# Prints in µs: until the write has ended (median of the medians), until the other agent has the notification (the same; and best of all).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
self=$PWD/bench/peers/nixl.sh
out=$PWD/out/nixl
python=$PWD/target/nixl/python/bin/python
lengths=(4096 65536 1048576 16777216)
ways=(hostwire ucx hostwire-calls ucx-calls posix)
((EUID != 0)) || ways+=(hostwire-udp hostwire-tcp ucx-tcp)

measure() { # WAY LENGTH
    local way=$1 backend hosts=()
    local -x ROUNDS=${ROUND_TRIPS:-1000} NIXL_THREAD=1
    backend=${way%%-*}
    case $way in
    *-calls) NIXL_THREAD=0 ;;
    *-udp | *-tcp)
        hosts=(bash tools/cli/tests/launchers/hosts.sh "$self" --with-cable)
        # Without UCX_TLS, UCX would copy between the processes: it sees that they have one kernel.
        local -x NIXL_THREAD=0 NIXL_ANSWER="ip netns exec fb" HOSTWIRE_IFACE=wire HOSTWIRE_WIRE=${way#*-} UCX_NET_DEVICES=wire UCX_TLS=tcp
        [[ $way != hostwire-tcp ]] || local -x HOSTWIRE_INSECURE_WIRE=1
        ;;
    esac
    [[ $backend != hostwire ]] || local -x NIXL_PLUGIN_DIR=$PWD/target/nixl/plugins
    timeout "${LIMIT_S:-60}" "${hosts[@]}" "$python" bench/peers/nixl.py "${backend^^}" "$2" 2>/dev/null | grep '^[0-9]* '
}

if [[ ${1-} == --with-cable ]]; then
    # UCX looks for it once.
    until [[ $(ip -brief link show wire) == *" UP "* && $(ip address show wire) != *tentative* ]]; do sleep 0.05; done
    exec "${@:2}"
fi
if [[ ${1-} == --one ]]; then
    measure "$2" "$3"
    exit
fi

mkdir -p "$out"
rm -f "$out"/*.txt
for ((round = 0; round < ${1:-3}; ++round)); do
    for length in "${lengths[@]}"; do
        for way in "${ways[@]}"; do
            # The agent of UCX 1.22 ends with a fault, after it has printed its line.
            ${BURST:-} "$self" --one "$way" "$length" >>"$out/$way.txt" 2>/dev/null || true
        done
    done
done
printf '%-15s %9s %10s %10s %10s\n' backend bytes ended notified best
for length in "${lengths[@]}"; do
    for way in "${ways[@]}"; do
        awk -v way="$way" -v bytes="$length" '
            function median(all, count,    i, j, swap) {
                for (i = 1; i < count; ++i)
                    for (j = i; j > 0 && all[j] < all[j - 1]; --j) { swap = all[j]; all[j] = all[j - 1]; all[j - 1] = swap }
                return count ? all[int(count / 2)] : "-"
            }
            BEGIN { n = 0 }
            $1 == bytes { ended[n] = $2 + 0; told[n++] = $3 + 0; if (best == "" || $4 + 0 < best) best = $4 + 0 }
            END { printf "%-15s %9d %10s %10s %10s\n", way, bytes, median(ended, n), median(told, n), best == "" ? "-" : best }' "$out/$way.txt"
    done
done
