#!/bin/sh
# The run of adapters with eight nodes and 1 GiB, here and in ns-3. Needs a release build, and
# Debian's libns3-dev and g++. Prints CSV:
#   engine,scheduler,packets,events,Gb_per_s,wall_s,M_events_per_s,peak_MiB
set -eu
here=$(cd "$(dirname "$0")" && pwd)
hostwire=${HOSTWIRE:-$here/../../../target/release/hostwire}
out=${TMPDIR:-/tmp}/hostwire-ns3-htea
[ -x "$out" ] && [ "$out" -nt "$here/htea.cc" ] || \
    g++ -std=c++17 -O3 -DNDEBUG "$here/htea.cc" -o "$out" -lns3-point-to-point -lns3-network -lns3-core
[ "${1:-}" = build ] && exit 0
text='[workload]
kind = "htea"
nodes = 8
data = "1GiB"'
for _ in 1 2 3; do
    printf '%s\n' "$text" | "$hostwire" sim - --json | awk -F'[:,]' '
        /"name"/ { name = $2 } /"value"/ && name ~ /throughput/ && !gbits { gbits = $2 }
        /"value"/ && name ~ /"packets"/ { packets = $2 }
        /"events"/ { events = $2 } /"wall_s"/ { wall = $2 } /"events_per_s"/ { rate = $2 }
        /"peak_memory_bytes"/ { peak = $2 }
        END { printf "hostwire,-,%d,%d,%.4f,%.3f,%.3f,%.1f\n", packets, events, gbits, wall, rate / 1e6, peak / 1048576 }'
done
for scheduler in MapScheduler PriorityQueueScheduler; do
    for _ in 1 2 3; do "$out" 1024 "ns3::$scheduler"; done
done
