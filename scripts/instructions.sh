#!/usr/bin/env bash
# Instructions of one operation by callgrind, and lines of shared memory by lackey: prints them beside the committed ones,
# bench/instructions/table.txt.
#
#     scripts/instructions.sh           only that
#     scripts/instructions.sh --check   fails where a row grew by more than 3 %, is missing, or is new
#     scripts/instructions.sh --write   writes the table anew
#
# bench/instructions/README.md says what is counted. Half a minute, and the time that release builds take.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

committed=bench/instructions/table.txt
what=${1:-}
case $what in
'' | --check | --write) ;;
*)
    echo "instructions: there is no option '$what'" >&2
    exit 2
    ;;
esac
if [[ $(uname -m) != x86_64 ]]; then
    echo "instructions: skipped: the table is of x86-64"
    exit 0
fi
lacks() {
    echo "instructions: skipped: there is no $1 (Debian package $2)"
    [[ -z ${HOSTWIRE_TESTS_DEMAND:-} ]] || exit 1
    exit 0
}
command -v valgrind >/dev/null || lacks valgrind valgrind
command -v nm >/dev/null || lacks nm binutils
command -v "${CC:-cc}" >/dev/null || lacks "C compiler" gcc
[[ -e /usr/include/rdma/fabric.h ]] || lacks "rdma/fabric.h" libfabric-dev

cargo=${CARGO:-cargo}
release=${CARGO_TARGET_DIR:-target}/release
# What callgrind writes stays here, for callgrind_annotate.
work=$(realpath -m "${CARGO_TARGET_DIR:-target}/instructions")
rm -rf "$work"
mkdir -p "$work/providers"

# As scripts/codegen.sh and the step `test` do, which then have nothing to compile again.
"$cargo" build --quiet --locked --release -p hostwire-bench --bin instructions
"$cargo" build --quiet --locked --release -p hostwire-shmem -p hostwire-preload -p hostwire-clock -p hostwire-fabric-provider \
    -p hostwire-tca
# Alone, because the simulator has other features of the crates below it: the other programs are what users have.
"$cargo" build --quiet --locked --release -p hostwire-sim --example count_events
compile() { "${CC:-cc}" -O2 -std=gnu11 -Wall -Wextra -Werror -Iinclude -o "$work/$1" "bench/instructions/$1.c" "${@:2}"; }
compile shmem "$release/libhostwire_shmem.a" -lpthread -ldl -lm
compile tagged -lfabric
compile no_auxv
cp "$release/libhostwire_fi.so" "$work/providers/libhostwire-fi.so"

# No setting of the caller's counts. The C library copies as it does on a processor without AVX: which of its ways it takes
# depends on the processor otherwise.
plain=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-SSSE3,-ERMS,-FSRM
network=()
counted() {
    local name=$1
    shift
    env -i PATH="$PATH" FI_PROVIDER_PATH="$work/providers" GLIBC_TUNABLES=$plain \
        timeout 120 "${network[@]}" \
        "$work/no_auxv" valgrind --quiet --tool=callgrind --callgrind-out-file="$work/$name.out" "$@" >"$work/$name.log" 2>&1 ||
        {
            cat "$work/$name.log"
            echo "instructions: $name failed under callgrind"
            exit 1
        }
}
counted rust "$release/instructions" run
counted shmem "$work/shmem"
counted tagged "$work/tagged" hostwire
counted sim "$release/examples/count_events"
counts=("$work/"{rust,shmem,tagged,sim}.out)

# Sockets. Those of bare Ethernet need a cable, in a network of its own, and rights.
cable='ip link add left type veth peer name right && ip link set left up && ip link set right up && "$@"'
for kind in udp tcp ether xdp; do
    network=()
    if [[ $kind == ether || $kind == xdp ]]; then
        network=(unshare --net bash -c "$cable" -)
    fi
    if "${network[@]}" "$release/instructions" socket "$kind" >"$work/$kind.log" 2>&1; then
        counted "$kind" "$release/instructions" socket "$kind"
        counts+=("$work/$kind.out")
    else
        # As in the committed table, so that they are neither missing nor lost.
        grep "^socket_${kind}_" "$committed" >"$work/$kind.lines" || true
        counts+=("$work/$kind.lines")
        echo "instructions: the rows socket_${kind} are not compared: $(tail -n 1 "$work/$kind.log")"
    fi
done
network=()

# Lines of shared memory: lackey writes each access down.
lines() {
    local name=$1 program=$2
    env -i PATH="$PATH" FI_PROVIDER_PATH="$work/providers" GLIBC_TUNABLES=$plain \
        timeout -k 5 120 "$work/no_auxv" valgrind --quiet --tool=lackey --trace-mem=yes --log-file="$work/$name.trace" "${@:2}" \
        >"$work/$name.maps" 2>"$work/$name.log" ||
        {
            cat "$work/$name.log"
            echo "instructions: $name failed under lackey"
            exit 1
        }
    nm -CS --defined-only "$program" >"$work/$name.symbols"
    "$release/instructions" lines "$(basename "$program")" "$work/$name."{symbols,maps,trace} >"$work/$name.lines"
    rm "$work/$name.trace"
}
lines rust "$release/instructions" few
lines shmem "$work/shmem"
lines tagged "$work/tagged" hostwire few
counts+=("$work/"{rust,shmem,tagged}.lines)

# Others choose other instructions.
compilers="$(rustc --version | cut -d' ' -f1,2), cc $("${CC:-cc}" -dumpversion), $(getconf GNU_LIBC_VERSION)"
if [[ $what == --write ]]; then
    {
        echo "# Instructions of one operation, x86-64, $compilers, by scripts/instructions.sh --write."
        "$release/instructions" table "${counts[@]}"
    } >"$work/table"
    cp "$work/table" "$committed"
    cat "$committed"
    exit 0
fi
was=$(sed -nE '1s/.*(rustc .*, glibc [0-9.]+),.*/\1/p' "$committed")
if [[ $was != "$compilers" ]]; then
    echo "instructions: $committed is of $was, this is $compilers: nothing is compared"
    echo "instructions: scripts/instructions.sh --write writes it anew"
    exit 0
fi
"$release/instructions" check "$committed" "${counts[@]}" || [[ $what != --check ]]
