#!/usr/bin/env bash
# MPI on one host: Open MPI over hostwire beside its own shared memory, UCX, and libfabric's shm.
#
#   eval "$(hostwire env mpi)" && OSU=FOLDER bench/peers/mpi.sh        a table on standard output
#
# OSU is a folder with osu_latency, osu_bw, osu_mbw_mr, osu_put_latency and osu_fop_latency of the OSU micro-benchmarks (7.0 or later),
# compiled with Open MPI's mpicc. The last two are compared with what Open MPI takes by itself (`default`), in memory that the program
# has allocated: windows that Open MPI allocates are shared memory, and no provider is asked. Within a host Open MPI copies to that memory by
# the kernel (`osc:rdma` over `btl:vader`), whatever provider it has; rows `by messages` are of `osc:pt2pt`, which sends messages over the provider. Debian's
# Open MPI cannot take libfabric's shm provider (it asks for a provider that reaches other hosts), so shm and hostwire are also
# compared by libfabric's own fi_pingpong. Rounds (ROUNDS, 9) are interleaved: each measures all, one after the other. The table has
# medians, and their ratio to hostwire's. `least` is a provider that carries messages of two ranks and does nothing else
# (least.c, compiled here against libfabric-dev); `nothing` is the same, but does not carry the measured messages: it
# shows the time of MPI above a provider. With HOSTS=1, as root, there are rows of two hosts as well: network namespaces
# with a cable between them, hostwire over ether, udp and tcp (encrypted, and bare) beside Open MPI over TCP. RUN is put
# in front of each program: `RUN="chrt -r 10"` gives it the cores of a busy machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

: "${OSU:?set OSU to the folder of osu_latency, osu_bw and osu_mbw_mr}"
: "${FI_PROVIDER_PATH:?set the environment: eval \"\$(hostwire env mpi)\"}"
rounds=${ROUNDS:-9}
mpirun=${MPIRUN:-mpirun.openmpi}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
mkdir "$results/least"
cc -O2 -shared -fPIC -o "$results/least/libleast-fi.so" bench/peers/least.c -l:libfabric.so.1

declare -A ways=(
    [hostwire]='--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include hostwire --mca osc ^ucx'
    [vader]='--mca pml ob1 --mca btl self,vader --mca osc ^ucx'
    [ucx]='--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any'
    [default]=''
    [least]='--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include least --mca osc ^ucx'
)
ways[nothing]=${ways[least]}
ways[hostwire-messages]=${ways[hostwire]/^ucx/pt2pt}
ways[least-messages]=${ways[least]/^ucx/pt2pt}
declare -A paths=([least]="$results/least" [nothing]="$results/least" [least-messages]="$results/least")
declare -A far=(
    [hostwire]="${ways[hostwire]} -x FI_PROVIDER_PATH -x HOSTWIRE_WIRE=ether"
    [bare]="${ways[hostwire]} -x FI_PROVIDER_PATH -x HOSTWIRE_WIRE=ether -x HOSTWIRE_INSECURE_WIRE=1"
    [udp]="${ways[hostwire]} -x FI_PROVIDER_PATH -x HOSTWIRE_WIRE=udp"
    [udp-bare]="${ways[hostwire]} -x FI_PROVIDER_PATH -x HOSTWIRE_WIRE=udp -x HOSTWIRE_INSECURE_WIRE=1"
    [connections]="${ways[hostwire]} -x FI_PROVIDER_PATH -x HOSTWIRE_WIRE=tcp"
    [connections-bare]="${ways[hostwire]} -x FI_PROVIDER_PATH -x HOSTWIRE_WIRE=tcp -x HOSTWIRE_INSECURE_WIRE=1"
    [tcp]='--mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include 10.9.0.0/24'
)

# What an OSU program prints: osu WAY PROGRAM [ARGUMENT]...
osu() {
    # shellcheck disable=SC2086 # words are options
    env -u FI_PROVIDER -u OMPI_MCA_pml -u OMPI_MCA_mtl -u OMPI_MCA_osc -u OMPI_MCA_mtl_ofi_provider_include \
        FI_PROVIDER_PATH="${paths[$1]:-$FI_PROVIDER_PATH}" LEAST_NOTHING="$([[ $1 != nothing ]] || echo 1)" \
        ${RUN:-} timeout -k 5 -s KILL 300 "$mpirun" ${ways[$1]} -n 2 "$OSU/$2" "${@:3}" 2>"$results/errors"
}

# The same with a process on each of two hosts: osu_far WAY PROGRAM [ARGUMENT]...
osu_far() {
    # shellcheck disable=SC2086
    env -u FI_PROVIDER -u OMPI_MCA_pml -u OMPI_MCA_mtl -u OMPI_MCA_osc -u OMPI_MCA_mtl_ofi_provider_include \
        ${RUN:-} timeout -k 5 -s KILL 300 bash tools/cli/tests/launchers/hosts.sh \
        "$mpirun" ${far[$1]} -H fa,fb -n 2 "$OSU/$2" "${@:3}" 2>"$results/errors"
}

