/* Rank 1 stops while rank 0 reads its memory. Rank 0 then has the right bytes or an error: a failed read never looks
 * like a completed one. */
#include <mpi.h>
#include <signal.h>

#include "check.h"

int main(int argc, char **argv)
{
    long *memory, read;
    int rank;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 4711;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGSTOP);
    MPI_Win_lock_all(0, win);
    for (;;) {
        read = 0;
        MPI_Get(&read, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
        CHECK(read == 4711);
    }
}
