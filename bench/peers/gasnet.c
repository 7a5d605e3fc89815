/* Times the operations of bench/shmem/shmem.c that GASNet-EX has. Prints the same lines, "NAME
 * NANOSECONDS", medians of as many rounds, for two processes of smp-conduit on CPUs of their own.
 * Puts and gets block until they are done, as shmem_put with shmem_quiet, or shmem_get, does. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include <gasnetex.h>
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>

static void barrier(void);
#define BARRIER() barrier()
#include "../timing.h"

enum { LARGE = 4 << 20, SEGMENT = 16 << 20 };

static gex_TM_t team;

static void barrier(void)
{
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

int main(int argc, char **argv)
{
    gex_Client_t client;
    gex_EP_t endpoint;
    gex_Segment_t segment;
    if (gex_Client_Init(&client, &endpoint, &team, "peers", &argc, &argv, 0) != GASNET_OK
        || gex_Segment_Attach(&segment, team, SEGMENT) != GASNET_OK)
        return 1;
    int me = (int)gex_TM_QueryRank(team), peer = 1 - me;
    if (gex_TM_QuerySize(team) != 2)
        return 1;
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET(me, &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);

    void *base[2];
    for (int rank = 0; rank < 2; rank++)
        gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &base[rank], NULL, NULL, 0));
    /* Addresses that differ in their low 12 bits, as in shmem.c. */
    char *there = base[peer];
    char *here = (char *)base[me] + LARGE + 4096 + 17 * 64;
    uint64_t *word = (uint64_t *)((char *)base[peer] + 3 * LARGE + 2176);
    volatile uint64_t *flag = (volatile uint64_t *)((char *)base[me] + 3 * LARGE + 8192);
    void *their_flag = (char *)base[peer] + 3 * LARGE + 8192;
    memset(base[me], 1, SEGMENT);
    *flag = 0;
    gex_AD_t atomics;
    gex_OP_t used = GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_SET | GEX_OP_GET;
    gex_AD_Create(&atomics, team, GEX_DT_U64, used, 0);
    barrier();

    long most = getenv("BENCH_SHORT") ? 16384 : LARGE;
    TIME("p", 1000000, 0, gex_RMA_PutBlockingVal(team, peer, word, (gex_RMA_Value_t)i, 8, 0));
    TIME("put64-1", 1000000, 0, gex_RMA_PutBlocking(team, peer, word, here, 8, 0));
    for (long bytes = 64; bytes <= most; bytes *= bytes < 4096 ? 2 : 4) {
        char name[32];
        long times = bytes < 4096 ? 500000 : (1L << 28) / bytes;
        snprintf(name, sizeof name, "putmem-%ld", bytes);
        TIME(name, times, 0, gex_RMA_PutBlocking(team, peer, there, here, (size_t)bytes, 0));
    }
    volatile uint64_t sink;
    TIME("g", 500000, 0, sink = gex_RMA_GetBlockingVal(team, peer, word, 8, 0));
    TIME("get64-1", 500000, 0, gex_RMA_GetBlocking(team, here, peer, word, 8, 0));
    TIME("getmem-64", 500000, 0, gex_RMA_GetBlocking(team, here, peer, there, 64, 0));
    TIME("getmem-256", 500000, 0, gex_RMA_GetBlocking(team, here, peer, there, 256, 0));
    TIME("getmem-4096", 100000, 0, gex_RMA_GetBlocking(team, here, peer, there, 4096, 0));
    if (most == LARGE)
        TIME("getmem-1048576", 500, 0, gex_RMA_GetBlocking(team, here, peer, there, 1 << 20, 0));
    uint64_t old;
    TIME("fetch-add", 200000, 0,
         gex_Event_Wait(gex_AD_OpNB_U64(atomics, &old, peer, word, GEX_OP_FADD, 1, 0, 0));
         sink = old);
    TIME("compare-swap", 200000, 0,
         gex_Event_Wait(gex_AD_OpNB_U64(atomics, &old, peer, word, GEX_OP_FCAS, i, i + 1, 0));
         sink = old);
    (void)sink;
    if (most < LARGE) {
        fflush(stdout);
        gasnet_exit(0);
    }
    TIME("barrier_all", 20000, 1, barrier());
    int64_t *source = (int64_t *)here, *dest = (int64_t *)base[me];
#define BROADCAST(bytes) \
    gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, dest, source, (bytes), 0))
#define REDUCE(n) \
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, dest, source, GEX_DT_I64, 8, (n), GEX_OP_ADD, \
                                          NULL, NULL, 0))
    TIME("broadcast-8B", 10000, 1, BROADCAST(8));
    TIME("broadcast-64K", 1000, 1, BROADCAST(64 << 10));
    TIME("reduce-8B", 10000, 1, REDUCE(1));
    TIME("reduce-64K", 500, 1, REDUCE((64 << 10) / 8));

    /* Half of a round trip of 8 bytes; the other side detects the arrival by a second put. */
    double rounds[ROUNDS];
    uint64_t count = 0;
    barrier();
    *flag = 0;
    for (int round = 0; round < ROUNDS; round++) {
        barrier();
        double begin = now_ns();
        for (long i = 0; i < 20000; i++) {
            count++;
            for (int turn = 0; turn < 2; turn++) {
                if (turn == me) {
                    gex_RMA_PutBlocking(team, peer, there, here, 8, 0);
                    gex_RMA_PutBlockingVal(team, peer, their_flag, count, 8, 0);
                } else {
                    GASNET_BLOCKUNTIL(*flag == count);
                }
            }
        }
        rounds[round] = (now_ns() - begin) / 40000;
    }
    sort(rounds, ROUNDS);
    if (me == 0)
        printf("put-signal-ping-pong %.2f\n", rounds[ROUNDS / 2]);
    barrier();
    fflush(stdout);
    gasnet_exit(0);
    return 0;
}
