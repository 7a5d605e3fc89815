#!/bin/busybox sh
# Prints the path of the memory that this machine shares with the other one, ready to be mapped.
# memory plain|wc|doorbell|dax|virtiofs
set -eu

# Of ivshmem: memory behind the third BAR of a PCI device.
bar() { # NAME
    for device in /sys/bus/pci/devices/*; do
        [ "$(cat "$device/vendor" "$device/device" | tr -d '\n')" = 0x1af40x1110 ] || continue
        echo 1 >"$device/enable"
        echo "$device/$1"
        return
    done
    echo "there is no ivshmem device" >&2
    return 1
}

# The same device, whose interrupts go to a program.
doorbell() {
    path=$(bar resource2)
    device=${path%/*}
    modprobe -a vfio vfio_iommu_type1 vfio-pci
    if ! [ -e "$device/driver" ]; then
        echo vfio-pci >"$device/driver_override"
        echo "${device##*/}" >/sys/bus/pci/drivers_probe
    fi
    echo "$path"
}

# Of an NVDIMM: a device-dax node. What is written here lies at the front of the memory itself, so that the
# other machine finds a node that is there already.
dax() {
    nd=/sys/bus/nd
    modprobe -a nfit libnvdimm nd_pmem dax_pmem device_dax
    if ! [ -e /dev/dax0.0 ]; then
        echo namespace0.0 >$nd/drivers/nd_pmem/unbind
        node=$nd/devices/dax0.0
        echo 2097152 >$node/align
        # The pages are described in the memory of this machine, not in the memory that is shared.
        echo ram >$node/mode
        cat /proc/sys/kernel/random/uuid >$node/uuid
        echo namespace0.0 >$node/namespace
        echo dax0.0 >$nd/drivers/dax_pmem/bind
    fi
    [ -e /dev/dax0.0 ]
    echo /dev/dax0.0
}

# Of a file system that the host of both machines has.
virtiofs() {
    modprobe virtiofs
    mkdir -p /shared
    grep -q ' /shared ' /proc/mounts || mount -t virtiofs shared /shared
    echo /shared/pool
}

case $1 in
    plain) bar resource2 ;;
    wc) bar resource2_wc ;;
    doorbell) doorbell ;;
    dax) dax ;;
    virtiofs) virtiofs ;;
esac
