/* Locks: exclusive, given to everybody, and in the static memory of a program. */
#include "check.h"

static long lock, second;
static long counter, inside, turns[64];

int main(void)
{
    enum { TIMES = 200 };
    shmem_init();
    meet();
    for (int i = 0; i < TIMES; i++) {
        shmem_set_lock(&lock);
        /* No other PE is here, and the writes of the last holder are visible. */
        CHECK(shmem_long_g(&inside, 0) == 0);
        shmem_long_p(&inside, 1, 0);
        long value = shmem_long_g(&counter, 0);
        shmem_long_p(&counter, value + 1, 0);
        shmem_quiet();
        shmem_long_p(&inside, 0, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    if (me == 0)
        CHECK(counter == (long)TIMES * pes);
    /* Exactly one PE gets it by a test. */
    shmem_barrier_all();
    long got = shmem_test_lock(&second) == 0;
    shmem_long_p(&turns[me], got, 0);
    shmem_barrier_all();
    if (me == 0) {
        long holders = 0;
        for (int pe = 0; pe < pes; pe++)
            holders += turns[pe];
        CHECK(holders == 1);
    }
    if (!got)
        CHECK(shmem_test_lock(&second) == 1);
    shmem_barrier_all();
    if (got)
        shmem_clear_lock(&second);
    shmem_barrier_all();
    /* The lock is fair: while other PEs want it, each one gets it at last. */
    memset(turns, 0, sizeof turns);
    shmem_barrier_all();
    for (int i = 0; i < 50; i++) {
        shmem_set_lock(&second);
        turns[0]++;
        shmem_clear_lock(&second);
    }
    CHECK(turns[0] == 50);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
