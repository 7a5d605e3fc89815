#!/usr/bin/env bash
# The OpenSHMEM programs of the OSU micro-benchmarks, as they are, in virtual time on four kinds of hardware.
#
#     OSU=FOLDER bench/peers/osu.sh [PROGRAM]...
#
# FOLDER has programs osu_oshm_* that have been compiled with this project's oshcc. Each PROGRAM (barrier, atomics,
# fcollect, collect, broadcast and reduce, if none is named) runs twice on each cluster, and has to say the same both times
# and make the same events. Outputs go to out/osu. put, get and those like them make tens of millions of events: minutes each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

: "${OSU:?set OSU to the folder of the programs osu_oshm_*}"
tree=${CARGO_TARGET_DIR:-target}/shmem
[[ -n ${SHMEM_TREE:-} ]] && tree=$SHMEM_TREE || ${CARGO:-cargo} xtask library
programs=("$@")
((${#programs[@]})) || programs=(barrier atomics fcollect collect broadcast reduce)
mkdir -p out/osu

failed=0
for program in "${programs[@]}"; do
    pes=2 heap=64M arguments=(heap)
    case $program in
    barrier) pes=4 arguments=(-i 50) ;;
    fcollect | collect | broadcast | reduce) pes=4 arguments=(-m 4096 -i 10) ;;
    *_mr*) heap=256M ;;
    esac
    for cluster in two-boards htx-pair peach2-double-ring htea-eight; do
        said=()
        for turn in 1 2; do
            file=out/osu/$cluster.$program.$turn
            "$tree/bin/hostwire" run --heap "$heap" --cluster "lab/sim/clusters/$cluster.toml" -n "$pes" --stats \
                "$OSU/osu_oshm_$program" "${arguments[@]}" >"$file.txt" 2>"$file.stats" || {
                echo "osu.sh: $program on $cluster: $(tail -n 1 "$file.stats")" >&2
                failed=1
            }
            said+=("$(cat "$file.txt")$(sed -n 's/.*hash //p' "$file.stats")")
        done
        if [[ ${said[0]} == "${said[1]}" ]]; then
            echo "$program on $cluster: $(sed -n 's/.*\(hash .*\)/\1/p' "out/osu/$cluster.$program.1.stats")"
        else
            echo "osu.sh: $program on $cluster: two runs differ" >&2
            failed=1
        fi
    done
done
exit "$failed"
