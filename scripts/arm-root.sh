#!/bin/bash
# Unpacks Debian's packages for 64-bit Arm below target/arm-root, for programs that run under QEMU: Python, and libfabric
# with its tools. Nothing of it is installed, and the lists of packages of this machine stay as they are.
# Prints the folder, or says on standard error why there is none (status 1).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$(realpath -m "${CARGO_TARGET_DIR:-target}/arm-root")
# libstdc++ is for numpy.
packages=(libpython3.11-stdlib python3.11-minimal libstdc++6 libfabric-bin libfabric-dev libc6-dev)

if [[ $(cat "$root/complete" 2>/dev/null) != "${packages[*]}" ]]; then
    if ! command -v apt-get dpkg-deb >/dev/null; then
        echo "arm-root: there is no apt-get here" >&2
        exit 1
    fi
    rm -rf "$root" "$root.apt"
    mkdir -p "$root" "$root.apt/lists/partial" "$root.apt/cache/archives/partial"
    touch "$root.apt/status"
    apt=(apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$root.apt/lists"
        -o "Dir::State::status=$root.apt/status" -o "Dir::Cache=$root.apt/cache" -o Debug::NoLocking=1
        -o APT::Sandbox::User=root)
    if ! "${apt[@]}" update >/dev/null ||
        ! "${apt[@]}" install --download-only --no-install-recommends "${packages[@]}" >/dev/null; then
        echo "arm-root: the packages cannot be had: ${packages[*]}" >&2
        exit 1
    fi
    for package in "$root.apt"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$root"
    done
    rm -rf "$root.apt"
    echo "${packages[*]}" >"$root/complete"
fi
echo "$root"