# The number in COLUMN of the line for SIZE of such a text: column SIZE COLUMN
column() {
    awk -v size="$1" -v column="$2" '$1 == size { print $column }'
}

# Microseconds of half a round trip of 8 bytes between two processes of libfabric: pingpong PROVIDER
pingpong() {
    local port=$((20000 + RANDOM % 20000)) server
    # shellcheck disable=SC2086
    env -u FI_PROVIDER ${RUN:-} timeout -k 5 -s KILL 60 fi_pingpong -p "$1" -e rdm -m tagged -I 100000 -S 8 -B "$port" \
        >/dev/null 2>&1 &
    server=$!
    sleep 1
    # shellcheck disable=SC2086
    env -u FI_PROVIDER ${RUN:-} timeout -k 5 -s KILL 60 fi_pingpong -p "$1" -e rdm -m tagged -I 100000 -S 8 -P "$port" \
        127.0.0.1 2>"$results/errors" | awk '$1 == 8 { print $7 }'
    wait "$server" || true
}

note() { # FILE VALUE
    [[ -n $2 ]] || {
        echo "mpi.sh: no result for $1: $(tail -n 1 "$results/errors")" >&2
        exit 1
    }
    echo "$2" >>"$results/$1"
}

for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds" >&2
    for way in hostwire vader ucx; do
        text=$(osu "$way" osu_latency -m 8:65536)
        note "latency 8 B, us.$way" "$(column 8 2 <<<"$text")"
        note "latency 64 KiB, us.$way" "$(column 65536 2 <<<"$text")"
        text=$(osu "$way" osu_bw -m 65536:1048576)
        note "bandwidth 64 KiB, MB a second.$way" "$(column 65536 2 <<<"$text")"
        note "bandwidth 1 MiB, MB a second.$way" "$(column 1048576 2 <<<"$text")"
        text=$(osu "$way" osu_mbw_mr -m 64:64)
        note "messages of 64 B a second.$way" "$(column 64 3 <<<"$text")"
    done
    for way in least nothing; do
        note "latency 8 B, us.$way" "$(osu "$way" osu_latency -m 8:8 | column 8 2)"
        note "messages of 64 B a second.$way" "$(osu "$way" osu_mbw_mr -m 64:64 | column 64 3)"
    done
    for way in hostwire default least; do
        note "put 8 B, us.$way" "$(osu "$way" osu_put_latency -w create -m 8:8 | column 8 2)"
        note "fetch and add, us.$way" "$(osu "$way" osu_fop_latency -w create | awk '/^[0-9]/ { print $2 }')"
        [[ $way == default ]] && by=default || by=$way-messages
        note "put 8 B by messages, us.$way" "$(osu "$by" osu_put_latency -w create -m 8:8 | column 8 2)"
        note "fetch and add by messages, us.$way" "$(osu "$by" osu_fop_latency -w create | awk '/^[0-9]/ { print $2 }')"
    done
    if [[ -n ${HOSTS:-} ]]; then
        for way in hostwire bare udp udp-bare connections connections-bare tcp; do
            text=$(osu_far "$way" osu_latency -m 8:8)
            latency=$(column 8 2 <<<"$text")
            text=$(osu_far "$way" osu_bw -m 1048576:1048576)
            bandwidth=$(column 1048576 2 <<<"$text")
            case $way in
            hostwire) rows=('ether, encrypted') ;;
            bare) rows=('ether, bare') ;;
            udp) rows=('udp, encrypted') ;;
            udp-bare) rows=('udp, bare') ;;
            connections) rows=('tcp, encrypted') ;;
            connections-bare) rows=('tcp, bare') ;;
            *) rows=({ether,udp,tcp}', '{encrypted,bare}) ;;
            esac
            [[ $way == tcp ]] && column=tcp || column=hostwire
            for row in "${rows[@]}"; do
                note "two hosts, $row: latency 8 B, us.$column" "$latency"
                note "two hosts, $row: bandwidth 1 MiB, MB a second.$column" "$bandwidth"
            done
        done
    fi
    for provider in hostwire shm; do
        note "fi_pingpong 8 B, us.$provider" "$(pingpong "$provider")"
    done
done

median() { sort -g "$1" | sed -n "$(((rounds + 1) / 2))p"; }
echo '| median of '"$rounds"' | hostwire | vader | hostwire / vader | ucx | hostwire / ucx | shm | hostwire / shm | default | hostwire / default | least | hostwire / least | nothing | hostwire / nothing | tcp | hostwire / tcp |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
for file in "$results"/*.hostwire; do
    name=$(basename "$file" .hostwire)
    own=$(median "$file")
    row="| $name | $own |"
    for way in vader ucx shm default least nothing tcp; do
        if [[ -f $results/$name.$way ]]; then
            other=$(median "$results/$name.$way")
            row+=" $other | $(awk -v a="$own" -v b="$other" 'BEGIN { printf "%.2f", a / b }') |"
        else
            row+=' | |'
        fi
    done
    echo "$row"
done
