#!/bin/bash
# Two hosts on this machine, fa and fb: network namespaces with names of their own and a
# cable between them, and another one that is down. Runs COMMAND on fa, which reaches fb with the agent /run/agent; Open
# MPI and MPICH find the agent by themselves. All of it is in namespaces that end with it.
# Needs root.
#
#     hosts.sh COMMAND...
set -eu
PATH=$PATH:/usr/sbin:/sbin

if [[ -z ${HOSTS_INSIDE-} ]]; then
    export HOSTS_INSIDE=1
    exec unshare --mount --net --pid --fork --mount-proc --kill-child bash "$0" "$@"
fi
unset HOSTS_INSIDE

mount -t tmpfs -o mode=755 hostwire-hosts /run
for host in fa fb; do
    ip netns add "$host"
    ip -n "$host" link set lo up
done
ip link add wire netns fa type veth peer name wire netns fb
ip -n fa address add 10.9.0.1/24 dev wire
ip -n fb address add 10.9.0.2/24 dev wire
ip -n fa link set wire up
ip -n fb link set wire up
# Another cable, which a test may plug in.
ip link add spare netns fa type veth peer name spare netns fb
ip -n fa address add 10.8.0.1/24 dev spare
ip -n fb address add 10.8.0.2/24 dev spare
printf '127.0.0.1 localhost\n10.9.0.1 fa\n10.9.0.2 fb\n' >/run/hosts
mount --bind /run/hosts /etc/hosts

# In place of ssh: options, the host, then a command line for a shell.
cat >/run/agent <<'AGENT'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"
AGENT
chmod +x /run/agent

# Open MPI names its folders by host and process number, which are the same in every pair
# of hosts that this script makes: a folder of its own for each.
mkdir -m 1777 /run/tmp
export TMPDIR=/run/tmp OMPI_MCA_orte_tmpdir_base=/run/tmp
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=/run/agent OMPI_MCA_oob_tcp_if_include=10.9.0.0/24
export OMPI_MCA_hwloc_base_binding_policy=none
# The same of Open MPI 5.0, which starts processes by PRRTE.
export PRTE_MCA_plm_ssh_agent=/run/agent PRTE_MCA_prte_if_include=10.9.0.0/24
export PRTE_MCA_hwloc_default_binding_policy=none
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=/run/agent

ip netns exec fa unshare --uts bash -c 'hostname fa; "$@"' fa "$@"
