/* Every atomic: each type, fetching or not, nonblocking or not, with and without a context. */
#include "check.h"

static char *words;
static shmem_ctx_t ctx;

/* Sets this PE's word while no PE operates on it. */
#define SET(value) \
    do { \
        shmem_barrier_all(); \
        *(TYPE *)words = (TYPE)(value); \
        shmem_barrier_all(); \
    } while (0)
#define IS(value) \
    do { \
        shmem_ctx_quiet(ctx); \
        shmem_barrier_all(); \
        HOLDS(*(TYPE *)words == (TYPE)(value)); \
        shmem_barrier_all(); \
    } while (0)

#define TEMPLATE "atomic_extended.inc"
#include "each_amo_extended.h"
#undef TEMPLATE
#define TEMPLATE "atomic.inc"
#include "each_amo.h"
#undef TEMPLATE
#define TEMPLATE "atomic_bitwise.inc"
#include "each_amo_bitwise.h"
#undef TEMPLATE
#define TEMPLATE "atomic_extended_old.inc"
#include "each_amo_extended_old.h"
#undef TEMPLATE
#define TEMPLATE "atomic_old.inc"
#include "each_amo_old.h"
#undef TEMPLATE

int main(void)
{
    shmem_init();
    meet();
    words = (char *)symmetric(64);
    CHECK(shmem_ctx_create(0, &ctx) == 0);
#define RUN_EXTENDED(name, type) extended_##name();
    EACH_AMO_EXTENDED(RUN_EXTENDED)
#define RUN(name, type) standard_##name(); contended_##name();
    EACH_AMO(RUN)
#define RUN_BITWISE(name, type) bitwise_##name();
    EACH_AMO_BITWISE(RUN_BITWISE)
#define RUN_EXTENDED_OLD(name, type) extended_old_##name();
    EACH_AMO_EXTENDED_OLD(RUN_EXTENDED_OLD)
#define RUN_OLD(name, type) standard_old_##name();
    EACH_AMO_OLD(RUN_OLD)
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
