#!/bin/bash
# Messages of two builds of hostwire in turn: run.sh OLD NEW [TURNS] >figures.txt
# OLD and NEW are `hostwire` programs of release builds. Each line has the distance of the cores in `line_ns`.
set -euo pipefail
old=$1 new=$2 turns=${3:-6}
for turn in $(seq "$turns"); do
    for bench in 'latency --size 8,64,128,256,1K,2K,4K,8K,16K,32K,64K,256K,1M' 'rate --size 8,64,128,256,1K,2K,4K,8K,16K,32K,64K,1M'; do
        for build in old new; do
            # shellcheck disable=SC2086
            "${!build}" bench $bench --repeats 3 --json | sed "s/^/$build $turn /"
        done
    done
done
