/* What MPI programs do with messages, checked. Prints "ok" and the number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(x) do { if (!(x)) { fprintf(stderr, "rank %d line %d: %s\n", rank, __LINE__, #x); MPI_Abort(MPI_COMM_WORLD, 1); } } while (0)
int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (size_t n = 1; n <= (4 << 20); n *= 4) {
        char *out = malloc(n), *in = malloc(n);
        memset(out, rank + 1, n); memset(in, 0, n);
        MPI_Status st;
        MPI_Sendrecv(out, n, MPI_CHAR, next, 5, in, n, MPI_CHAR, before, 5, MPI_COMM_WORLD, &st);
        int count; MPI_Get_count(&st, MPI_CHAR, &count);
        CHECK(count == (int)n && st.MPI_SOURCE == before);
        for (size_t i = 0; i < n; i++) CHECK(in[i] == before + 1);
        free(out); free(in);
    }
    /* any source, any tag, probes, in order */
    if (rank == 0) {
        int last[64] = {0};
        for (int k = 0; k < 100 * (size - 1); k++) {
            MPI_Status st; int v, count;
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_INT, &count);
            CHECK(count == 1);
            MPI_Recv(&v, 1, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, &st);
            CHECK(v == last[st.MPI_SOURCE]++ && st.MPI_TAG == v % 7);
        }
    } else for (int v = 0; v < 100; v++) MPI_Send(&v, 1, MPI_INT, 0, v % 7, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    /* matched probe, cancel, synchronous send */
    if (size > 1 && rank < 2) {
        int other = 1 - rank, v = rank, w = -1, flag = 0;
        MPI_Request r, s; MPI_Message m; MPI_Status st;
        MPI_Isend(&v, 1, MPI_INT, other, 77, MPI_COMM_WORLD, &s);
        while (!flag) MPI_Improbe(other, 77, MPI_COMM_WORLD, &flag, &m, &st);
        MPI_Mrecv(&w, 1, MPI_INT, &m, &st);
        CHECK(w == other);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        MPI_Irecv(&w, 1, MPI_INT, other, 78, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r); MPI_Wait(&r, &st); MPI_Test_cancelled(&st, &flag);
        CHECK(flag);
        if (rank == 0) MPI_Ssend(&v, 1, MPI_INT, 1, 79, MPI_COMM_WORLD);
        else { MPI_Recv(&w, 1, MPI_INT, 0, 79, MPI_COMM_WORLD, &st); CHECK(w == 0); }
    }
    double sum, mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size + 1) / 2.0);
    int *a = malloc(1000 * size * sizeof(int)), *b = malloc(1000 * size * sizeof(int));
    for (int i = 0; i < 1000 * size; i++) a[i] = rank * 1000000 + i;
    MPI_Alltoall(a, 1000, MPI_INT, b, 1000, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 1000 * size; i++) CHECK(b[i] == i / 1000 * 1000000 + rank * 1000 + i % 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
