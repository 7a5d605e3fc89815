#!/bin/bash
# The plugin of NIXL (fronts/nixl); see docs/nixl.md. NIXL_SOURCE is a checkout of NIXL, whose headers it is built with; without that, git
# gets one.
#
#     scripts/nixl.sh build     target/nixl/plugins/libplugin_HOSTWIRE.so
#     scripts/nixl.sh test      that and its tests with the NIXL of PyPI (which it installs into target/nixl/python): on one host,
#                               and between two over udp and tcp (needs root)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
# The one whose headers and whose library belong together: tag and package.
version=1.4.0
out=$PWD/target/nixl
plugins=$out/plugins
python=$out/python/bin/python

left_out() {
    echo "nixl.sh: left out: $*" >&2
    [[ -z ${HOSTWIRE_TESTS_DEMAND:-} ]]
}

# Says where the headers are, or why there are none.
source_of_nixl() {
    local source=${NIXL_SOURCE:-$out/source} header=src/api/cpp/backend/backend_plugin.h
    if [[ ! -e $source/$header && ! ${NIXL_SOURCE:-} ]]; then
        git clone --quiet --depth 1 --branch "v$version" https://github.com/ai-dynamo/nixl "$source" >&2 || true
    fi
    if [[ ! -e $source/$header ]]; then
        echo "nixl.sh: no $header in $source: set NIXL_SOURCE to a checkout of NIXL v$version" >&2
        return 1
    fi
    echo "$source"
}

build() {
    local source headers=() folder
    source=$(source_of_nixl)
    for folder in api/cpp core/telemetry utils infra; do headers+=(-isystem "$source/src/$folder"); done
    # Not by Cargo.toml: every build of the tests would make it, too.
    "$cargo" rustc --locked --release --package hostwire-nixl --lib --crate-type staticlib
    mkdir -p "$plugins"
    "${CXX:-g++}" -std=c++20 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -shared -o "$plugins/libplugin_HOSTWIRE.so" \
        -I fronts/nixl/csrc -I fronts/nixl/csrc/quiet "${headers[@]}" \
        fronts/nixl/csrc/plugin.cpp "${CARGO_TARGET_DIR:-target}/release/libhostwire_nixl.a" \
        -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--strip-debug -Wl,-z,nodelete
}

# NIXL itself names torch as what it needs, and does not.
install() {
    ! "$python" -c "import importlib.metadata as m, nixl_cu12, numpy; assert m.version('nixl-cu12') == '$version'" 2>/dev/null || return 0
    local pip=("$python" -m pip install --quiet --disable-pip-version-check)
    "${PYTHON:-python3}" -m venv "$out/python"
    "${pip[@]}" --no-deps "nixl-cu12==$version" >&2 && "${pip[@]}" numpy >&2
}

with_library() {
    local program=("$python" fronts/nixl/tests/transfers.py)
    if ! install; then
        left_out "the NIXL of PyPI, which cannot be installed here"
        return
    fi
    export NIXL_PLUGIN_DIR=$plugins
    "${program[@]}"
    if ((EUID != 0)) || ! unshare --mount --net true 2>/dev/null; then
        left_out "agents on two hosts, which need namespaces"
        return
    fi
    for wire in udp tcp; do
        HOSTWIRE_WIRE=$wire HOSTWIRE_IFACE=wire TRANSFERS_AGENT="ip netns exec fb" \
            bash tools/cli/tests/launchers/hosts.sh "${program[@]}"
    done
}

case ${1:-} in
build) build ;;
test)
    "$cargo" test --locked --release --package hostwire-nixl
    if ! source_of_nixl >/dev/null; then
        left_out "the plugin, for which there are no headers"
        exit
    fi
    build
    with_library
    ;;
*)
    sed -n 's/^# \{0,1\}//p' "$0" | sed 1d >&2
    exit 2
    ;;
esac
