/* A histogram that is spread over all PEs and filled by all at once, by atomics. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS_PER_PE = 1000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    long values = argc > 1 ? atol(argv[1]) : 100000;
    uint64_t state = 88172645463325252u + (uint64_t)me;

    long *buckets = shmem_calloc(BUCKETS_PER_PE, sizeof *buckets);
    long *sums = shmem_malloc(2 * sizeof *sums);
    for (long i = 0; i < values; i++) {
        uint64_t bucket = next_random(&state) % ((uint64_t)BUCKETS_PER_PE * (uint64_t)pes);
        shmem_atomic_inc(&buckets[bucket % BUCKETS_PER_PE], (int)(bucket / BUCKETS_PER_PE));
    }
    shmem_barrier_all();

    sums[0] = 0;
    for (int i = 0; i < BUCKETS_PER_PE; i++)
        sums[0] += buckets[i];
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &sums[1], &sums[0], 1);
    if (me == 0)
        printf("%d PEs put %ld values into %d buckets\n", pes, sums[1], BUCKETS_PER_PE * pes);
    int lost = sums[1] != values * pes;
    shmem_finalize();
    return lost;
}
