#!/usr/bin/env bash
# MPICH's own tests (test/mpi of https://github.com/pmodels/mpich, compiled by its makefiles) over the provider.
#
#     MPICH_TESTS=FOLDER [MPIEXEC=mpiexec] [PROVIDER=FOLDER] bench/peers/mpich-tests.sh [--ranks-max N] [--without REGEX] [LIST]...
#
# FOLDER is test/mpi with the programs of the folders LIST (pt2pt, comm, datatype, coll and rma, if none is named) compiled. Their testlists
# say how many ranks and which arguments; MPIEXEC is of an MPICH that is built for libfabric, as that of PyPI. PROVIDER has
# libhostwire-fi.so; without it, that of target/release is built. Lines of the lists that REGEX matches are left out, and so are
# tests that need more memory than this machine has. A test is right if it says "No Errors". Outputs of what
# fails are in out/mpich-tests. The status is 1 if something fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

: "${MPICH_TESTS:?set MPICH_TESTS to the folder test/mpi of MPICH}"
MPIEXEC=${MPIEXEC:-mpiexec} LIMIT_S=${LIMIT_S:-180} ranks_max=1000 without='^$'
memory_gib=$(awk '/^MemTotal/ { print int($2 / 1048576) }' /proc/meminfo)
out=$PWD/out/mpich-tests
mkdir -p "$out"
source bench/peers/provider.sh
export FI_PROVIDER_PATH=$PROVIDER FI_PROVIDER=hostwire MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1
while [[ ${1-} == --* ]]; do
    case $1 in
    --ranks-max) ranks_max=$2 && shift 2 ;;
    --without) without=$2 && shift 2 ;;
    *) echo "mpich-tests.sh: unknown: $1" >&2 && exit 2 ;;
    esac
done
lists=("$@")
((${#lists[@]})) || lists=(pt2pt comm datatype coll rma)

passed=0 failed=0 absent=0
run() { # LIST LINE
    local list=$1 words arguments=() settings=() word limit=$LIMIT_S
    read -ra words <<<"$2"
    local program=${words[0]} ranks=${words[1]:-1} has_room=1
    for word in "${words[@]:2}"; do
        case $word in
        arg=*) arguments+=("${word#arg=}") ;;
        env=*) settings+=("${word#env=}") ;;
        timeLimit=*) ((${word#timeLimit=} > limit)) && limit=${word#timeLimit=} ;;
        mem=*) word=${word#mem=} && ((${word%.*} < memory_gib)) || has_room='' ;;
        # It wants an end of another kind than a right one.
        resultTest=TestErrFatal | resultTest=TestStatus) return ;;
        xfail=*) return ;;
        esac
    done
    if [[ ! -x $MPICH_TESTS/$list/$program || $ranks -gt $ranks_max || ! $has_room || $2 =~ $without ]]; then
        ((++absent))
        return
    fi
    cd "$MPICH_TESTS/$list" || return
    env "${settings[@]}" timeout -k 5 "$limit" "$MPIEXEC" -n "$ranks" "./$program" "${arguments[@]}" >"$out/said" 2>&1
    local status=$?
    if ((status == 0)) && grep -qi '^ *no errors' "$out/said"; then
        ((++passed))
    else
        ((++failed))
        cp "$out/said" "$out/$list.$failed"
        echo "$list: $2: status $status, see $out/$list.$failed"
    fi
}

for list in "${lists[@]}"; do
    while IFS= read -r line <&3; do
        [[ $line =~ ^[[:space:]]*(#|$) ]] || run "$list" "$line"
    done 3<"$MPICH_TESTS/$list/testlist"
    echo "$list: $passed pass, $failed fail, $absent are absent"
done
((failed == 0))
