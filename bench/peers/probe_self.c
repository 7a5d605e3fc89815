/*
 * Runs a probe for any source, and the receive after it, while a message of another rank and one of the rank itself
 * wait. MPI demands that both find the same message. MPICH 5.0.2 without its own shared memory finds two different ones
 * in every turn, over any provider: the probe polls the network before the message to itself has come, and the receive
 * does it in the other order.
 *
 *     mpicc -o probe_self bench/peers/probe_self.c
 *     for it in tcp hostwire; do
 *         FI_PROVIDER=$it MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1 mpiexec -n 2 ./probe_self
 *     done
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { TURNS = 20, TAG = 7 };

int main(int argc, char **argv) {
	int rank, differ = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int turn = 0; turn < TURNS; turn++) {
		int sent = rank, got;
		MPI_Request to_itself;

		if (rank == 1)
			MPI_Send(&sent, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			/* Waits until the message of the other rank has come, even by the slowest provider. */
			usleep(2000);
			MPI_Isend(&sent, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &to_itself);
			for (int message = 0; message < 2; message++) {
				MPI_Status found, received;

				MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &found);
				MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &received);
				differ += found.MPI_SOURCE != received.MPI_SOURCE;
			}
			MPI_Wait(&to_itself, MPI_STATUS_IGNORE);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("%d of %d turns: the receive got another message than the probe found\n", differ, TURNS);
	MPI_Finalize();
	return 0;
}
