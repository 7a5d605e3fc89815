#!/bin/bash
# Looks for what building and testing needs, and installs what is missing where it can.
#
#     scripts/setup.sh run     what `make run` needs
#     scripts/setup.sh test    what `make test` needs, too
#     scripts/setup.sh arm     what `make test-arm` needs
#     scripts/setup.sh vm      what `make vm-demo` needs
#
# As root on Debian or Ubuntu it installs packages; otherwise it says which ones are
# missing. The tests that need one of the optional ones are left out without it, and say so; where
# the environment has CI=true they fail. qa/testing/src/need.rs lists what tests need.
set -euo pipefail

purpose=${1:-test}
cargo=${CARGO:-cargo}

# Daemons are where only root looks.
have() { PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null 2>&1; }
has_library() { compgen -G "/usr/lib*/$1" >/dev/null || compgen -G "/usr/lib/*/$1" >/dev/null; }
say() { printf 'setup: %s\n' "$*" >&2; }

required=()
optional=()
is_emulated=
[[ $purpose != arm || $(uname -m) == aarch64 ]] || is_emulated=1
have cc || required+=(gcc libc6-dev)
have awk || required+=(mawk)
if [[ $purpose == test || $purpose == arm && -z $is_emulated ]]; then
    have objdump || optional+=(binutils)
    have nsenter || optional+=(util-linux)
    have c++ || optional+=(g++)
    have ip || optional+=(iproute2)
    have mpirun.openmpi || optional+=(openmpi-bin)
    have fi_info || optional+=(libfabric-bin)
    [[ -e /usr/include/rdma/fabric.h ]] || optional+=(libfabric-dev)
fi
if [[ $purpose == test ]]; then
    have mpiexec.hydra || optional+=(mpich)
    compgen -G '/usr/include/*/mpich/mpi.h' >/dev/null || optional+=(libmpich-dev)
    have tshark || optional+=(tshark)
    have autoconf || optional+=(autoconf)
    have pkg-config || optional+=(pkg-config)
    have cmake || optional+=(cmake)
    have gdb || optional+=(gdb)
    have valgrind || optional+=(valgrind)
    # Some 12 MB and half a minute, with Open MPI and libfabric. libpmix-dev has the name by which Slurm's
    # plugin loads PMIx; its daemons are not started, the tests start their own.
    have srun && have slurmd && have slurmctld || optional+=(slurm-wlm)
    have munged || optional+=(munge)
    has_library libpmix.so.2 || optional+=(libpmix2)
    has_library libpmix.so || optional+=(libpmix-dev)
    have sshd || optional+=(openssh-server)
    python3 -c 'import ensurepip' 2>/dev/null || optional+=(python3 python3-venv)
fi

if [[ -n $is_emulated ]]; then
    have aarch64-linux-gnu-gcc || required+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
    have qemu-aarch64 || required+=(qemu-user)
    have aarch64-linux-gnu-g++ || optional+=(g++-aarch64-linux-gnu)
fi

if [[ $purpose == vm ]]; then
    have qemu-system-x86_64 || required+=(qemu-system-x86)
    [[ -e /usr/share/seabios/bios-256k.bin ]] || required+=(seabios)
    # The one that needs no library.
    have busybox && ! ldd "$(command -v busybox)" >/dev/null 2>&1 || required+=(busybox-static)
    have cpio || required+=(cpio)
    have strip || required+=(binutils)
    have setpriv || required+=(util-linux)
    have mpiexec.hydra && have hydra_pmi_proxy || required+=(mpich)
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
            # One that is not to be had must not keep the others away.
            for package in "${optional[@]}"; do
                install "$package" ||
                    say "cannot install $package; the tests that need it are left out"
            done
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
