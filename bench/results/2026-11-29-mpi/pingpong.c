/* Half a round trip of MPI messages of several lengths: the best of five repeats, in ns. */
#include <mpi.h>
#include <stdio.h>

#define REPEATS 5

static char message[65536];

static double half_round_trip_ns(int rank, int bytes)
{
    int turns = bytes <= 4096 ? 20000 : 4000;
    double begin = MPI_Wtime();
    for (int turn = 0; turn < turns; turn++) {
        if (rank == 0)
            MPI_Send(message, bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
        MPI_Recv(message, bytes, MPI_CHAR, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(message, bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - begin) / turns / 2 * 1e9;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 64, 256, 1024, 2048, 4096, 16384, 65536};
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double best = 0;
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double took = half_round_trip_ns(rank, sizes[i]);
            if (repeat == 0 || took < best)
                best = took;
        }
        if (rank == 0)
            printf("%d:%.0f ", sizes[i], best);
    }
    if (rank == 0)
        printf("\n");
    MPI_Finalize();
}
