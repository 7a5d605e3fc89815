#!/bin/bash
# A Slurm of the two hosts fa and fb. Runs on fa, under hosts.sh, which ends all of it:
#
#     hosts.sh bash slurm-hosts.sh COMMAND...
#
# Runs COMMAND on fa once both nodes are idle.
set -u
PATH=$PATH:/usr/sbin:/sbin

# ip netns exec mounts an empty /sys, where slurmd looks for control groups: back to that of
# the first process.
if [[ -z ${SLURM_CONF-} ]]; then
    export SLURM_CONF=/run/slurm.conf
    exec nsenter -t 1 -m bash "$0" "$@"
fi

fail() {
    echo "cannot start Slurm: $1" >&2
    tail -n 8 /run/*.log >&2
    exit 1
}

mkdir -p /run/munge /run/state /run/n1 /run/n2 /run/tmp-n1 /run/tmp-n2
(umask 077 && head -c 128 /dev/urandom >/run/munge.key)
munged --force --num-threads=2 --key-file=/run/munge.key --socket=/run/munge/socket \
    --pid-file=/run/munge.pid --seed-file=/run/munge.seed --log-file=/run/munge.log ||
    fail "munged"
cat >/run/slurm.conf <<'CONF'
ClusterName=hostwire
SlurmctldHost=fa(10.9.0.1)
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
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=fa NodeAddr=10.9.0.1 Port=17001 CPUs=8
NodeName=n2 NodeHostname=fb NodeAddr=10.9.0.2 Port=17002 CPUs=8
PartitionName=all Nodes=n1,n2 Default=YES State=UP OverSubscribe=FORCE:8
CONF
ulimit -c 0
slurmctld -D >/dev/null 2>&1 &
slurmd -D -N n1 >/dev/null 2>&1 &
nsenter --net=/run/netns/fb unshare --uts bash -c "hostname fb; exec slurmd -D -N n2" \
    >/dev/null 2>&1 &
for _ in {1..300}; do
    if [[ $(timeout 5 sinfo -h -o %t 2>/dev/null) == idle ]]; then
        "$@"
        exit
    fi
    sleep 0.1
done
fail "its nodes are not idle: $(timeout 5 sinfo -h 2>&1)"
