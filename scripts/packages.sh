#!/bin/bash
# Builds the packages for Debian and Ubuntu and the Python wheel, and tries each system in turn: all packages go into an empty
# system, where their programs run, and are removed again; then the wheel goes into a virtual environment there.
#
#     scripts/packages.sh                    all systems: those whose archives can be reached
#     scripts/packages.sh bookworm trixie    only these
#     scripts/packages.sh build              tries none; scripts/packages.sh try SYSTEM... builds nothing again
#     scripts/packages.sh recipes            installs by those of Spack and EasyBuild alone, as far as these are here
#
# It has to be root, and needs debootstrap and dpkg-dev; lintian looks at the packages if it is there. The empty systems stay in
# target/systems. Ubuntu's need its keys: the package ubuntu-keyring of Debian 13, or KEYRING.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-$PWD/target}
packages=$target/deb
systems=$target/systems

say() { echo "packages.sh: $*" >&2; }

if [[ $(id -u) != 0 ]] || ! command -v debootstrap >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
    say "left out: it needs root, debootstrap and dpkg-dev"
    [[ -z ${HOSTWIRE_TESTS_DEMAND:-} ]]
    exit
fi

# An empty system, made once.
system() { # NAME
    local options=(--variant=minbase) script=
    [[ ! -e $systems/$1.made ]] || return 0
    rm -rf "${systems:?}/$1"
    mkdir -p "$systems"
    local archive=http://deb.debian.org/debian
    if [[ $1 == noble || $1 == resolute ]]; then
        archive=http://archive.ubuntu.com/ubuntu
        # One script is for all of Ubuntu; debootstrap of Debian has no name for the newer ones.
        script=/usr/share/debootstrap/scripts/gutsy
        options+=(--components=main,universe --keyring "${KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}")
    fi
    say "making an empty $1"
    if ! debootstrap "${options[@]}" "$1" "$systems/$1" "$archive" $script >"$systems/$1.log" 2>&1; then
        tail -n 3 "$systems/$1.log" >&2
        return 1
    fi
    touch "$systems/$1.made"
}

