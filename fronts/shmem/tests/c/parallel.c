/* Threads of each PE that go their own ways: splits and collectives on teams of their own, and
 * waits for their peers at other PEs, all at the same time. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, TIMES = 60, COUNT = 300 };

static shmem_team_t teams[THREADS];
static long *from[THREADS], *to[THREADS], *flags;
static uint64_t *signals;

/* Splits the thread's own team, while the other threads split theirs. */
static void splits(shmem_team_t team)
{
    const int n = shmem_team_n_pes(team), i = shmem_team_my_pe(team);
    for (int round = 0; round < TIMES / 4; round++) {
        shmem_team_t row, column, back;
        CHECK(shmem_team_split_2d(team, 2, NULL, 0, &row, NULL, 0, &column) == 0);
        CHECK(shmem_team_my_pe(row) == i % 2 && shmem_team_my_pe(column) == i / 2);
        CHECK(shmem_team_split_strided(team, n - 1, -1, n, NULL, 0, &back) == 0);
        CHECK(shmem_team_my_pe(back) == n - 1 - i);
        CHECK(shmem_team_sync(back) == 0 && shmem_team_sync(column) == 0);
        shmem_team_destroy(row);
        shmem_team_destroy(back);
        shmem_team_destroy(column);
    }
}

static void collectives(shmem_team_t team, long thread)
{
    const int n = shmem_team_n_pes(team), i = shmem_team_my_pe(team);
    long *source = from[thread], *dest = to[thread];
    for (long round = 0; round < TIMES; round++) {
        size_t count = round % 3 ? (size_t)(round % 7 + 1) : COUNT;
        for (size_t k = 0; k < count; k++)
            source[k] = i + (long)k + round * thread;
        shmem_team_sync(team);
        CHECK(shmem_long_sum_reduce(team, dest, source, count) == 0);
        for (size_t k = 0; k < count; k++)
            CHECK(dest[k] == n * ((long)k + round * thread) + (long)n * (n - 1) / 2);
        shmem_team_sync(team);
        CHECK(shmem_long_broadcast(team, dest, source, count, (int)(round % n)) == 0);
        CHECK(dest[count - 1] == round % n + (long)count - 1 + round * thread);
        shmem_team_sync(team);
        CHECK(shmem_long_fcollect(team, dest, source, 3) == 0);
        for (int pe = 0; pe < n; pe++)
            CHECK(dest[3 * pe + 2 * (count > 2)] == pe + 2 * (count > 2) + round * thread);
        shmem_team_sync(team);
    }
}

/* Each thread has a partner thread at the right neighbour. */
static void waits(long thread)
{
    long *flag = &flags[8 * thread];
    uint64_t *signal = &signals[8 * thread];
    for (long round = 1; round <= TIMES * 5; round++) {
        if (round % 50 == 0)
            pause_ms(2);
        switch (round % 4) {
        case 0:
            shmem_long_p(flag, round, right);
            shmem_long_wait_until(flag, SHMEM_CMP_EQ, round);
            break;
        case 1:
            shmem_long_atomic_set(flag, round, right);
            CHECK(shmem_long_wait_until_any(flag, 1, NULL, SHMEM_CMP_GE, round) == 0);
            break;
        case 2:
            shmem_long_put_signal(flag, &round, 1, signal, (uint64_t)round, SHMEM_SIGNAL_SET, right);
            CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, (uint64_t)round)
                  == (uint64_t)round);
            CHECK(*(volatile long *)flag == round);
            break;
        default:
            shmem_long_put_nbi(flag, &round, 1, right);
            shmem_quiet();
            while (!shmem_long_test(flag, SHMEM_CMP_EQ, round))
                ;
        }
        /* Both neighbours have seen it before it is overwritten. */
        shmem_team_sync(teams[thread]);
    }
}

static void *work(void *argument)
{
    long thread = (long)(intptr_t)argument;
    splits(teams[thread]);
    collectives(teams[thread], thread);
    waits(thread);
    return NULL;
}

int main(void)
{
    int provided = -1;
    pthread_t threads[THREADS];
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    CHECK(provided == SHMEM_THREAD_MULTIPLE);
    meet();
    for (int t = 0; t < THREADS; t++) {
        from[t] = (long *)symmetric((COUNT + 3 * (size_t)pes) * sizeof(long));
        to[t] = (long *)symmetric((COUNT + 3 * (size_t)pes) * sizeof(long));
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &teams[t]) == 0);
    }
    flags = (long *)symmetric(8 * THREADS * sizeof *flags);
    signals = (uint64_t *)symmetric(8 * THREADS * sizeof *signals);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++)
        shmem_team_destroy(teams[t]);
    shmem_finalize();
    return 0;
}
