#!/bin/bash
# The tunnel of iceoryx2 (fronts/iceoryx2), which is a workspace of its own; see docs/iceoryx2.md.
#
#     scripts/iceoryx2.sh build     target/iceoryx2/release/hostwire-iceoryx2
#     scripts/iceoryx2.sh check     format, clippy
#     scripts/iceoryx2.sh test      that and the tests: on one host, between two hosts over udp and tcp (needs root), and with the
#                                   iceoryx2 of PyPI (which it installs into target/iceoryx2/python)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
target=$PWD/target/iceoryx2
export CARGO_TARGET_DIR=$target
manifest=(--manifest-path fronts/iceoryx2/Cargo.toml)

left_out() {
    echo "iceoryx2.sh: left out: $*" >&2
    [[ -z ${HOSTWIRE_TESTS_DEMAND:-} ]]
}

build() { "$cargo" build --locked --release "${manifest[@]}" "$@"; }

check() {
    "$cargo" fmt "${manifest[@]}" --check
    "$cargo" clippy --locked --release --all-targets "${manifest[@]}" -- -D warnings
}

# The tests with the second tunnel, and the third, on another host.
between_hosts() {
    local program
    if ((EUID != 0)) || ! unshare --mount --net true 2>/dev/null; then
        left_out "tunnels between hosts, which need namespaces"
        return
    fi
    program=$("$cargo" test --locked --release "${manifest[@]}" --test tunnel --no-run --message-format=json |
        sed -n 's/.*"name":"tunnel".*"executable":"\([^"]*\)".*/\1/p')
    for wire in udp tcp; do
        HOSTWIRE_WIRE=$wire HOSTWIRE_IFACE=wire TUNNEL_AGENT="ip netns exec fb" \
            bash tools/cli/tests/launchers/hosts.sh "$program" --test-threads 1
    done
}

of_pypi() {
    local python=$target/python/bin/python
    if ! "$python" -c 'import iceoryx2' 2>/dev/null; then
        "${PYTHON:-python3}" -m venv "$target/python"
        if ! "$target/python/bin/pip" install --quiet --disable-pip-version-check iceoryx2==0.10.0 >&2; then
            left_out "the iceoryx2 of PyPI, which cannot be installed here"
            return
        fi
    fi
    build
    "$python" fronts/iceoryx2/tests/python.py "$target/release/hostwire-iceoryx2"
}

case ${1:-} in
build) build ;;
check) check ;;
test)
    check
    "$cargo" test --locked --release "${manifest[@]}"
    between_hosts
    of_pypi
    ;;
*)
    sed -n 's/^# \{0,1\}//p' "$0" | sed 1d >&2
    exit 2
    ;;
esac
