#!/bin/bash
# Two virtual machines share memory, and the PEs of one job, one on each, talk through it by the wire
# `window`. Shows what they say, and how long each step takes. The machines are emulated by QEMU (TCG): that
# shows whether the wire works there, not how fast memory of that kind is.
#
#     scripts/vm-demo.sh [plain|wc|doorbell|dax|virtiofs|all]
#
#     plain   the memory of an ivshmem device, resource2     the contract coherent
#     wc      the same, resource2_wc                         the contract write-combining
#     doorbell  as plain, of an ivshmem-doorbell: PEs are woken by interrupts
#     dax     an NVDIMM as a device-dax node, /dev/dax0.0    the contract flushed
#     virtiofs  a file on virtio-fs without dax             has to be refused
#     all     one after the other
#
# Environment: VM_ACCEL=kvm for machines that are not emulated; VM_TIMEOUT, seconds for each kind (300).
# Kernel, initrd and logs are kept in target/vm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-plain} in
    plain | wc | doorbell | dax | virtiofs) kinds=("${1:-plain}") ;;
    all) kinds=(plain wc doorbell dax virtiofs) ;;
    *)
        sed -n '/^#  /s/^# *//p' "${BASH_SOURCE[0]}" >&2
        exit 2
        ;;
esac
[[ $(uname -m) == x86_64 ]] || { echo 'vm-demo: this is for x86-64 alone' >&2; exit 1; }
target=${CARGO_TARGET_DIR:-target}
vm=$target/vm
accel=${VM_ACCEL:-tcg}
limit_s=${VM_TIMEOUT:-300}
memory_bytes=$((64 << 20))
# Where only root looks.
PATH=$PATH:/usr/sbin:/sbin

scripts/setup.sh vm
mkdir -p "$vm"
run=$(mktemp -d /dev/shm/hostwire-vm.XXXXXX)
pids=()
end() {
    ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$run"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

step() { # TEXT
    printf '== %s (%d s)\n' "$1" "$SECONDS"
}

# Debian's kernel for virtual machines, unpacked in $vm/kernel.
get_kernel() {
    local package
    compgen -G "$vm/kernel/boot/vmlinuz-*" >/dev/null && return
    kernel_package() { apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: //p'; }
    package=$(kernel_package) || true
    # The lists of a fresh container are empty.
    [[ -n $package || $(id -u) != 0 ]] || { apt-get -q update >/dev/null && package=$(kernel_package); } || true
    if [[ -z $package ]]; then
        echo "vm-demo: apt-cache has no linux-image-cloud-amd64, Debian's kernel for virtual machines" >&2
        echo "vm-demo: unpack one (boot/vmlinuz-*, lib/modules/) in $vm/kernel" >&2
        return 1
    fi
    step "downloading $package"
    rm -rf "$vm/kernel" "$vm/download"
    mkdir -p "$vm/download"
    (cd "$vm/download" && apt-get -qq -o APT::Sandbox::User=root download "$package")
    dpkg -x "$vm"/download/*.deb "$vm/download/root"
    mv "$vm/download/root" "$vm/kernel"
    rm -rf "$vm/download"
}

# Copies modules and those that they need.
put_modules() { # ROOT MODULE...
    local root=$1 modules version name file
    shift
    modules=$(echo "$vm"/kernel/lib/modules/*)
    version=${modules##*/}
    [[ -e $modules/modules.dep ]] || busybox depmod -b "$vm/kernel" "$version"
    for name; do
        # A line has the path of a module, and those of all that it needs.
        awk -F '[: ]+' -v "ends=/$name[.]ko([.][a-z]+)?$" \
            '$1 ~ ends { for (i = 1; i <= NF; i++) if ($i != "") print $i }' "$modules/modules.dep"
    done | sort -u | while read -r file; do
        mkdir -p "$root/lib/modules/$version/${file%/*}"
        cp "$modules/$file" "$root/lib/modules/$version/$file"
    done
    cp "$modules"/modules.{order,builtin} "$root/lib/modules/$version/"
    busybox depmod -b "$root" "$version"
}

# Copies programs and the libraries that they load.
put_programs() { # ROOT PROGRAM...
    local root=$1 program library
    shift
    for program; do
        cp -L "$program" "$root/usr/bin/"
        for library in $(ldd "$program" | grep -o '/[^ ]*'); do
            mkdir -p "$root${library%/*}"
            cp -L "$library" "$root$library"
        done
    done
}

make_initrd() {
    local root=$run/root name
    mkdir -p "$root"/{bin,etc,usr/bin}
    cp "$(command -v busybox)" "$root/bin/busybox"
    cp scripts/vm/init.sh "$root/init"
    for name in demo memory remote; do cp "scripts/vm/$name.sh" "$root/bin/$name"; done
    printf '127.0.0.1 localhost\n10.9.0.10 vm0\n10.9.0.11 vm1\n' >"$root/etc/hosts"
    printf 'root:x:0:0::/:/bin/sh\n' >"$root/etc/passwd"
    put_programs "$root" "$target"/release/{hostwire,greet} \
        "$(command -v mpiexec.hydra)" "$(command -v hydra_pmi_proxy)"
    strip "$root"/usr/bin/{hostwire,greet}
    put_modules "$root" virtio_pci virtio_net virtiofs vfio vfio_iommu_type1 vfio-pci nfit libnvdimm nd_pmem dax_pmem device_dax
    (cd "$root" && find . | cpio --quiet -o -H newc) >"$run/initrd"
    rm -rf "$root"
}

# Starts a machine. It ends with this script, whatever ends that.
start() { # KIND MACHINE
    local kind=$1 machine=$2 shared network options kernel_options=
    # The timer of an emulated machine is late where this one is busy.
    [[ $kind != doorbell ]] || kernel_options='intel_iommu=on no_timer_check'
    # A machine of one CPU is emulated without atomic instructions of this machine, and then those of two
    # machines are not atomic to each other.
    options=(-accel "$accel" -cpu max -smp 2 -nodefaults -no-user-config -display none -no-reboot
        -serial "file:$vm/$kind-vm$machine.log" -kernel "$vm"/kernel/boot/vmlinuz-* -initrd "$run/initrd"
        -append "console=ttyS0 panic=-1 quiet hostwire.machine=$machine hostwire.kind=$kind $kernel_options")
    shared=memory-backend-file,id=shared,share=on,mem-path=$run/memory,size=$memory_bytes
    case $kind in
        plain | wc) options+=(-machine q35 -m 256M -object "$shared" -device ivshmem-plain,memdev=shared) ;;
        # Interrupts of a program take VFIO, and that an IOMMU.
        doorbell) options+=(-machine q35 -m 256M -device intel-iommu,intremap=on
            -chardev "socket,path=$run/server,id=bell" -device ivshmem-doorbell,vectors=1,chardev=bell) ;;
        virtiofs) options+=(-machine q35 -m 256M -object memory-backend-memfd,id=own,size=256M,share=on
            -numa node,memdev=own -chardev "socket,path=$run/files$machine,id=files"
            -device vhost-user-fs-pci,chardev=files,tag=shared) ;;
        dax) options+=(-machine q35,nvdimm=on -m 256M,slots=2,maxmem=1G -object "$shared"
            -device nvdimm,memdev=shared) ;;
    esac
    if [[ $kind == virtiofs ]]; then
        setpriv --pdeathsig KILL /usr/lib/qemu/virtiofsd --socket-path="$run/files$machine" \
            -o "source=$run/folder" -o cache=auto >"$vm/$kind-files$machine.log" 2>&1 &
        pids+=($!)
        until [[ -S $run/files$machine ]]; do
            runs "${pids[-1]}" || { cat "$vm/$kind-files$machine.log" >&2; return 1; }
            sleep 0.1
        done
    fi
    # Between the two machines and nobody else.
    network=stream,id=net,addr.type=unix,addr.path=$run/network,server=$([[ $machine == 0 ]] && echo on || echo off)
    options+=(-netdev "$network" -device "virtio-net-pci,netdev=net,romfile=,mac=52:54:00:00:00:1$machine")
    setpriv --pdeathsig KILL qemu-system-x86_64 "${options[@]}" </dev/null >"$vm/$kind-qemu$machine.log" 2>&1 &
    pids+=($!)
}

