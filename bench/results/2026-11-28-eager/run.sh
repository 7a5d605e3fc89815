#!/bin/bash
# Messages of two builds of hostwire in turn: run.sh OLD NEW [TURNS] >figures.txt
# OLD and NEW are `hostwire` programs of release builds. A turn says whether the cores were near or far: see the limit of
# 8 bytes, which is half a round trip of one line.
set -euo pipefail
old=$1 new=$2 turns=${3:-8}
for turn in $(seq "$turns"); do
    for build in old new; do
        for bench in 'latency --size 8,64,256,1K,1792,2K,4K,8K,16K,32K,64K' \
            'rate --size 8,64,256,1K,2K,4K,8K,16K,32K' 'allreduce --size 8,1K,4K,16K,64K' barrier; do
            # shellcheck disable=SC2086
            "${!build}" bench $bench --repeats 3 --json | sed "s/^/$build $turn /"
        done
    done
done
