/* Half the round trip of a word between two PEs, by the clock of the C library. */
#include "check.h"

enum { ROUNDS = 100 };

static long word;

static double now_ns(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(void)
{
    shmem_init();
    meet();
    shmem_barrier_all();
    double before = now_ns();
    for (long i = 1; i <= ROUNDS; i++) {
        if (me == 0)
            shmem_long_p(&word, i, right);
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, i);
        if (me == 1)
            shmem_long_p(&word, i, left);
    }
    double took = now_ns() - before;
    if (me == 0)
        printf("half round trip %.3f ns\n", took / ROUNDS / 2);
    shmem_finalize();
    return 0;
}
