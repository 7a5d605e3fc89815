/* The same as collectives.rs by MPI: what run.sh compares it with. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 9 };

static int by_value(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

int main(void) {
    MPI_Init(NULL, NULL);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int bytes = 256; bytes <= 1 << 20; bytes *= 4) {
        int words = bytes / 8, calls = 4000000 / (bytes + 20000), root = 0;
        calls = calls > 100 ? 100 : calls < 5 ? 5 : calls;
        double *values = calloc(words, 8), *out = calloc(words, 8 * size), *all = calloc(words, 8 * size);
        double took[4][BATCHES];
        for (int what = 0; what < 4; what++) {
            for (int batch = -1; batch < BATCHES; batch++) {
                MPI_Barrier(MPI_COMM_WORLD);
                double begin = MPI_Wtime();
                for (int call = 0; call < calls; call++) {
                    if (what == 0)
                        MPI_Allreduce(MPI_IN_PLACE, values, words, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                    else if (what == 1)
                        MPI_Allgather(out, words, MPI_DOUBLE, all, words, MPI_DOUBLE, MPI_COMM_WORLD);
                    else if (what == 2)
                        MPI_Alltoall(out, words, MPI_DOUBLE, all, words, MPI_DOUBLE, MPI_COMM_WORLD);
                    else
                        MPI_Bcast(values, words, MPI_DOUBLE, root = (root + 1) % size, MPI_COMM_WORLD);
                }
                if (batch >= 0)
                    took[what][batch] = (MPI_Wtime() - begin) * 1e6 / calls;
            }
            qsort(took[what], BATCHES, sizeof(double), by_value);
        }
        if (rank == 0)
            printf("%d %d %.2f %.2f %.2f %.2f\n", size, bytes, took[0][BATCHES / 2], took[1][BATCHES / 2],
                   took[2][BATCHES / 2], took[3][BATCHES / 2]);
        free(values), free(out), free(all);
    }
    MPI_Finalize();
    return 0;
}
