/* Collective operations that differ between PEs: the first argument says which. PE 0 calls one thing,
 * the others another. The driver knows the expected report. */
#include "check.h"

static int ints[64], results[64];
static long longs[64], long_results[64];
static long sync_a[SHMEM_SYNC_SIZE], sync_b[SHMEM_SYNC_SIZE];
static int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

#define DO(name, first, second) \
    static void name(void) \
    { \
        if (me == 0) \
            first; \
        else \
            second; \
    }
#define WORLD SHMEM_TEAM_WORLD
#define SET 0, 0, pes

DO(operation, shmem_int_sum_reduce(WORLD, results, ints, 1),
   shmem_int_max_reduce(WORLD, results, ints, 1))
DO(long_operation, shmem_int_sum_reduce(WORLD, results, ints, 60),
   shmem_int_prod_reduce(WORLD, results, ints, 60))
DO(type, shmem_int_sum_reduce(WORLD, results, ints, 1),
   shmem_uint_sum_reduce(WORLD, (unsigned *)results, (unsigned *)ints, 1))
DO(wide_type, shmem_int_sum_reduce(WORLD, results, ints, 2),
   shmem_long_sum_reduce(WORLD, (long *)results, longs, 1))
DO(count, shmem_int_sum_reduce(WORLD, results, ints, 1),
   shmem_int_sum_reduce(WORLD, results, ints, 2))
DO(place, shmem_int_sum_reduce(WORLD, results, ints, 1),
   shmem_int_sum_reduce(WORLD, results + 1, ints, 1))
DO(root, shmem_int_broadcast(WORLD, results, ints, 1, 0),
   shmem_int_broadcast(WORLD, results, ints, 1, 1))
DO(kind, shmem_int_broadcast(WORLD, results, ints, 1, 0),
   shmem_int_fcollect(WORLD, results, ints, 1))
DO(scan, shmem_int_sum_inscan(WORLD, results, ints, 1),
   shmem_int_sum_exscan(WORLD, results, ints, 1))
DO(collect_type, shmem_int_collect(WORLD, results, ints, 1),
   shmem_long_collect(WORLD, (long *)results, longs, 1))
DO(strides, shmem_int_alltoalls(WORLD, results, ints, 1, 1, 1),
   shmem_int_alltoalls(WORLD, results, ints, 1, 2, 1))
DO(barrier, shmem_barrier_all(), shmem_sync_all())
DO(set_operation, shmem_int_sum_to_all(results, ints, 1, SET, work, sync_a),
   shmem_int_max_to_all(results, ints, 1, SET, work, sync_a))
DO(set_type, shmem_int_sum_to_all(results, ints, 1, SET, work, sync_a),
   shmem_long_sum_to_all(long_results, longs, 1, SET, longs + 8, sync_a))
DO(set_count, shmem_int_sum_to_all(results, ints, 1, SET, work, sync_a),
   shmem_int_sum_to_all(results, ints, 2, SET, work, sync_a))
DO(set_size, shmem_broadcast32(results, ints, 2, 0, SET, sync_a),
   shmem_broadcast64(results, ints, 2, 0, SET, sync_a))
DO(set_root, shmem_broadcast32(results, ints, 2, 0, SET, sync_a),
   shmem_broadcast32(results, ints, 2, 1, SET, sync_a))
DO(set_kind, shmem_collect32(results, ints, 2, SET, sync_a),
   shmem_fcollect32(results, ints, 2, SET, sync_a))
DO(set_alltoall, shmem_alltoall32(results, ints, 2, SET, sync_a),
   shmem_alltoall32(results, ints, 1, SET, sync_a))
DO(set_strides, shmem_alltoalls32(results, ints, 1, 1, 2, SET, sync_a),
   shmem_alltoalls32(results, ints, 2, 1, 2, SET, sync_a))
DO(set_barrier, shmem_barrier(SET, sync_a), shmem_sync(SET, sync_a))
DO(set_psync, shmem_barrier(SET, sync_a), shmem_barrier(SET, sync_b))

/* Two names of one type: a macro may choose either. */
DO(same_type, shmem_int_sum_reduce(WORLD, results, ints, 1),
   shmem_int32_sum_reduce(WORLD, results, ints, 1))

/* An invalid team, and a root that does not exist: an error value, and a report. */
static void invalid_team(void)
{
    shmem_team_t team = SHMEM_TEAM_INVALID, made;
    CHECK(shmem_int_sum_reduce(team, results, ints, 1) != 0);
    CHECK(shmem_int_broadcast(team, results, ints, 1, 0) != 0);
    CHECK(shmem_int_collect(team, results, ints, 1) != 0);
    CHECK(shmem_fcollectmem(team, results, ints, 1) != 0);
    CHECK(shmem_alltoallmem(team, results, ints, 1) != 0);
    CHECK(shmem_int_alltoalls(team, results, ints, 1, 1, 1) != 0);
    CHECK(shmem_int_sum_inscan(team, results, ints, 1) != 0);
    CHECK(shmem_team_sync(team) != 0);
    CHECK(shmem_int_broadcast(WORLD, results, ints, 1, pes) != 0);
    CHECK(shmem_team_split_strided(WORLD, 0, 1, pes, NULL, 0, &made) == 0);
    shmem_team_destroy(made);
    CHECK(shmem_long_sum_reduce(made, longs + 1, longs, 1) != 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } ways[] = {
#define WAY(name) {#name, name}
        WAY(operation), WAY(long_operation), WAY(type), WAY(wide_type), WAY(count), WAY(place),
        WAY(root), WAY(kind), WAY(scan), WAY(collect_type), WAY(strides), WAY(barrier),
        WAY(set_operation), WAY(set_type), WAY(set_count), WAY(set_size), WAY(set_root),
        WAY(set_kind), WAY(set_alltoall), WAY(set_strides), WAY(set_barrier), WAY(set_psync),
        WAY(same_type), WAY(invalid_team),
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) {
            shmem_init();
            meet();
            ways[i].make();
            shmem_finalize();
            return 0;
        }
    return 3;
}
