/* Each rank prints the number of its process; then messages of three lengths go around, until the rank
 * is ended, or two minutes are over. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char bytes[100000];
    static const int lens[] = {0, 5000, sizeof bytes};
    int rank, ranks, i;
    alarm(120);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (i = 0;; i = (i + 1) % 3)
        MPI_Sendrecv_replace(bytes, lens[i], MPI_BYTE, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks,
                             0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
