#!/bin/busybox sh
# The first process of a machine of scripts/vm-demo.sh. Machine 0 runs the demonstration; machine 1 does
# what machine 0 says. Both have a network of their own, for the launcher alone.
export PATH=/bin:/usr/bin HOME=/ NO_COLOR=1
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm

machine=$(sed -n 's/.*hostwire.machine=\([01]\).*/\1/p' /proc/cmdline)
kind=$(sed -n 's/.*hostwire.kind=\([a-z]*\).*/\1/p' /proc/cmdline)
hostname "vm$machine"
modprobe -a virtio_pci virtio_net
ip link set lo up
ip link set eth0 up
ip address add "10.9.0.1$machine/24" dev eth0

if [ "$machine" = 0 ]; then
    echo "demo: begin"
    demo "$kind" 2>&1
    echo "demo: status $?"
else
    # As rsh does it: a shell for whoever asks. Nobody but machine 0 is on this network.
    nc -ll -p 514 -e /bin/sh
fi
poweroff -f
