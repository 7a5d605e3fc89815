/* As programs were written before OpenSHMEM 1.4, in C and in C++: the header inside `extern "C"` and
 * from its old place, names with an underscore, work arrays that are static. */
#ifdef __cplusplus
extern "C" {
#endif
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <pshmem.h>
#ifdef __cplusplus
}
#endif
#include "check.h"

enum { COUNT = 4, PES = 16 };

static long sync_of_broadcasts[_SHMEM_BCAST_SYNC_SIZE], sync_of_sums[_SHMEM_REDUCE_SYNC_SIZE],
    sync_of_collects[_SHMEM_COLLECT_SYNC_SIZE], sync_of_barriers[_SHMEM_BARRIER_SYNC_SIZE];
static int work[_SHMEM_REDUCE_MIN_WRKDATA_SIZE], one, sum;
static long from[COUNT], to[COUNT * PES], shared;
static long flag, lock;
static int number;
static short small;

static void clean(long *array, int size)
{
    for (int i = 0; i < size; i++)
        array[i] = _SHMEM_SYNC_VALUE;
}

static void collectives(void)
{
    clean(sync_of_broadcasts, _SHMEM_BCAST_SYNC_SIZE);
    clean(sync_of_sums, _SHMEM_REDUCE_SYNC_SIZE);
    clean(sync_of_collects, _SHMEM_COLLECT_SYNC_SIZE);
    clean(sync_of_barriers, _SHMEM_BARRIER_SYNC_SIZE);
    one = me + 1;
    for (int i = 0; i < COUNT; i++)
        from[i] = 10L * me + i;
    shmem_barrier_all();
    shmem_int_sum_to_all(&sum, &one, 1, 0, 0, pes, work, sync_of_sums);
    CHECK(sum == pes * (pes + 1) / 2);
    shmem_barrier(0, 0, pes, sync_of_barriers);
    shmem_broadcast64(to, from, COUNT, 0, 0, 0, pes, sync_of_broadcasts);
    CHECK(me == 0 || to[COUNT - 1] == COUNT - 1);
    shmem_barrier(0, 0, pes, sync_of_barriers);
    shmem_fcollect64(to, from, COUNT, 0, 0, pes, sync_of_collects);
    for (int i = 0; i < COUNT * pes; i++)
        CHECK(to[i] == 10L * (i / COUNT) + i % COUNT);
}

static void waits(void)
{
    shmem_long_p(&flag, 1, right);
    shmem_long_wait(&flag, 0);
    shmem_wait(&flag, 0);
    shmem_wait_until(&flag, _SHMEM_CMP_EQ, 1);
    shmem_long_wait_until(&flag, _SHMEM_CMP_GE, 1);
    CHECK(shmem_long_test(&flag, _SHMEM_CMP_EQ, 1) == 1);
    shmem_int_p(&number, -1, right);
    shmem_int_wait_until(&number, _SHMEM_CMP_LT, 0);
    shmem_short_p(&small, 3, right);
    shmem_short_wait(&small, 0);
}

static void locks(void)
{
    for (int i = 0; i < 10; i++) {
        if (i % 2)
            shmem_set_lock(&lock);
        else
            while (shmem_test_lock(&lock))
                ;
        shmem_long_p(&shared, shmem_long_g(&shared, 0) + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&shared, 0) == 10L * pes);
}

int main(void)
{
    start_pes(0);
    meet();
    CHECK(pes <= PES && _my_pe() == me && _num_pes() == pes);
    collectives();
    waits();
    locks();
    long *word = (long *)shmalloc(sizeof *word);
    CHECK(word != NULL);
    *word = 0;
    shmem_barrier_all();
    shmem_long_inc(word, right);
    CHECK(shmem_long_finc(word, me) <= 1);
    shmem_barrier_all();
    CHECK(shmem_long_swap(word, 7, me) == 2 && shmem_long_cswap(word, 7, 8, me) == 7);
    shfree(word);
    return 0;
}
