/* What MPI does between two ranks with nothing but sends and receives, and what all ranks do together:
 *
 *     mpi latency BYTES TURNS       nanoseconds, half round trip
 *     mpi bandwidth BYTES TURNS     GB/s, 16 messages under way at a time
 *     mpi barrier 1 TURNS           nanoseconds, all ranks
 *     mpi allreduce BYTES TURNS     nanoseconds, all ranks, a sum of 64-bit words
 *
 * Rank 0 prints one number, the median of five runs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5, UNDER_WAY = 16 };

static int rank;

static double ping_pong(char *buffer, int bytes, int turns)
{
    int other = 1 - rank;
    double begin = MPI_Wtime();
    for (int i = 0; i < turns; i++) {
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) / turns / 2 * 1e9;
}

static double stream(char *buffer, int bytes, int turns)
{
    MPI_Request requests[UNDER_WAY];
    char done = 0;
    double begin = MPI_Wtime();
    for (int i = 0; i < turns; i += UNDER_WAY) {
        for (int j = 0; j < UNDER_WAY; j++)
            if (rank == 0)
                MPI_Isend(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[j]);
            else
                MPI_Irecv(buffer + (size_t)j * bytes, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD,
                          &requests[j]);
        MPI_Waitall(UNDER_WAY, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 0)
        MPI_Recv(&done, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&done, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    return (double)bytes * turns / (MPI_Wtime() - begin) / 1e9;
}

static double barrier(char *buffer, int bytes, int turns)
{
    (void)buffer, (void)bytes;
    double begin = MPI_Wtime();
    for (int i = 0; i < turns; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / turns * 1e9;
}

static double all_reduce(char *buffer, int bytes, int turns)
{
    double begin = MPI_Wtime();
    for (int i = 0; i < turns; i++)
        MPI_Allreduce(MPI_IN_PLACE, buffer, bytes / 8, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / turns * 1e9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int bytes = argc == 4 ? atoi(argv[2]) : 0, turns = argc == 4 ? atoi(argv[3]) : 0;
    const char *what = argc == 4 ? argv[1] : "";
    int all = !strcmp(what, "barrier") || !strcmp(what, "allreduce");
    if ((ranks != 2 && !all) || bytes < 1 || turns < UNDER_WAY) {
        fprintf(stderr, "mpi: two ranks, and: latency|bandwidth BYTES TURNS (16 or more);\n"
                        "     any number of them, and: barrier|allreduce BYTES TURNS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    turns -= turns % UNDER_WAY;
    char *buffer = calloc(UNDER_WAY, bytes);
    double results[RUNS];
    if (!buffer)
        MPI_Abort(MPI_COMM_WORLD, 1);
    double (*measure)(char *, int, int) = !strcmp(what, "bandwidth") ? stream
                                          : !strcmp(what, "barrier") ? barrier
                                          : all                      ? all_reduce
                                                                     : ping_pong;
    measure(buffer, bytes, turns / 10 < UNDER_WAY ? UNDER_WAY : turns / 10);
    for (int i = 0; i < RUNS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        results[i] = measure(buffer, bytes, turns);
    }
    qsort(results, RUNS, sizeof *results, ascending);
    if (rank == 0)
        printf("%.3f\n", results[RUNS / 2]);
    free(buffer);
    MPI_Finalize();
    return 0;
}
