/* The same as collectives.rs by OpenSHMEM, over symmetric memory. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 9 };

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

int main(void) {
    shmem_init();
    int rank = shmem_my_pe(), size = shmem_n_pes();
    for (int bytes = 256; bytes <= 1 << 20; bytes *= 4) {
        int words = bytes / 8, calls = 4000000 / (bytes + 20000), root = 0;
        calls = calls > 100 ? 100 : calls < 5 ? 5 : calls;
        double *values = shmem_calloc(words, 8), *out = shmem_calloc(words, 8 * size), *all = shmem_calloc(words, 8 * size);
        double took[4][BATCHES];
        for (int what = 0; what < 4; what++) {
            for (int batch = -1; batch < BATCHES; batch++) {
                shmem_barrier_all();
                double begin = now_us();
                for (int call = 0; call < calls; call++) {
                    if (what == 0)
                        shmem_double_max_reduce(SHMEM_TEAM_WORLD, values, values, words);
                    else if (what == 1)
                        shmem_double_fcollect(SHMEM_TEAM_WORLD, all, out, words);
                    else if (what == 2)
                        shmem_double_alltoall(SHMEM_TEAM_WORLD, all, out, words);
                    else
                        shmem_double_broadcast(SHMEM_TEAM_WORLD, values, values, words, root = (root + 1) % size);
                }
                if (batch >= 0)
                    took[what][batch] = (now_us() - begin) / calls;
            }
            qsort(took[what], BATCHES, sizeof(double), by_value);
        }
        if (rank == 0)
            printf("%d %d %.2f %.2f %.2f %.2f\n", size, bytes, took[0][BATCHES / 2], took[1][BATCHES / 2],
                   took[2][BATCHES / 2], took[3][BATCHES / 2]);
        shmem_barrier_all();
        shmem_free(values), shmem_free(out), shmem_free(all);
    }
    shmem_finalize();
    return 0;
}
