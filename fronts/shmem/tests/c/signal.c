/* Put with signal, for each type and size, and signals by themselves. */
#include "check.h"

enum { COUNT = 5, SLOT = 8 * 16, SLOTS = 8 };

static char *arena;
static char near[SLOT] __attribute__((aligned(16)));
static uint64_t *signals;
static shmem_ctx_t ctx;

static void clear(void)
{
    shmem_barrier_all();
    memset(arena, 0, SLOT * SLOTS);
    memset(signals, 0, SLOTS * sizeof *signals);
    shmem_barrier_all();
}

#define TEMPLATE "signal.inc"
#include "each_rma.h"
#undef TEMPLATE

#ifdef TYPED
#define TEMPLATE "signal_size.inc"
#include "each_size.h"
#undef TEMPLATE
#endif

static void only_signals(void)
{
    clear();
    shmem_signal_set(&signals[0], 5, right);
    shmem_ctx_signal_set(ctx, &signals[1], 6, right);
    CHECK(shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, 5) == 5);
    CHECK(shmem_signal_wait_until(&signals[1], SHMEM_CMP_GE, 6) == 6);
    CHECK(shmem_signal_fetch(&signals[0]) == 5);
    /* All PEs add to PE 0. */
    shmem_signal_add(&signals[2], 2, 0);
    shmem_ctx_signal_add(ctx, &signals[2], 1, 0);
    if (me == 0)
        CHECK(shmem_signal_wait_until(&signals[2], SHMEM_CMP_EQ, 3 * pes) == 3u * pes);
#ifdef GENERIC
    shmem_signal_set(ctx, &signals[3], 7, right);
    shmem_signal_wait_until(&signals[3], SHMEM_CMP_EQ, 7);
    shmem_signal_add(ctx, &signals[4], 8, right);
    shmem_signal_wait_until(&signals[4], SHMEM_CMP_EQ, 8);
#endif
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    meet();
    arena = (char *)symmetric(SLOT * SLOTS);
    signals = (uint64_t *)symmetric(SLOTS * sizeof *signals);
    CHECK(shmem_ctx_create(0, &ctx) == 0);
#define RUN(name, type) signals_of_##name();
    EACH_RMA(RUN)
#ifdef TYPED
#define RUN_SIZE(name, bytes) sized_##name();
    EACH_SIZE(RUN_SIZE)
    RUN_SIZE(mem, 1)
#endif
    only_signals();
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
