/* Reductions of active sets, one right behind another: sets that share some of their PEs and not
 * others, lengths that fit a line, its stage, or neither, one pSync for each set. Sums of numbers that
 * depend on the order, which has to be that of the PEs. */
#include "check.h"

enum { MOST = 700 };

static double source[MOST], dest[MOST], team_dest[1];
static double work[MOST / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
enum { ALL, EVEN, BUT_FIRST, BUT_LAST, ODD, SETS };
static long sync_of[SETS][SHMEM_REDUCE_SYNC_SIZE];

static double value(int pe, int index, int round)
{
    static const double sizes[] = {1e16, 1.0, -1e16, 1e-3, 3.0};
    return sizes[(pe + index + round) % 5] * (1 + (pe * 7 + index * 3 + round) % 11);
}

static void reduce(int set, int start, int log_stride, int size, int count, int round)
{
    int stride = 1 << log_stride;
    if (me < start || (me - start) % stride || (me - start) / stride >= size)
        return;
    for (int i = 0; i < count; i++)
        source[i] = value(me, i, round);
    for (int i = count; i < MOST; i++)
        dest[i] = -1;
    shmem_double_sum_to_all(dest, source, count, start, log_stride, size, work,
                             sync_of[set]);
    for (int i = 0; i < count; i++) {
        double sum = value(start, i, round);
        for (int k = 1; k < size; k++)
            sum += value(start + k * stride, i, round);
        CHECK(memcmp(&sum, &dest[i], sizeof sum) == 0);
    }
    for (int i = count; i < MOST; i++)
        CHECK(dest[i] == -1);
}

int main(void)
{
    static const int counts[] = {1, 6, 0, 7, 256, 257, MOST, 2};
    shmem_init();
    meet();
    for (int round = 0; round < 60; round++) {
        int count = counts[round % 8];
        reduce(ALL, 0, 0, pes, count, round);
        reduce(ALL, 0, 0, pes, 1, round);
        reduce(EVEN, 0, 1, (pes + 1) / 2, count, round);
        if (pes > 1) {
            reduce(BUT_FIRST, 1, 0, pes - 1, counts[(round + 3) % 8], round);
            reduce(BUT_LAST, 0, 0, pes - 1, count, round);
            reduce(ODD, 1, 1, pes / 2, 6, round);
        }
        source[0] = me;
        if (round % 3 == 0)
            shmem_double_sum_reduce(SHMEM_TEAM_WORLD, team_dest, source, 1);
        if (round % 7 == 0)
            shmem_barrier(0, 0, pes, sync_of[ALL]);
        reduce(ALL, 0, 0, pes, 3, round);
    }
    shmem_barrier_all();
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
            CHECK(sync_of[set][i] == SHMEM_SYNC_VALUE);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
