#!/bin/bash
# Two hosts on this machine, fa and fb: network namespaces with names of their own and a
# cable between them. Runs COMMAND on fa, which reaches fb with the agent /run/agent. Like
# slurm.sh it runs as the first process of namespaces that take everything along.
#
#     hosts.sh COMMAND...
set -eu
PATH=$PATH:/usr/sbin:/sbin

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
printf '127.0.0.1 localhost\n10.9.0.1 fa\n10.9.0.2 fb\n' >/run/hosts
mount --bind /run/hosts /etc/hosts

# Open MPI names its folders by host and process number, which are the same in every pair
# of hosts that this script makes: a folder of its own for each.
mkdir -m 1777 /run/tmp
export TMPDIR=/run/tmp OMPI_MCA_orte_tmpdir_base=/run/tmp

# In place of ssh: options, the host, then a command line for a shell.
cat >/run/agent <<'AGENT'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"
AGENT
chmod +x /run/agent

ip netns exec fa unshare --uts bash -c 'hostname fa; "$@"' fa "$@"
