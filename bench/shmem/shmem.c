/* Times OpenSHMEM operations between two PEs: one line "NAME NANOSECONDS" each, the median of
 * several rounds. Any implementation of 1.4 or newer compiles it; where there are no teams or
 * put-with-signal yet, the older routines for the same work are timed. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define BARRIER() shmem_barrier_all()
#define FINISH() shmem_quiet()
#include "../timing.h"

#if !defined(SHMEM_MINOR_VERSION)
#define SHMEM_MINOR_VERSION _SHMEM_MINOR_VERSION
#endif
#define HAS_TEAMS (SHMEM_MINOR_VERSION >= 5)

enum { LARGE = 4 << 20, LONGS = (64 << 10) / 8 };

static long psync[4][256];
#if !HAS_TEAMS
static long pwrk[LONGS];
#endif
static char *remote, *local;
static long *word, *flag;
static int me, pes, peer;

static void collectives(void)
{
    long *source = (long *)local, *dest = (long *)remote;
#if HAS_TEAMS
#define BROADCAST(n) shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, n, 0)
#define REDUCE(n) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n)
#define ALLTOALL(n) shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, n)
#else
    /* Work arrays in turn, so that no synchronisation is needed between two calls. */
#define BROADCAST(n) shmem_broadcast64(dest, source, n, 0, 0, 0, pes, psync[i % 4])
#define REDUCE(n) shmem_long_sum_to_all(dest, source, n, 0, 0, pes, pwrk, psync[i % 4])
#define ALLTOALL(n) shmem_alltoall64(dest, source, n, 0, 0, pes, psync[i % 4])
#endif
    TIME("barrier_all", 20000, 1, shmem_barrier_all());
    TIME("sync_all", 20000, 1, shmem_sync_all());
    TIME("broadcast-8B", 10000, 1, BROADCAST(1));
    TIME("broadcast-64K", 1000, 1, BROADCAST(LONGS));
    TIME("reduce-8B", 10000, 1, REDUCE(1));
    TIME("reduce-64K", 500, 1, REDUCE(LONGS));
    TIME("alltoall-8B", 10000, 1, ALLTOALL(1));
    TIME("alltoall-64K", 1000, 1, ALLTOALL(LONGS / 2));
}

/* Half of a round trip of 8 bytes whose arrival the other PE sees by a signal. */
static void ping_pong(void)
{
    if (pes != 2)
        return;
    uint64_t *signal = (uint64_t *)flag, count = *signal;
    double rounds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        shmem_barrier_all();
        double begin = now_ns();
        for (long i = 0; i < 20000; i++) {
            count++;
            for (int turn = 0; turn < 2; turn++) {
                if (turn == me) {
#if HAS_TEAMS
                    shmem_putmem_signal(remote, local, 8, signal, count, SHMEM_SIGNAL_SET, peer);
#else
                    shmem_putmem(remote, local, 8, peer);
                    shmem_fence();
                    shmem_long_p(flag, (long)count, peer);
#endif
                } else {
                    shmem_long_wait_until(flag, SHMEM_CMP_EQ, (long)count);
                }
            }
        }
        rounds[round] = (now_ns() - begin) / 40000;
    }
    sort(rounds, ROUNDS);
    if (me == 0)
        printf("put-signal-ping-pong %.2f\n", rounds[ROUNDS / 2]);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    peer = (me + 1) % pes;
    remote = (char *)shmem_malloc(LARGE);
    local = (char *)shmem_align(4096, LARGE + 4096);
    word = (long *)shmem_align(4096, 4096);
    flag = (long *)shmem_align(64, 64);
    if (!remote || !local || !word || !flag)
        shmem_global_exit(1);
    /* On many CPUs a load waits for an older store to an address that agrees with its own in the low
     * 12 bits. That is not to be measured: let them differ, as in bare.c. */
    local += 17 * 64;
    word += 2176 / sizeof *word;
    memset(remote, 1, LARGE);
    memset(local, 2, LARGE);
    *word = *flag = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 256; k++)
            psync[i][k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();

    volatile long sink;
    /* In registers, as in bare.c: otherwise a load in front of each call would be timed, too. */
    long *const at = word;
    char *const there = remote, *const here = local;
    const int to = peer;
    /* Only short operations. */
    long most = getenv("BENCH_SHORT") ? 16384 : LARGE;
    TIME("p", 1000000, 0, shmem_long_p(at, i, to));
    TIME("put64-1", 1000000, 0, shmem_put64(at, here, 1, to));
    for (long bytes = 64; bytes <= most; bytes *= bytes < 4096 ? 2 : 4) {
        char name[32];
        long times = bytes < 4096 ? 500000 : (1L << 28) / bytes;
        snprintf(name, sizeof name, "putmem-%ld", bytes);
        TIME(name, times, 0, shmem_putmem(there, here, (size_t)bytes, to));
    }
    TIME("g", 500000, 0, sink = shmem_long_g(at, to));
    TIME("get64-1", 500000, 0, shmem_get64(here, at, 1, to));
    TIME("getmem-64", 500000, 0, shmem_getmem(here, there, 64, to));
    TIME("getmem-256", 500000, 0, shmem_getmem(here, there, 256, to));
    TIME("getmem-4096", 100000, 0, shmem_getmem(here, there, 4096, to));
    if (most == LARGE)
        TIME("getmem-1048576", 500, 0, shmem_getmem(here, there, 1 << 20, to));
    TIME("fetch-add", 200000, 0, sink = shmem_long_atomic_fetch_add(at, 1, to));
    TIME("compare-swap", 200000, 0, sink = shmem_long_atomic_compare_swap(at, i, i + 1, to));
    (void)sink;
    if (most == LARGE) {
        collectives();
        ping_pong();
    }
    shmem_finalize();
    return 0;
}
