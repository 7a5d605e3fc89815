/* Every put and get: each type and size, with and without a context. */
#include "check.h"

enum { COUNT = 5, SLOT = 40 * 16, SLOTS = 24 };

/* Slots for what arrives, and one whose contents others fetch. */
static char *arena, *home;
static char near[SLOT] __attribute__((aligned(16)));
static shmem_ctx_t ctx;

static void clear(void)
{
    shmem_barrier_all();
    memset(arena, 0, SLOT * SLOTS);
    shmem_barrier_all();
}

static void settle(void)
{
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

#define TEMPLATE "rma.inc"
#include "each_rma.h"
#undef TEMPLATE

#ifdef TYPED
#define TEMPLATE "rma_size.inc"
#include "each_size.h"
#undef TEMPLATE
#endif

int main(void)
{
    shmem_init();
    meet();
    arena = (char *)symmetric(SLOT * SLOTS);
    home = (char *)symmetric(SLOT);
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
#define RUN(name, type) puts_of_##name(); gets_of_##name();
    EACH_RMA(RUN)
#ifdef TYPED
#define RUN_SIZE(name, bytes) sized_##name();
    EACH_SIZE(RUN_SIZE)
    RUN_SIZE(mem, 1)
#endif
    shmem_ctx_destroy(ctx);
    shmem_free(home);
    shmem_free(arena);
    shmem_finalize();
    return 0;
}
