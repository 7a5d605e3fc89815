/* One-sided MPI among all ranks: fences, locks, flushes and post/start; puts, gets and atomic
 * operations of all lengths; windows that MPI allocates, that the program has, and dynamic ones.
 * Rank 0 prints "ok RANKS". */
#include <mpi.h>
#include <string.h>

#include "check.h"

#define LONG (1 << 16)
#define TURNS 20

static int rank, ranks;

/* The value that rank `from` puts at `at`. */
static int value(int from, int at)
{
    return from * 1000003 + at * 7;
}

/* Every rank puts to the next one and gets from the one after. */
static void fences(MPI_Win win, int *memory)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, len, i;
    int *out = malloc(LONG * sizeof *out), *in = malloc(LONG * sizeof *in);
    CHECK(out && in);
    for (len = 1; len <= LONG; len *= 8) {
        for (i = 0; i < len; i++)
            out[i] = value(rank, i + len);
        MPI_Win_fence(0, win);
        MPI_Put(out, len, MPI_INT, next, 0, len, MPI_INT, win);
        MPI_Win_fence(0, win);
        for (i = 0; i < len; i++)
            CHECK(memory[i] == value(before, i + len));
        MPI_Win_fence(0, win);
        MPI_Get(in, len, MPI_INT, next, 0, len, MPI_INT, win);
        MPI_Win_fence(0, win);
        CHECK(!memcmp(in, out, len * sizeof *in));
    }
    free(out);
    free(in);
}

/* A column of a matrix on both sides. */
static void columns(MPI_Win win, int *memory)
{
    MPI_Datatype column;
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, matrix[64 * 64], i;
    MPI_Type_vector(64, 1, 64, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (i = 0; i < 64 * 64; i++)
        matrix[i] = value(rank, i);
    memset(memory, 0, sizeof matrix);
    MPI_Win_fence(0, win);
    MPI_Put(matrix + 3, 1, column, next, 5, 1, column, win);
    MPI_Win_fence(0, win);
    for (i = 0; i < 64 * 64; i++)
        CHECK(memory[i] == (i % 64 == 5 ? value(before, i - 2) : 0));
    MPI_Type_free(&column);
}

/* All ranks add to the numbers of all, in words of several types. */
static void additions(MPI_Win win, int *memory)
{
    double *doubles = (double *)memory;
    double one[100];
    int i, to;
    for (i = 0; i < 100; i++)
        one[i] = i + 0.5;
    MPI_Win_fence(0, win);
    memset(memory, 0, 100 * sizeof *doubles);
    MPI_Win_fence(0, win);
    for (to = 0; to < ranks; to++)
        MPI_Accumulate(one, 100, MPI_DOUBLE, to, 0, 100, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (i = 0; i < 100; i++)
        CHECK(doubles[i] == ranks * one[i]);
    MPI_Win_fence(0, win);
}

/* A ticket counter and a lock made of compare-and-swap, both at rank 0, under a shared lock. */
static void tickets(MPI_Win win, int *memory)
{
    int one = 1, zero = 0, ticket, last = -1, was, guarded, i;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        memset(memory, 0, 64);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (i = 0; i < TURNS; i++) {
        MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(ticket > last && ticket < ranks * TURNS);
        last = ticket;
    }
    for (i = 0; i < TURNS; i++) {
        do {
            MPI_Compare_and_swap(&one, &zero, &was, MPI_INT, 0, 1, win);
            MPI_Win_flush(0, win);
        } while (was);
        MPI_Get(&guarded, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        guarded++;
        MPI_Put(&guarded, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Fetch_and_op(&zero, &was, MPI_INT, 0, 1, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        CHECK(was == 1);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&ticket, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Get(&guarded, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    CHECK(ticket == ranks * TURNS && guarded == ranks * TURNS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Exclusive locks protect what is read and written. */
static void exclusive(MPI_Win win, int *memory)
{
    long numbers[2], mine = 3;
    int i, to = ranks - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == to) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
        memset(memory, 0, sizeof numbers);
        MPI_Win_unlock(rank, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < TURNS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        MPI_Get(numbers, 2, MPI_LONG, to, 0, 2, MPI_LONG, win);
        MPI_Win_flush(to, win);
        CHECK(numbers[0] == numbers[1]);
        numbers[0]++;
        numbers[1]++;
        MPI_Put(numbers, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
        MPI_Put(numbers + 1, 1, MPI_LONG, to, 2, 1, MPI_LONG, win);
        MPI_Win_unlock(to, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    MPI_Get_accumulate(&mine, 1, MPI_LONG, numbers, 1, MPI_LONG, to, 2, 1, MPI_LONG, MPI_NO_OP, win);
    MPI_Win_unlock(to, win);
    CHECK(numbers[0] == (long)ranks * TURNS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank gives the one before it access, by post and wait. */
static void posts(MPI_Win win, int *memory)
{
    MPI_Group all, to, from;
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, mine = value(rank, 9);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &before, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(&mine, 1, MPI_INT, next, 77, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK(memory[77] == value(before, 9));
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
}

static void dynamic(void)
{
    MPI_Aint there[2], *all = malloc(2 * ranks * sizeof *all);
    int numbers[1000] = {0}, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, i;
    int mine[1000];
    MPI_Win win;
    CHECK(all);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, numbers, sizeof numbers);
    MPI_Get_address(numbers, there);
    MPI_Allgather(there, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    for (i = 0; i < 1000; i++)
        mine[i] = value(rank, i);
    MPI_Win_fence(0, win);
    MPI_Put(mine, 1000, MPI_INT, next, all[next], 1000, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (i = 0; i < 1000; i++)
        CHECK(numbers[i] == value(before, i));
    MPI_Win_detach(win, numbers);
    MPI_Win_free(&win);
    free(all);
}

static void all_in(MPI_Win win, int *memory)
{
    fences(win, memory);
    columns(win, memory);
    additions(win, memory);
    /* Fences have ended. */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    tickets(win, memory);
    exclusive(win, memory);
    posts(win, memory);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory, *own = calloc(LONG, sizeof *own);
    CHECK(own);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(LONG * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    all_in(win, memory);
    MPI_Win_free(&win);
    MPI_Win_create(own, LONG * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all_in(win, own);
    MPI_Win_free(&win);
    dynamic();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("ok %d\n", ranks);
    MPI_Finalize();
    free(own);
    return 0;
}
