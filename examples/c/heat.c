/* Heat in a rod. Each PE has a piece of it and tells its neighbours the temperature at its ends
 * by puts with a signal, so that nobody waits for anybody but these two. */
#include <shmem.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT, RIGHT };

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    size_t cells = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    int steps = argc > 2 ? atoi(argv[2]) : 2000;
    if (cells < 1 || steps < 1) {
        if (me == 0)
            fprintf(stderr, "usage: heat [CELLS OF EACH PE] [STEPS]\n");
        shmem_global_exit(2);
    }

    /* What comes from each side: one place for even steps, one for odd ones. */
    double *ghost = shmem_calloc(4, sizeof *ghost);
    uint64_t *signals = shmem_calloc(2, sizeof *signals);
    double *now = calloc(cells + 2, sizeof *now), *next = calloc(cells + 2, sizeof *next);
    if (!ghost || !signals || !now || !next) {
        fprintf(stderr, "PE %d: no memory for %zu cells\n", me, cells);
        shmem_global_exit(1);
    }
    if (me == 0)
        now[0] = 100; /* hot at the left end, cold at the right one */

    for (int step = 1; step <= steps; step++) {
        int place = step % 2 * 2;
        if (me > 0)
            shmem_put_signal(&ghost[place + RIGHT], &now[1], 1, &signals[RIGHT], step,
                             SHMEM_SIGNAL_SET, me - 1);
        if (me < pes - 1)
            shmem_put_signal(&ghost[place + LEFT], &now[cells], 1, &signals[LEFT], step,
                             SHMEM_SIGNAL_SET, me + 1);
        if (me > 0) {
            shmem_signal_wait_until(&signals[LEFT], SHMEM_CMP_GE, step);
            now[0] = ghost[place + LEFT];
        }
        if (me < pes - 1) {
            shmem_signal_wait_until(&signals[RIGHT], SHMEM_CMP_GE, step);
            now[cells + 1] = ghost[place + RIGHT];
        }
        for (size_t i = 1; i <= cells; i++)
            next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        next[0] = now[0];
        next[cells + 1] = now[cells + 1];
        double *swap = now;
        now = next;
        next = swap;
        /* A neighbour that is late may see the next signal instead of this one, which must not be
         * ahead of the data of this step. */
        shmem_fence();
    }

    double *heat = shmem_malloc(2 * sizeof *heat);
    heat[0] = 0;
    for (size_t i = 1; i <= cells; i++)
        heat[0] += now[i];
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &heat[1], &heat[0], 1);
    if (me == 0)
        printf("%d PEs, %zu cells, %d steps: heat in the rod %.9f\n", pes, cells * pes, steps,
               heat[1]);
    free(now);
    free(next);
    shmem_finalize();
    return 0;
}
