/* The order of stores in mpi4py.util.sync.Mutex (4.1.2), where one rank acquires it and another one queues after
 * it. The first rank stores "nobody" in its own word, and makes itself known without waiting for that store. How
 * often does the store overwrite the name of the second rank, which that rank stores in the word? With -DFLUSHED
 * the first one waits.
 *
 *     mpicc lock_order.c -o lock_order && MPIR_CVAR_NOLOCAL=1 mpiexec -n 4 ./lock_order
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { NEXT = 1, TAIL = 2, NOBODY = -1, FIRST = 2, SECOND = 3, TURNS = 40 };

int main(void) {
    int rank, lost = 0, other = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < TURNS; turn++) {
        int *words, init[3] = {0, NOBODY, NOBODY}, nobody = NOBODY, before = NOBODY;
        MPI_Win window;
        MPI_Win_allocate(sizeof init, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &words, &window);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
        MPI_Accumulate(init, 3, MPI_INT, rank, 0, 3, MPI_INT, MPI_REPLACE, window);
        MPI_Win_unlock(rank, window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, window);
        if (rank == FIRST) {
            MPI_Accumulate(&nobody, 1, MPI_INT, FIRST, NEXT, 1, MPI_INT, MPI_REPLACE, window);
#ifdef FLUSHED
            MPI_Win_flush(FIRST, window);
#endif
            MPI_Fetch_and_op(&rank, &before, MPI_INT, 0, TAIL, MPI_REPLACE, window);
            /* Its core is used by another rank. */
            usleep(20000);
            MPI_Win_flush(0, window);
        } else if (rank == SECOND) {
            while (before != FIRST) {
                usleep(1000);
                MPI_Fetch_and_op(&nobody, &before, MPI_INT, 0, TAIL, MPI_NO_OP, window);
                MPI_Win_flush(0, window);
            }
            MPI_Fetch_and_op(&rank, &before, MPI_INT, 0, TAIL, MPI_REPLACE, window);
            MPI_Win_flush(0, window);
            MPI_Accumulate(&rank, 1, MPI_INT, before, NEXT, 1, MPI_INT, MPI_REPLACE, window);
        }
        MPI_Win_unlock_all(window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
        MPI_Win_sync(window);
        if (rank == FIRST) {
            lost += words[NEXT] == NOBODY;
            other += words[NEXT] != NOBODY && words[NEXT] != SECOND;
        }
        MPI_Win_unlock(rank, window);
        MPI_Win_free(&window);
    }
    if (rank == FIRST)
        printf("overwritten in %d of %d turns; something else in %d\n", lost, TURNS, other);
    MPI_Finalize();
}
