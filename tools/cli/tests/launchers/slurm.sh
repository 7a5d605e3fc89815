#!/bin/bash
# A Slurm of two nodes on this machine, for the tests.
#
#     slurm.sh
#
# Both nodes on one host. Runs as the first process of its own mount, network, host name and
# process namespaces (slurm.rs), so that nothing of it can be met or left behind: its files
# are in memory over /run, its ports on a loopback of its own, and all its processes end
# with this one. Prints "ready", or what went wrong; then waits for its end.
#
#     hosts.sh bash slurm.sh COMMAND...
#
# One node on each of the hosts fa and fb. Runs on fa, under hosts.sh, which ends all of it.
# Runs COMMAND on fa once both nodes are idle.
set -u
PATH=$PATH:/usr/sbin:/sbin

# ip netns exec mounts an empty /sys, where slurmd looks for control groups: back to that of
# the first process.
if (($#)) && [[ ${SLURM_CONF-} != /run/slurm.conf ]]; then
    export SLURM_CONF=/run/slurm.conf
    exec nsenter -t 1 -m bash "$0" "$@"
fi
export SLURM_CONF=/run/slurm.conf

fail() {
    echo "cannot start Slurm: $1"
    tail -n 8 /run/*.log 2>/dev/null
    exit 1
}

if (($#)); then
    hosts=(fa fb) addresses=(10.9.0.1 10.9.0.2)
    second=(nsenter --net=/run/netns/fb unshare --uts bash -c 'hostname fb; exec "$@"' fb)
else
    hosts=(one one) addresses=(127.0.0.1 127.0.0.1) second=()
    ip link set lo up || fail "no loopback"
    # The resolver looks names up only where there is an address beside 127.0.0.1.
    ip address add 10.255.0.1/32 dev lo
    hostname one
    mount -t tmpfs -o mode=755 hostwire-slurm /run || fail "no memory over /run"
    printf '127.0.0.1 localhost\n10.255.0.1 one\n' >/run/hosts
    mount --bind /run/hosts /etc/hosts || fail "no /etc/hosts"
fi

mkdir -p /run/munge /run/state /run/n1 /run/n2 /run/tmp-n1 /run/tmp-n2
(umask 077 && head -c 128 /dev/urandom >/run/munge.key)
munged --force --num-threads=2 --key-file=/run/munge.key --socket=/run/munge/socket \
    --pid-file=/run/munge.pid --seed-file=/run/munge.seed --log-file=/run/munge.log ||
    fail "munged"

cat >/run/slurm.conf <<CONF
ClusterName=hostwire
SlurmctldHost=${hosts[0]}(${addresses[0]})
SlurmctldPort=17000
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
StateSaveLocation=/run/state
SlurmdSpoolDir=/run/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
SlurmctldLogFile=/run/slurmctld.log
SlurmdLogFile=/run/slurmd-%n.log
# Where the PMIx plugin has its files: two nodes must not share it.
TmpFS=/run/tmp-%n
# As many CPUs as the tests ask for, whatever the machine has.
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=${hosts[0]} NodeAddr=${addresses[0]} Port=17001 CPUs=16
NodeName=n2 NodeHostname=${hosts[1]} NodeAddr=${addresses[1]} Port=17002 CPUs=16
PartitionName=all Nodes=n1,n2 Default=YES State=UP OverSubscribe=FORCE:8
CONF

ulimit -c 0
slurmctld -D >/dev/null 2>&1 &
daemons=($!)
slurmd -D -N n1 >/dev/null 2>&1 &
daemons+=($!)
"${second[@]}" slurmd -D -N n2 >/dev/null 2>&1 &
daemons+=($!)
for _ in {1..300}; do
    kill -0 "${daemons[@]}" 2>/dev/null || fail "a daemon has ended"
    if [[ $(timeout 5 sinfo -h -o %t 2>/dev/null) == idle ]]; then
        if (($#)); then
            "$@"
            exit
        fi
        echo ready
        # Without one of them a step hangs: better to end all of it, and say so.
        wait -n "${daemons[@]}"
        fail "a daemon has ended" >&2
    fi
    sleep 0.1
done
fail "its nodes are not idle: $(timeout 5 sinfo -h 2>&1)"
