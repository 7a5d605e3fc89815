#!/bin/sh
# Builds and runs the ns-3 peer of the engine benchmark, five runs of each kind.
# Needs Debian's libns3-dev and g++. Prints CSV:
#   engine,scheduler,packets,events,virtual_ps,wall_s,M_events_per_s,M_packets_per_s
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${TMPDIR:-/tmp}/hostwire-ns3-seven-senders
if ! pkg-config --exists ns3-core 2>/dev/null && [ ! -d /usr/include/ns3 ]; then
    echo "run.sh: ns-3 is not installed (Debian: apt install libns3-dev)" >&2
    exit 2
fi
[ -x "$out" ] && [ "$out" -nt "$here/seven_senders.cc" ] || \
    g++ -std=c++17 -O3 -DNDEBUG "$here/seven_senders.cc" -o "$out" -lns3-network -lns3-core
[ "${1:-}" = build ] && exit 0
for kind in plain packet; do
    for scheduler in MapScheduler PriorityQueueScheduler; do
        for _ in 1 2 3 4 5; do "$out" 2000000 $kind ns3::$scheduler; done
    done
done
