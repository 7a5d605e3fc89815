/* Every reduction and scan: each type, on the world and on a team that skips PEs, in place and
 * not, and on active sets. */
#include "check.h"

#include <math.h>

enum { COUNT = 4, BYTES = COUNT * 16 };

static char *from, *to;
static long *psync;
static char *pwrk;
static shmem_team_t world, evens;

#define TEMPLATE "reduce_bits.inc"
#include "each_reduce_bits.h"
#undef TEMPLATE
#define TEMPLATE "reduce_order.inc"
#include "each_reduce_order.h"
#undef TEMPLATE
#define TEMPLATE "reduce_arithmetic.inc"
#include "each_reduce_arithmetic.h"
#undef TEMPLATE
#ifdef TYPED
#define TEMPLATE "reduce_bits_old.inc"
#include "each_reduce_bits_old.h"
#undef TEMPLATE
#define TEMPLATE "reduce_order_old.inc"
#include "each_reduce_order_old.h"
#undef TEMPLATE
#define TEMPLATE "reduce_arithmetic_old.inc"
#include "each_reduce_arithmetic_old.h"
#undef TEMPLATE
#endif

/* Sums of numbers of very different size: the same bits on all PEs and in every repetition. */
static void is_repeatable(void)
{
    double *source = (double *)from, *dest = (double *)to, first = 0, *all;
    all = (double *)symmetric((size_t)pes * sizeof *all);
    for (int i = 0; i < 20; i++) {
        shmem_barrier_all();
        source[0] = (me % 2 ? -1.0 : 1.0) / (me + 3) * (me % 3 ? 1e16 : 1e-3);
        if (me == i % pes)
            pause_ms(1);
        CHECK(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0);
        CHECK(i == 0 || memcmp(&first, dest, sizeof first) == 0);
        first = dest[0];
    }
    CHECK(shmem_double_fcollect(SHMEM_TEAM_WORLD, all, dest, 1) == 0);
    for (int pe = 0; pe < pes; pe++)
        CHECK(memcmp(&all[pe], dest, sizeof first) == 0);
    shmem_free(all);
}

/* A NaN of any PE is the least and the greatest, and -0 is less than 0. */
#define FLOATS(name, type) \
    static void floats_##name(void) \
    { \
        type *source = (type *)from, *dest = (type *)to; \
        for (int pe = 0; pe < pes; pe++) { \
            shmem_barrier_all(); \
            source[0] = me == pe ? (type)NAN : 1; \
            source[1] = me == pe ? (type)-0.0 : 0; \
            CHECK(shmem_##name##_min_reduce(world, dest, source, 2) == 0); \
            CHECK(isnan(dest[0]) && signbit(dest[1])); \
            shmem_barrier_all(); \
            CHECK(shmem_##name##_max_reduce(world, dest, source, 2) == 0); \
            CHECK(isnan(dest[0]) && !!signbit(dest[1]) == (pes == 1)); \
        } \
    }
FLOATS(float, float)
FLOATS(double, double)
FLOATS(longdouble, long double)

int main(void)
{
    shmem_init();
    meet();
    from = (char *)symmetric(BYTES);
    to = (char *)symmetric(BYTES);
    pwrk = (char *)symmetric(16 * (COUNT / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE));
    psync = (long *)symmetric(2 * SHMEM_REDUCE_SYNC_SIZE * sizeof *psync);
    for (int i = 0; i < 2 * SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    world = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(world, 0, 2, (pes + 1) / 2, NULL, 0, &evens) == 0);
#define RUN_BITS(name, type) bits_##name(world); bits_##name(evens);
    EACH_REDUCE_BITS(RUN_BITS)
#define RUN_ORDER(name, type) order_##name(world); order_##name(evens);
    EACH_REDUCE_ORDER(RUN_ORDER)
#define RUN_ARITHMETIC(name, type) arithmetic_##name(world); arithmetic_##name(evens);
    EACH_REDUCE_ARITHMETIC(RUN_ARITHMETIC)
#ifdef TYPED
#define RUN_BITS_OLD(name, type) bits_old_##name();
    EACH_REDUCE_BITS_OLD(RUN_BITS_OLD)
#define RUN_ORDER_OLD(name, type) order_old_##name();
    EACH_REDUCE_ORDER_OLD(RUN_ORDER_OLD)
#define RUN_ARITHMETIC_OLD(name, type) arithmetic_old_##name();
    EACH_REDUCE_ARITHMETIC_OLD(RUN_ARITHMETIC_OLD)
#endif
    is_repeatable();
    floats_float();
    floats_double();
    floats_longdouble();
    shmem_team_destroy(evens);
    shmem_finalize();
    return 0;
}

