#!/usr/bin/env bash
# Times the operations of bench/shmem/shmem.c that ucx_perftest has. Prints the same lines, "NAME
# NANOSECONDS". Puts by their rate, all others by their latency; between CPUs 0 and 1, over shared
# memory.
set -euo pipefail
. "$(dirname "$0")/perftest.sh"

by_rate() { perftest "$2" "$3" "$4" | awk -v name="$1" 'NF > 5 { printf "%s %.2f\n", name, 1e9 / $NF }'; }
by_latency() { perftest "$2" "$3" "$4" | awk -v name="$1" 'NF > 5 { printf "%s %.2f\n", name, $(NF - 4) * 1000 }'; }

by_rate put64-1 ucp_put_bw 8 3000000
by_rate putmem-64 ucp_put_bw 64 3000000
by_rate putmem-1024 ucp_put_bw 1024 1000000
by_rate putmem-4096 ucp_put_bw 4096 500000
by_rate putmem-65536 ucp_put_bw 65536 30000
by_rate putmem-1048576 ucp_put_bw 1048576 2000
by_rate putmem-4194304 ucp_put_bw 4194304 500
by_latency get64-1 ucp_get 8 1000000
by_latency getmem-64 ucp_get 64 1000000
by_latency getmem-4096 ucp_get 4096 300000
by_latency getmem-1048576 ucp_get 1048576 2000
by_latency fetch-add ucp_fadd 8 1000000
by_latency compare-swap ucp_cswap 8 1000000
by_latency put-ping-pong ucp_put_lat 8 300000
