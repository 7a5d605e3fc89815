/* How long messages of MPI take, by MPI_Wtime. Each line is a name, half a round trip or a whole operation, and
   its unit. With an argument other than "times" it shows how runs end. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 20, BYTES_MAX = 1 << 16 };

static char buffer[BYTES_MAX];

static void ping_pong(int rank, int bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double before = MPI_Wtime();
    for (int i = 0; i < ROUNDS && rank < 2; i++) {
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        printf("%d B: %.3f ns\n", bytes, (MPI_Wtime() - before) * 1e9 / ROUNDS / 2);
}

static void allreduce(int rank, int size)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double before = MPI_Wtime();
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        long mine = rank + i;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (sum != (long)size * i + (long)size * (size - 1) / 2) {
            fprintf(stderr, "rank %d: a wrong sum, %ld\n", rank, sum);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    if (rank == 0)
        printf("allreduce: %.3f ns\n", (MPI_Wtime() - before) * 1e9 / ROUNDS);
}

/* The receiver is done when it has these messages, and leaves. The sender learns that they were taken. */
static void leaves(int rank)
{
    for (int bytes = 5000; bytes <= BYTES_MAX; bytes *= 13) {
        if (rank == 0)
            MPI_Recv(buffer, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    }
}

/* A second of polls that find nothing, which is short in real time. */
static void looks_for_a_second(int rank)
{
    double before = MPI_Wtime();
    int flag = 0;
    while (MPI_Wtime() - before < 1.0 && !flag)
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    double took = MPI_Wtime() - before;
    if (rank == 0)
        printf("a second: %s\n", took >= 1.0 && took < 1.001 && !flag ? "ok" : "wrong");
}

static void polls(int rank)
{
    int flag = 0;
    if (rank == 0) {
        printf("rank 0 polls\n");
        fflush(stdout);
    }
    while (!flag) {
        MPI_Wtime();
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

/* MPI can be initialised several times by sessions, each of which opens what it needs. */
static void again(void)
{
    for (int i = 0; i < 2; i++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
        MPI_Session_finalize(&session);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "again") == 0) {
        again();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(how, "dies") == 0 && rank == 1)
        raise(SIGKILL);
    if (strcmp(how, "dies") == 0 || strcmp(how, "waits") == 0)
        MPI_Recv(buffer, 1, MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "aborts") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "polls") == 0)
        polls(rank);
    if (strcmp(how, "second") == 0) {
        looks_for_a_second(rank);
    } else {
        int sizes[] = {8, 64, 4096, BYTES_MAX};
        for (int i = 0; i < 4 && strcmp(how, "sums") != 0; i++)
            ping_pong(rank, sizes[i]);
        allreduce(rank, size);
        leaves(rank);
    }
    MPI_Finalize();
    return 0;
}
