# Sourced by the scripts beside it: one run of ucx_perftest between CPUs 0 and 1.
export UCX_TLS=${UCX_TLS:-posix,self} UCX_WARN_UNUSED_ENV_VARS=n

# test, bytes, iterations -> the last line of the run. Its columns from behind: overall rate, average
# rate, overall MB/s, average MB/s, overall latency in us.
perftest() {
    # It would wait for ever for a client that fails.
    timeout 60 taskset -c 1 ucx_perftest -p 13999 >/dev/null 2>&1 &
    local server=$!
    sleep 0.3
    timeout 60 taskset -c 0 ucx_perftest 127.0.0.1 -p 13999 -t "$1" -s "$2" -n "$3" -w 10000 -f 2>/dev/null |
        grep -vE '^\s*$|\+|\||Final' | tail -1
    wait "$server" || true
}