# What is done in the system.
inside() {
    set -euo pipefail
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root
    cd /packages
    apt-get -qq update
    apt-get -qq install --no-install-recommends ./*.deb >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; return 1; }
    # What a package needs is not there by chance, so this comes before other packages.
    hostwire --version
    hostwire doctor >/tmp/doctor
    hostwire run -n 2 sh -c 'echo PE $PMI_RANK' | sort
    hostwire plan /usr/share/hostwire/clusters/two-boards.toml >/tmp/plan
    hostwire-lab --version
    hostwire run -n 2 python3 ring.py | sort
    oshcc.hostwire -O2 -o /tmp/hello hello.c
    oshrun.hostwire -n 2 /tmp/hello | sort
    apt-get -qq install --no-install-recommends g++ >/dev/null 2>&1
    printf 'int main() { return 0; }\n' >/tmp/empty.cc
    oshc++.hostwire -o /tmp/empty /tmp/empty.cc
    apt-get -qq install --no-install-recommends pkgconf cmake make libfabric-bin man-db >/dev/null 2>&1
    cc -o /tmp/hello.pc hello.c $(pkg-config --cflags --libs hostwire-shmem)
    hostwire run -n 2 /tmp/hello.pc >/dev/null
    mkdir -p /tmp/cmake
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(hello C)' 'find_package(HostwireShmem REQUIRED)' \
        'add_executable(hello /packages/hello.c)' 'target_link_libraries(hello HostwireShmem::shmem)' >/tmp/cmake/CMakeLists.txt
    (cd /tmp/cmake && cmake . >/dev/null && make >/dev/null && hostwire run -n 2 ./hello >/dev/null)
    eval "$(hostwire env mpi)"
    fi_info -p hostwire | sed -n 1p
    man --where 3hostwire shmem_put || ls /usr/share/man/man3 2>/dev/null | head -n 1
    dpkg --purge $(for package in *.deb; do dpkg-deb --field "$package" Package; done) >/dev/null 2>&1
    [[ ! -e /usr/lib/hostwire && ! -e /usr/bin/hostwire ]] || { find /usr/lib/hostwire; return 1; }
}

# The same with the wheel, for the Python of the system. Bullseye's is too old: there the programs of the wheel run, by a C
# library that is older than the one here.
inside_wheel() {
    set -euo pipefail
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root
    apt-get -qq update
    apt-get -qq install --no-install-recommends python3-venv >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; return 1; }
    if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        python3 -m venv /tmp/venv
        /tmp/venv/bin/pip install --quiet --no-index --find-links /packages/wheels hostwire
        PATH=/tmp/venv/bin:$PATH
        hostwire run -n 2 python /packages/ring.py | sort
        hostwire run --cluster /packages/pair.toml -n 2 python /packages/ring.py | sort
    else
        python3 -m zipfile -e /packages/wheels/hostwire-*.whl /tmp/wheel
        local data=(/tmp/wheel/hostwire-*.data)
        chmod +x "${data[0]}"/scripts/*
        PATH=${data[0]}/scripts:$PATH
    fi
    hostwire run -n 2 sh -c 'echo PE $PMI_RANK' | sort
    hostwire run --cluster /packages/pair.toml -n 2 --built-in hello | sort
    python3 --version
}

# The image of Apptainer, but for Apptainer: the steps of its definition in the system that it names.
inside_image() {
    set -euo pipefail
    export LC_ALL=C.UTF-8 HOME=/root
    section() { sed -n "/^%$1\$/,/^%/p" /tmp/packages/hostwire.def | sed '/^%/d'; }
    cp -r /packages /tmp/packages
    # It removes that folder.
    umount /packages
    cp /tmp/packages/*.deb /packages/
    section post >/tmp/post
    bash -e /tmp/post >/tmp/post.log 2>&1 || { tail -n 20 /tmp/post.log; return 1; }
    section environment >/tmp/environment
    . /tmp/environment
    section test >/tmp/test
    bash -e /tmp/test
    oshcc -O2 -o /tmp/hello /tmp/packages/hello.c
    section runscript >/tmp/run
    bash /tmp/run run -n 2 /tmp/hello | sort
    du -smc /etc /usr /var | sed -n 's/\ttotal/ MB/p'
}

# Tries the packages in a system. What is written there is lost.
try() { # NAME FUNCTION
    declare -f inside inside_wheel inside_image >"$packages/inside.sh"
    unshare --mount --pid --fork bash -euc '
        root=$(mktemp -d)
        mount -t tmpfs none "$root"
        mkdir "$root"/{upper,work,system}
        mount -t overlay none -o "lowerdir=$1,upperdir=$root/upper,workdir=$root/work" "$root/system"
        cd "$root/system"
        mount -t proc none proc
        mount --rbind /dev dev
        mkdir -p packages
        mount --bind "$2" packages
        cp /etc/resolv.conf etc/resolv.conf
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . bash -c ". /packages/inside.sh; $3"
    ' try "$systems/$1" "$packages" "$2"
}

build() {
    rm -rf "$packages"
    "$cargo" xtask package deb
    "$cargo" xtask package wheel --out "$packages/wheels"
    cp examples/c/hello.c packaging/apptainer/hostwire.def "$packages/"
    cat >"$packages/ring.py" <<'EOF'
import hostwire, numpy
with hostwire.Job() as job:
    array = job.zeros(4, numpy.int64)
    array.put((job.pe + 1) % job.pes, numpy.arange(4) + job.pe)
    job.barrier()
    print("PE", job.pe, "of", job.pes, array.local.tolist())
EOF
    cp examples/clusters/htx-pair.toml "$packages/pair.toml"
    if command -v lintian >/dev/null; then
        # Not what only concerns packages of Debian itself.
        lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs,bad-distribution-in-changes-file "$packages"/*.deb
    fi
    # What the wheel needs, for the Python of each system: the empty ones have no package index.
    local version
    for version in 3.11 3.12 3.13 3.14; do
        "$target/python/build/bin/pip" download --quiet --disable-pip-version-check --only-binary :all: --dest "$packages/wheels" \
            --python-version "$version" --platform "manylinux_2_28_$(uname -m)" --platform "manylinux_2_27_$(uname -m)" numpy
    done
}

# Without the compilers that they name: these would be built first. Both bring the crates from their registry.
recipes() {
    local folder=$target/recipes name
    rm -rf "$folder" "$target/easybuild" "$target/spack"
    "$cargo" xtask package recipes --out "$folder"
    name=$(basename "$folder"/*.eb .eb)
    if command -v eb >/dev/null; then
        sed -i "s/^toolchain = .*/toolchain = SYSTEM/; /^builddependencies/,/^]/d" "$folder/$name.eb"
        EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES=1 eb --prefix "$target/easybuild" "$folder/$name.eb"
    else
        say "EasyBuild is left out: there is no eb"
    fi
    if command -v spack >/dev/null; then
        mkdir -p "$target/spack/mirror/hostwire" "$target/spack/user"
        cp "$folder/$name.tar.gz" "$target/spack/mirror/hostwire/"
        tar -C "$target/spack" -xf "$folder"/hostwire-spack-*.tar.gz
        export SPACK_USER_CONFIG_PATH=$target/spack/user
        printf 'packages:\n  rust:\n    buildable: false\n    externals:\n    - spec: rust@%s\n      prefix: %s\n' \
            "$(rustc --version | cut -d " " -f 2)" "$(rustc --print sysroot)" >"$target/spack/user/packages.yaml"
        spack repo add "$target/spack/spack_repo/hostwire"
        spack mirror add hostwire "file://$target/spack/mirror"
        spack external find gmake
        spack install --test root "hostwire@${name#hostwire-}"
    else
        say "Spack is left out: it is not here"
    fi
}

case ${1:-} in
    build)
        build
        exit
        ;;
    recipes)
        recipes
        exit
        ;;
    try) shift ;;
    *) build ;;
esac
# Bullseye has neither a new Python nor what the packages need.
if (($#)); then chosen=("$@"); else chosen=(bookworm trixie noble resolute bullseye); fi
failed=0
for name in "${chosen[@]}"; do
    if ! system "$name"; then
        say "$name is left out: its archive or its keys are not here"
        [[ $# == 0 ]] || failed=1
        continue
    fi
    if [[ $name != bullseye ]]; then
        printf '\n=== %s\n' "$name"
        try "$name" inside || failed=1
    fi
    printf '\n=== %s, wheel\n' "$name"
    try "$name" inside_wheel || failed=1
    if [[ $name == bookworm ]]; then
        printf '\n=== %s, image\n' "$name"
        try "$name" inside_image || failed=1
    fi
done
(($#)) || recipes || failed=1
exit "$failed"
