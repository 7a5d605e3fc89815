#!/bin/sh
# The paper's experiment, for real: programs with too little local memory on this machine, with the rest of it
# swapped to disk, to compressed memory (zram), or borrowed by hostwire over each wire. Prints a table, and
# writes it with a plot to the folder in $1 (target/pgas-cluster).
#
#     cargo build --release && sudo experiments/pgas-cluster/real.sh
#
# A row that this machine cannot do says why. HOSTWIRE=PATH names another hostwire than that of target/release.
# LOCAL_MIB is the local memory, TIMEOUT_S the most that a run may take, SWAP_FOLDER a folder on the disk.
set -u
here=$(cd "$(dirname "$0")" && pwd)
hostwire=${HOSTWIRE:-$here/../../target/release/hostwire}
result=${1:-$here/../../target/pgas-cluster}
local_mib=${LOCAL_MIB:-128} limit_s=${TIMEOUT_S:-120}
cache_mib=$((local_mib / 2)) swap_mib=1024
elements=20000000 keys=20000000 touch_mib=256
swap_file=${SWAP_FOLDER:-/var/tmp}/hostwire-swap-$$
tmp=$(mktemp -d) group=hostwire-real-$$ lender= swap= zram= pool=
names="hw-real-$$-a hw-real-$$-b"

end() {
    [ -n "$lender" ] && kill "$lender" 2>/dev/null
    [ -n "$swap" ] && swapoff "$swap" 2>/dev/null
    if [ -n "$zram" ]; then
        swapoff "$zram" 2>/dev/null
        echo 1 >"/sys/block/${zram#/dev/}/reset"
    fi
    for name in $names; do ip netns del "$name" 2>/dev/null; done
    [ -d "$cgroup" ] && rmdir "$cgroup" 2>/dev/null
    rm -rf "$tmp" "$swap_file" "$pool"
}
cgroup=
trap end EXIT
trap 'exit 130' INT TERM

[ -x "$hostwire" ] || { echo "real.sh: no $hostwire: cargo build --release" >&2; exit 2; }
for program in stream sort touch; do
    ${CC:-cc} -O2 -pthread -o "$tmp/$program" "$here/real/$program.c" || exit 2
done

# A memory cgroup with $local_mib, of version 2 or 1.
make_group() {
    if grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
        echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
        cgroup=/sys/fs/cgroup/$group limit=memory.max
    else
        cgroup=/sys/fs/cgroup/memory/$group limit=memory.limit_in_bytes
    fi
    mkdir "$cgroup" 2>/dev/null && echo $((local_mib << 20)) >"$cgroup/$limit" 2>/dev/null
}

# row NAME COMMAND...: runs the three programs by the command, with the local memory.
row() {
    name=$1
    shift
    line=$(printf '%-20s' "$name")
    data=$name
    for program in "stream $elements" "sort $keys" "touch $touch_mib"; do
        # The shell enters the group, and becomes the command.
        printed=$(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group_of_row" \
            timeout "$limit_s" "$@" "$tmp/"$program 2>"$tmp/errors")
        status=$?
        case $status in
        0) ;;
        124) printed="> $limit_s" ;;
        *) printed="failed ($status: $(head -1 "$tmp/errors"))" ;;
        esac
        case $program in touch*) [ $status = 0 ] || printed="$printed - -" ;; esac
        line="$line | $printed"
        data="$data,$printed"
    done
    echo "$line"
    echo "$data" >>"$result/rows.csv"
}

# not NAME WHY
not() {
    printf '%-16s | not measured: %s\n' "$1" "$2"
}

start_lender() {
    "$@" &
    lender=$!
    sleep 1
}

stop_lender() {
    kill "$lender" 2>/dev/null
    wait "$lender" 2>/dev/null
    lender=
}

mkdir -p "$result"
: >"$result/rows.csv"
echo "local memory $local_mib MiB, of which hostwire borrow keeps $cache_mib MiB of pages; $(nproc) CPUs,"
echo "load $(cut -d' ' -f1 /proc/loadavg) before the runs. STREAM: mean seconds of a kernel, 460 MB. Sort: seconds, 320 MB."
echo "touch, 256 MiB: microseconds per page of a walk that reads, one that writes, and random reads."
mkdir "$tmp/none" && touch "$tmp/none/cgroup.procs" && group_of_row=$tmp/none
row "local"
printed=$("$tmp/touch" $touch_mib $cache_mib 2>&1) && echo "bare userfaultfd  |  |  | $printed"
echo "bare userfaultfd,,,$printed" >>"$result/rows.csv"

