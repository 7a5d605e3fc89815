#!/bin/busybox sh
# What machine 0 does: makes a region in the memory that both machines have, and starts a job of two
# PEs, one on each. demo plain|wc|doorbell|dax|virtiofs
set -eu
kind=$1

say() { # TEXT
    read -r up _ </proc/uptime
    echo "-- $1 ($up s after the start)"
}

until remote vm1 true 2>/dev/null; do sleep 0.2; done
say "both machines are there, and vm1 answers over the network"

refused() { # WINDOW
    say "what is refused: hostwire window make $1"
    if hostwire window make "$1"; then exit 1; fi
}

path=$(memory "$kind")
# The second machine comes later: a dax node is set up once, and both find it.
[ "$(remote vm1 memory "$kind")" = "$path" ]
window=$path
case $kind in
    plain)
        # The command register: the device answers to nothing.
        echo 0 >"${path%/*}/enable"
        printf '\000' | dd of="${path%/*}/config" bs=1 seek=4 conv=notrunc 2>/dev/null
        refused "$window"
        echo 1 >"${path%/*}/enable"
        ;;
    wc) refused "$path,contract=coherent" ;;
    dax)
        # Whether the caches of several hosts are kept equal, no system knows.
        refused "$path"
        window=$path,contract=flushed
        ;;
    doorbell) window=$path,bell=vfio ;;
    virtiofs) window=$path,size=64M,contract=coherent ;;
esac
say "hostwire window make $window"
hostwire window make "$window"

say "vm1 sees the same region"
remote vm1 hostwire window show "$window"

export HOSTWIRE_WIRE=window HOSTWIRE_WINDOW=$window HOSTWIRE_HEAP=4M
job() { mpiexec.hydra -launcher rsh -launcher-exec /bin/remote -hosts vm0,vm1 -ppn 1 -n 2 "$@"; }
say "HOSTWIRE_WIRE=window HOSTWIRE_WINDOW=$window mpiexec.hydra -hosts vm0,vm1 -n 2 greet"
if [ "$kind" = virtiofs ]; then
    # Each machine has pages of its own for the file, whatever contract is named.
    if job greet >/tmp/said 2>&1; then exit 1; fi
    cat /tmp/said
    grep -q 'has stored there is not seen' /tmp/said
    say "done: it was refused"
    exit
fi
job greet --rest 10
say "the job has ended"
hostwire window show "$window"

say "another job, with HOSTWIRE_LOST_AFTER=10, as always"
job greet --turns 1000000000 &
launcher=$!
until remote vm1 pidof greet >/dev/null; do sleep 0.2; done
sleep 2
hostwire window show "$window"
pe=$(pidof greet)
say "its PE on vm1 is stopped for 5 s"
remote vm1 "killall -STOP greet; sleep 5; killall -CONT greet"
sleep 1
kill -0 "$pe"
say "the job goes on; now vm1 is switched off"
remote vm1 poweroff -f >/dev/null 2>&1 &
while kill -0 "$pe" 2>/dev/null; do sleep 0.2; done
say "PE 0 has ended"
# The launcher would wait for its other half on vm1.
kill -9 "$launcher" 2>/dev/null || true
say "hostwire window clear"
hostwire window clear "$window"
[ "$(hostwire window show "$window" | grep -c 'job at place')" = 0 ]
say "done"
