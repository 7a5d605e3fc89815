/* Heat in a plate. Each PE has some of its rows and gives its first and last one to its neighbours. Rows
 * of a step are computed from those of the step before, so a barrier per step is all that is needed. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    size_t width = argc > 1 ? strtoul(argv[1], NULL, 10) : 256;
    size_t rows = argc > 2 ? strtoul(argv[2], NULL, 10) : 64;
    int steps = argc > 3 ? atoi(argv[3]) : 200;
    if (width < 3 || rows < 1 || steps < 1) {
        if (me == 0)
            fprintf(stderr, "usage: heat2d [WIDTH] [ROWS OF EACH PE] [STEPS]\n");
        shmem_global_exit(2);
    }

    /* With one row of each neighbour, before the own rows and after them. */
    size_t cells = (rows + 2) * width;
    double *now = shmem_calloc(cells, sizeof *now), *next = shmem_calloc(cells, sizeof *next);
    if (!now || !next)
        shmem_global_exit(1);
    if (me == 0)
        for (size_t x = 0; x < width; x++)
            now[x] = next[x] = 100; /* hot in front of the first row, cold at all other sides */
    double start = shmemx_wtime();
    for (int step = 0; step < steps; step++) {
        for (size_t y = 1; y <= rows; y++)
            for (size_t x = 1; x < width - 1; x++) {
                size_t at = y * width + x;
                next[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - width] + now[at + width]);
            }
        if (me > 0)
            shmem_put(&next[(rows + 1) * width], &next[width], width, me - 1);
        if (me < pes - 1)
            shmem_put(&next[0], &next[rows * width], width, me + 1);
        shmem_barrier_all();
        double *swap = now;
        now = next;
        next = swap;
    }
    double seconds = shmemx_wtime() - start;

    static double mine, sum;
    for (size_t at = width; at < (rows + 1) * width; at++)
        mine += now[at];
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1);
    if (me == 0) {
        printf("%d PEs, %zu x %zu cells, %d steps: heat in the plate %.9f\n", pes, width,
               rows * pes, steps, sum);
        fprintf(stderr, "%.3f s\n", seconds);
    }
    shmem_free(now);
    shmem_free(next);
    shmem_finalize();
    return 0;
}
