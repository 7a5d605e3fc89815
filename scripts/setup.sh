#!/bin/bash
# Looks for what building and testing needs, and installs what is missing where it can.
#
#     scripts/setup.sh run     what `make run` needs
#     scripts/setup.sh test    what `make test` needs, too
#
# As root on Debian or Ubuntu it installs packages; otherwise it says which ones are
# missing. Without mpich the tests under mpiexec.hydra are left out, without tshark those of
# the dissector; neither is an error.
set -euo pipefail

purpose=${1:-test}
cargo=${CARGO:-cargo}

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf 'setup: %s\n' "$*" >&2; }

required=()
optional=()
have cc || required+=(gcc libc6-dev)
have awk || required+=(mawk)
if [[ $purpose == test ]]; then
    have mpiexec.hydra || optional+=(mpich)
    have tshark || optional+=(tshark)
    have c++ || optional+=(g++)
fi

install() {
    say "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    local options=(-q -y -o Dpkg::Use-Pty=0)
    # The lists of a fresh container are empty, those of an old one out of date.
    apt-get "${options[@]}" install --no-install-recommends "$@" >/dev/null 2>&1 && return
    apt-get "${options[@]}" update >/dev/null &&
        apt-get "${options[@]}" install --no-install-recommends "$@" >/dev/null
}

if ((${#required[@]} + ${#optional[@]})); then
    if [[ $(id -u) == 0 ]] && have apt-get; then
        if ((${#required[@]})) && ! install "${required[@]}"; then
            say "cannot install ${required[*]}"
            exit 1
        fi
        if ((${#optional[@]})) && ! install "${optional[@]}"; then
            say "cannot install ${optional[*]}; the tests that need it are left out"
        fi
    else
        say "missing packages (names of Debian and Ubuntu): ${required[*]} ${optional[*]}"
        say "install them with: sudo apt-get install ${required[*]} ${optional[*]}"
        if ((${#required[@]})); then
            exit 1
        fi
        say "going on without ${optional[*]}; the tests that need it are left out"
    fi
fi

if ! have "$cargo"; then
    say "there is no Rust toolchain (cargo); install one from https://rustup.rs"
    exit 1
fi
if [[ $purpose == test ]]; then
    for component in rustfmt clippy; do
        tool=${component/rustfmt/fmt}
        "$cargo" "$tool" --version >/dev/null 2>&1 && continue
        if ! have rustup || ! rustup component add "$component"; then
            say "cargo $tool is missing; install the component $component of your Rust toolchain"
            exit 1
        fi
    done
fi
