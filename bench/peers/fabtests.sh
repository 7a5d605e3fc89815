#!/usr/bin/env bash
# libfabric's own tests over the provider, each alone, with its time limit; they are compared with nothing.
#
#     FABTESTS=FOLDER [PROVIDER=FOLDER] bench/peers/fabtests.sh [--hosts] [--only REGEX] [--without REGEX] [SET]...
#
# FOLDER is where fabtests were installed (--prefix; https://github.com/ofiwg/libfabric, folder fabtests), of any
# version from 1.17 on. The lists of tests are those of its runfabtests.sh, which is only read: it ends by killing each
# process of the machine whose name begins with fi_. A SET is unit, functional, short, standard, ubertest or ubertest-all; the
# first three and ubertest, if none is named. ubertest has the short file of the provider shm, ubertest-all the long files of
# shm and sockets, of thousands of tests, with another name of a provider. PROVIDER has libhostwire-fi.so; without it, that of target/release is built.
#
# Addresses are exchanged out of band (-E). With --hosts, server and client are on two hosts (namespaces; needs root).
# What does not apply is in fabtests.exclude, with the reason. The status is 1 if something fails. Outputs of what
# fails stay in out/fabtests, or in the folder OUT. LIMIT_S and UBER_LIMIT_S are seconds: a test of RMA takes minutes on a
# machine that has more to do.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

: "${FABTESTS:?set FABTESTS to the folder where fabtests were installed}"
LIMIT_S=${LIMIT_S:-120} UBER_LIMIT_S=${UBER_LIMIT_S:-1800}
runner=$FABTESTS/bin/runfabtests.sh
configs=$FABTESTS/share/fabtests/test_configs
out=${OUT:-out/fabtests}
[[ -r $runner ]] || { echo "fabtests.sh: no $runner" >&2 && exit 2; }
mkdir -p "$out"
: >"$out/client"

source bench/peers/provider.sh
export PROVIDER FI_PROVIDER_PATH=$PROVIDER

hosts='' only=. without=''
while [[ ${1-} == --* ]]; do
    case $1 in
    --hosts) hosts=--hosts ;;
    --only) only=$2 && shift ;;
    --without) without=$2 && shift ;;
    *) echo "fabtests.sh: unknown: $1" >&2 && exit 2 ;;
    esac
    shift
done
if [[ $hosts && $(uname -n) != fa ]]; then
    exec bash tools/cli/tests/launchers/hosts.sh "$PWD/bench/peers/fabtests.sh" --hosts --only "$only" --without "$without" "$@"
fi
sets=("$@")
((${#sets[@]})) || sets=(unit functional short ubertest)

on_server=() address=127.0.0.1
[[ $hosts ]] && on_server=(ip netns exec fb) address=10.9.0.2

excluded() { # TEST: whether it does not apply
    grep -qE -f <(grep -v '^ *\(#\|$\)' bench/peers/fabtests.exclude) -- - <<<"$1"
}

tests_of() { # SET: the lines of that list
    sed -n "/^$1_tests=(/,/^)/s/^[[:space:]]*\"\(.*\)\".*/\1/p" "$runner"
}

port=$((20000 + RANDOM % 8000)) passed=0 failed=0 absent=0 left_out=0

listens() { # whether somebody listens at the port
    "${on_server[@]}" grep -q "$(printf ':%04X .* 0A ' "$port")" /proc/net/tcp /proc/net/tcp6
}

pair() { # LIMIT SERVER -- CLIENT: the statuses of both, in server and client
    local limit=$1 command=()
    shift
    while [[ $1 != -- ]]; do command+=("$1") && shift; done
    shift
    "${on_server[@]}" timeout -s KILL "$limit" stdbuf -oL "${command[@]}" >"$out/server" 2>&1 &
    local pid=$!
    until listens || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    timeout -s KILL "$limit" stdbuf -oL "$@" >"$out/client" 2>&1
    client=$?
    # A server does not learn that its client has failed. `timeout` leads a process group.
    ((client)) && { sleep 1 && kill -9 -- -$pid; } 2>/dev/null
    wait $pid 2>/dev/null
    server=$?
}

judge() { # TEST: by the two statuses; ENODATA and ENOSYS say that there is nothing to do
    local verdict
    case $server.$client in
    0.0) verdict=pass && ((++passed)) ;;
    61.61 | 38.38 | 61.0 | 38.0) verdict='nothing to do' && ((++absent)) ;;
    *)
        verdict="FAILED (server $server, client $client)" && ((++failed))
        cp "$out/server" "$out/$failed.server"
        cp "$out/client" "$out/$failed.client"
        verdict+=", see $out/$failed.*"
        ;;
    esac
    printf '%-62s %s\n' "$1" "$verdict"
}

run() { # SET TEST
    local words
    if excluded "$2"; then
        ((++left_out))
        return
    fi
    [[ $2 =~ $only ]] && ! [[ $without && $2 =~ $without ]] || return 0
    read -ra words <<<"${2//@(SERVER_ADDR|GOOD_ADDR)/$address}"
    words[0]=$FABTESTS/bin/${words[0]}
    ((++port))
    if [[ $1 == unit ]]; then
        timeout -s KILL "$LIMIT_S" "${words[@]}" -p hostwire >"$out/server" 2>&1
        server=$? client=0
    else
        pair "$LIMIT_S" "${words[@]}" -p hostwire "-E=$port" -- "${words[@]}" -p hostwire "-E=$port" "$address"
    fi
    judge "$2"
}

ubertest() { # CONFIG
    [[ "fi_ubertest $1" =~ $only ]] || return 0
    ((++port))
    sed 's/prov_name:.*/prov_name: hostwire,/' "$configs/$1.test" >"$out/ubertest"
    # ubertest has a control connection of its own, and passes host names to fi_getinfo.
    local start=(env "LD_PRELOAD=$PWD/$out/ubertest.so" "$FABTESTS/bin/fi_ubertest" -q "$port")
    cc -shared -fPIC -O1 -o "$out/ubertest.so" bench/peers/ubertest.c -ldl || return
    pair "$UBER_LIMIT_S" "${start[@]}" -x -- "${start[@]}" -u "$out/ubertest" "$address"
    # ubertest counts its failures; its exit status does not report them.
    counted() { awk -F: -v name="$1" '$1 ~ name { n += $2 } END { print n + 0 }' "$out/client"; }
    local wrong
    wrong=$(($(counted ENOSYS) + $(counted ERROR)))
    ((client || wrong == 0)) || client=1
    judge "fi_ubertest $1: $(counted Success) succeed, $wrong fail, $(counted ENODATA) find nothing"
}

shopt -s extglob
for set in "${sets[@]}"; do
    case $set in
    ubertest)
        ubertest shm/quick
        continue
        ;;
    ubertest-all)
        for config in shm/verify shm/all sockets/verify sockets/complete; do
            ubertest $config
        done
        continue
        ;;
    esac
    while IFS= read -r test <&3; do
        run "$set" "$test"
    done 3< <(tests_of "$set")
done
echo "$passed pass, $failed fail, $absent find nothing to do, $left_out are excluded"
((failed == 0))