runs() { kill -0 "$1" 2>/dev/null; }

# Shows what machine 0 says from where its demonstration begins, until it ends.
follow() { # KIND PID
    local log=$vm/$1-vm0.log shown=0 lines now
    local deadline=$((SECONDS + limit_s))
    while :; do
        runs "$2" && now=1 || now=0
        mapfile -t lines < <(tr -d '\r' <"$log" | sed -n '/^demo: begin/,/^demo: status/p')
        # The last line may not be complete yet.
        while ((shown < ${#lines[@]} - now)); do
            [[ ${lines[shown]} == demo:* ]] || printf '   %s\n' "${lines[shown]}"
            shown=$((shown + 1))
        done
        ((now)) || break
        if ((SECONDS > deadline)); then
            echo "vm-demo: $1 has taken more than $limit_s s (VM_TIMEOUT)" >&2
            return 1
        fi
        sleep 0.2
    done
    grep -q '^demo: status 0' "$log"
}

demo() { # KIND
    local kind=$1 begin=$SECONDS first
    step "$kind: two machines start"
    rm -f "$run/memory" "$run/network" "$vm/$kind"-*.log
    truncate -s "$memory_bytes" "$run/memory"
    chmod 600 "$run/memory"
    mkdir -p "$run/folder"
    pids=()
    if [[ $kind == doorbell ]]; then
        setpriv --pdeathsig KILL "$target/release/hostwire" window serve "$run/memory" --size "$memory_bytes" \
            --socket "$run/server" >"$vm/$kind-server.log" 2>&1 &
        pids=($!)
        until [[ -S $run/server ]]; do sleep 0.1; done
    fi
    start "$kind" 0
    first=${pids[-1]}
    # The second machine connects to the first one.
    until [[ -S $run/network && -e $vm/$kind-vm0.log ]]; do
        runs "$first" || { cat "$vm/$kind-qemu0.log" >&2; return 1; }
        sleep 0.1
    done
    start "$kind" 1
    follow "$kind" "$first" || {
        echo "vm-demo: $kind has failed; what the machines said is in $vm/$kind-*.log" >&2
        return 1
    }
    kill "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" 2>/dev/null || true
    pids=()
    step "$kind: right, in $((SECONDS - begin)) s"
}

get_kernel
step 'building'
"${CARGO:-cargo}" build --locked --release
step 'making the initrd'
make_initrd
for kind in "${kinds[@]}"; do
    if [[ $kind == virtiofs && ! -x /usr/lib/qemu/virtiofsd ]]; then
        step 'virtiofs: left out, because there is no /usr/lib/qemu/virtiofsd (QEMU 7.2 of Debian has it)'
        continue
    fi
    demo "$kind"
done
step 'vm-demo: all is well'
