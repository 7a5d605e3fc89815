#!/bin/bash
# N hosts on this machine, h1 to hN, each with an sshd: network namespaces with names of their own, and a switch between
# them. Runs COMMAND on h1. HOSTWIRE_SSH reaches the others there, without a question. All of it is in namespaces that end
# with it. Needs root.
#
#     hosts.sh N COMMAND...
#
# In its path are `cable hK down`, which pulls a cable, and `on hK COMMAND`, which runs something on a host without ssh.
# /run/ssh has the keys and settings of ssh, and in sshd.hK the number of the process of each sshd.
set -eu
PATH=$PATH:/usr/sbin:/sbin

if [[ -z ${HOSTS_INSIDE-} ]]; then
    export HOSTS_INSIDE=1
    exec unshare --mount --net --pid --fork --mount-proc --kill-child bash "$0" "$@"
fi
unset HOSTS_INSIDE
count=$1
shift

mount -t tmpfs -o mode=755 hostwire-hosts /run
mkdir -p /run/ssh /run/sshd
cd /run/ssh
ssh-keygen -q -t ed25519 -N '' -f host
ssh-keygen -q -t ed25519 -N '' -f user
cp user.pub authorized
ip netns add hub
ip -n hub link add switch type bridge
ip -n hub link set switch up
printf '127.0.0.1 localhost\n' >names
cat >config <<'END'
IdentityFile /run/ssh/user
IdentitiesOnly yes
UserKnownHostsFile /run/ssh/known
GlobalKnownHostsFile /dev/null
END
cat >sshd_config <<'END'
HostKey /run/ssh/host
AuthorizedKeysFile /run/ssh/authorized
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication yes
MaxStartups 100
END
for ((k = 1; k <= count; k++)); do
    host=h$k
    ip netns add "$host"
    ip -n "$host" link set lo up
    ip link add wire netns "$host" type veth peer name "$host" netns hub
    ip -n "$host" address add "10.9.0.$k/24" dev wire
    ip -n "$host" address add "fd09::$k/64" dev wire nodad
    ip -n "$host" link set wire up
    ip -n hub link set "$host" master switch up
    echo "10.9.0.$k $host" >>names
    echo "$host,10.9.0.$k,fd09::$k $(cut -d' ' -f1,2 host.pub)" >>known
done
mount --bind names /etc/hosts

cat >on <<'END'
#!/bin/bash
host=$1
shift
exec ip netns exec "$host" unshare --uts bash -c 'hostname "$0"; exec "$@"' "$host" "$@"
END
cat >cable <<'END'
#!/bin/bash
exec ip -n hub link set "$1" "$2"
END
chmod +x on cable
for ((k = 2; k <= count; k++)); do
    ./on "h$k" /usr/sbin/sshd -D -e -f /run/ssh/sshd_config 2>"log.h$k" &
    echo "$!" >"sshd.h$k"
done
for ((k = 2; k <= count; k++)); do
    until grep -qs listening "log.h$k"; do sleep 0.01; done
done
export HOSTWIRE_SSH='ssh -F /run/ssh/config' PATH=/run/ssh:$PATH
cd "$OLDPWD"
on h1 "$@"
