/* Random updates of a table that is spread over all PEs, by atomics; and the same once more, after
 * which it has to be as it was. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

/* xorshift64 of Marsaglia. */
static uint64_t draw(uint64_t *state)
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
    size_t words = argc > 1 ? strtoul(argv[1], NULL, 10) : 1 << 14;
    size_t updates = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
    if (words < 1) {
        if (me == 0)
            fprintf(stderr, "usage: gups [WORDS OF EACH PE] [UPDATES OF EACH PE]\n");
        shmem_global_exit(2);
    }
    uint64_t *table = shmem_malloc(words * sizeof *table);
    if (!table)
        shmem_global_exit(1);
    for (size_t i = 0; i < words; i++)
        table[i] = me * words + i;
    shmem_barrier_all();
    double start = shmemx_wtime();
    for (int pass = 0; pass < 2; pass++) {
        uint64_t state = 88172645463325252u + (uint64_t)me;
        for (size_t i = 0; i < updates; i++) {
            uint64_t value = draw(&state);
            size_t at = value % (words * pes);
            shmem_uint64_atomic_xor(&table[at % words], value, (int)(at / words));
        }
        shmem_barrier_all();
    }
    double seconds = shmemx_wtime() - start;

    static long mine, wrong;
    for (size_t i = 0; i < words; i++)
        mine += table[i] != me * words + i;
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &wrong, &mine, 1);
    if (me == 0) {
        printf("%d PEs, %zu words, %zu updates: %ld words are wrong\n", pes, words * pes,
               2 * updates * pes, wrong);
        fprintf(stderr, "%.3f s\n", seconds);
    }
    shmem_free(table);
    shmem_finalize();
    return wrong != 0;
}