if ! make_group; then
    for name in "swap to disk" "swap to zram" "borrowed"; do
        not "$name" "no memory cgroup can be made here (root?)"
    done
    exit 0
fi
group_of_row=$cgroup

if truncate -s 0 "$swap_file" && dd if=/dev/zero of="$swap_file" bs=1M count=$swap_mib 2>/dev/null &&
    chmod 600 "$swap_file" && mkswap -q "$swap_file" >/dev/null && swapon "$swap_file" 2>"$tmp/errors"; then
    swap=$swap_file
    row "swap to disk"
    swapoff "$swap"
    swap=
else
    not "swap to disk" "$(head -1 "$tmp/errors" 2>/dev/null || echo no swap file can be made)"
fi
rm -f "$swap_file"

if zram=$(zramctl --find --size ${swap_mib}M 2>"$tmp/errors") && mkswap -q "$zram" >/dev/null && swapon "$zram" 2>"$tmp/errors"; then
    row "swap to zram"
    swapoff "$zram"
    echo 1 >"/sys/block/${zram#/dev/}/reset"
else
    not "swap to zram" "$(head -1 "$tmp/errors")"
fi
zram=

borrow="$hostwire borrow --memory 512M --pages move --cache ${cache_mib}M"
map="$hostwire borrow --memory 512M --pages map"
start_lender "$hostwire" lend --memory 1G --name "real-$$"
row "borrowed over shm" env HOSTWIRE_WIRE=shm $borrow --from "local:real-$$"
row "mapped over shm" env HOSTWIRE_WIRE=shm $map --from "local:real-$$"
# A region in a file of this machine's memory, for the pager and the lender.
pool=/dev/shm/hostwire-real-$$
if "$hostwire" window make "$pool,size=1280M,contract=coherent" >/dev/null 2>"$tmp/errors"; then
    row "borrowed over window" env HOSTWIRE_WIRE=window HOSTWIRE_WINDOW="$pool" $borrow --from "local:real-$$"
    row "mapped over window" env HOSTWIRE_WIRE=window HOSTWIRE_WINDOW="$pool" $map --from "local:real-$$"
else
    not "borrowed over window" "$(head -1 "$tmp/errors")"
fi
rm -f "$pool"
stop_lender

# Two hosts made of this machine.
a=${names% *} b=${names#* }
if ip netns add "$a" 2>"$tmp/errors" && ip netns add "$b" 2>"$tmp/errors"; then
    ip link add e0 netns "$a" type veth peer name e0 netns "$b"
    ip -n "$a" addr add 10.98.0.1/24 dev e0
    ip -n "$b" addr add 10.98.0.2/24 dev e0
    for name in $names; do ip -n "$name" link set e0 up; done
    "$hostwire" lend --new-key "$tmp/key"
    start_lender ip netns exec "$b" "$hostwire" lend --memory 1G --listen 10.98.0.2:7700 --key "$tmp/key"
    for wire in xdp ether udp; do
        row "borrowed over $wire" env HOSTWIRE_WIRE=$wire ip netns exec "$a" \
            $borrow --from 10.98.0.2:7700 --key "$tmp/key"
    done
    # Not encrypted. The buffers of libfabric take 70 to 90 MiB of the local memory.
    row "borrowed over fabric" env HOSTWIRE_WIRE=fabric HOSTWIRE_FABRIC="tcp;ofi_rxm" HOSTWIRE_INSECURE_WIRE=1 \
        ip netns exec "$a" "$hostwire" borrow --memory 512M --cache $((cache_mib / 4))M \
        --from 10.98.0.2:7700 --key "$tmp/key"
    stop_lender
else
    not "borrowed over a network" "$(head -1 "$tmp/errors")"
fi

python3 "$here/real/plot.py" "$result/rows.csv" >"$result/plot.svg" 2>"$tmp/errors" &&
    echo "plot: $result/plot.svg" || echo "no plot: $(tail -1 "$tmp/errors")"
