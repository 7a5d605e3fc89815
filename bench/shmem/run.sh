#!/bin/bash
# Times OpenSHMEM operations of two pinned PEs with several implementations in turn, beside the
# bare limits of this machine. Medians of all turns, in nanoseconds, as a table.
#
#     bench/shmem/run.sh [-t TURNS] [-f FIRST] [-o FOLDER] [NAME=OSHCC,OSHRUN | NAME:COMMAND]...
#
# hostwire is built and always there, with short operations called and inline. Others are given by
# their compiler wrapper and launcher:
#
#     bench/shmem/run.sh openmpi=oshcc.openmpi,oshrun.openmpi sos=/opt/sos/bin/oshcc,/opt/sos/bin/oshrun
#
# and what is no OpenSHMEM by a command that prints the same lines (bench/peers/openshmem.sh does
# so for UCX and GASNet). Raw values and the table go to FOLDER (default: out/shmem). With -f, turns
# are counted from FIRST on and added to what is there. With BENCH_SHORT=1 in the environment only
# puts, gets and atomics up to 16 KiB are timed. Let nothing else run meanwhile.
# shellcheck disable=SC2086 # $flags is several words
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

turns=5 first=1 out=out/shmem
while getopts t:f:o: option; do
    case $option in
    t) turns=$OPTARG ;;
    f) first=$OPTARG ;;
    o) out=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

tree=${CARGO_TARGET_DIR:-target}/shmem
[[ -n ${SHMEM_TREE:-} ]] && tree=$SHMEM_TREE || ${CARGO:-cargo} xtask library
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir -p "$out"

flags=$(bench/cflags.sh)
((first > 1)) || : >"$out/raw.tsv"

names=(bare call hostwire inline)
declare -A run
${CC:-cc} $flags -std=gnu11 -o "$build/bare" bench/shmem/bare.c
run[bare]="$build/bare 0 1"
# The same work, each operation a call into another library.
${CC:-cc} $flags -std=gnu11 -shared -fPIC -o "$build/libcalls.so" bench/shmem/calls.c
${CC:-cc} $flags -std=gnu11 -DCALLS -o "$build/call" bench/shmem/bare.c \
    -L"$build" -lcalls -Wl,-rpath,"$build"
run[call]="$build/call 0 1"
"$tree/bin/oshcc" $flags -o "$build/hostwire" bench/shmem/shmem.c
run[hostwire]="$tree/bin/oshrun -n 2 --bind 0,1 $build/hostwire"
# The same program, with short puts, gets and atomics in it.
"$tree/bin/oshcc" --inline $flags -o "$build/inline" bench/shmem/shmem.c
run[inline]="$tree/bin/oshrun -n 2 --bind 0,1 $build/inline"
for peer in "$@"; do
    if [[ $peer =~ ^([a-z0-9]+):(.+)$ ]]; then
        names+=("${BASH_REMATCH[1]}")
        run[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
        continue
    fi
    name=${peer%%=*} tools=${peer#*=}
    if [[ $peer != *=*,* ]]; then
        echo "run.sh: a peer is NAME=OSHCC,OSHRUN or NAME:COMMAND, not '$peer'" >&2
        exit 2
    fi
    "${tools%%,*}" $flags -o "$build/$name" bench/shmem/shmem.c
    names+=("$name")
    run[$name]="${tools#*,} -n 2 $build/$name"
done

# What Open MPI needs here: its RDMA component has no network, root may run, PEs are bound.
export OMPI_MCA_osc='^rdma' OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_hwloc_base_binding_policy=core OMPI_MCA_rmaps_base_oversubscribe=1

for ((turn = first; turn < first + turns; turn++)); do
    for name in "${names[@]}"; do
        # Some crash when they end, after all values are there.
        timeout 300 ${run[$name]} 2>"$build/error" | grep -E '^[a-z0-9_KB-]+ [0-9.]+$' |
            sed "s/^/$turn $name /" | tr ' ' '\t' >>"$out/raw.tsv" ||
            echo "run.sh: $name, turn $turn: $(tail -n 1 "$build/error")" >&2
    done
done

awk -F '\t' -v names="${names[*]}" '
    { values[$3, $2] = values[$3, $2] " " $4; if (!($3 in seen)) { seen[$3] = 1; order[++count] = $3 } }
    function median(text, list, n, i, j, t) {
        n = split(text, list, " ")
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && list[j - 1] + 0 > list[j] + 0; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
        return n ? list[int((n + 1) / 2)] : "-"
    }
    END {
        n = split(names, column, " ")
        printf "| ns |"; for (i = 1; i <= n; i++) printf " %s |", column[i]; print ""
        printf "|---|"; for (i = 1; i <= n; i++) printf "---|"; print ""
        for (k = 1; k <= count; k++) {
            printf "| %s |", order[k]
            for (i = 1; i <= n; i++) printf " %s |", median(values[order[k], column[i]])
            print ""
        }
    }' "$out/raw.tsv" | tee "$out/table.md"
