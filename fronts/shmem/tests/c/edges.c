/* Arguments at their limits: nothing to do, one PE, in place, long and short, every active set. */
#include "check.h"

enum { LONGEST = 60000, TEAMS = 8 };

static long *from, *to, *psync, *psync_too, *pwrk;

/* An element that differs for each PE, index and round. */
static long element(int pe, size_t index, int round)
{
    return (long)pe * 1000000007L + (long)index * 31 + round;
}

/* Lengths around the limits at which an implementation may change its algorithm. */
static const size_t lengths[] = {0, 1, 2, 5, 6, 7, 8, 255, 256, 257, 1000, 5000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void fill(int rank, size_t count, int round)
{
    for (size_t k = 0; k < count; k++)
        from[k] = element(rank, k, round);
}

static void of_team(shmem_team_t team)
{
    const int n = shmem_team_n_pes(team), i = shmem_team_my_pe(team);
    for (int l = 0; l < LENGTHS; l++) {
        const size_t count = lengths[l], all = count * (size_t)n;
        if (all > LONGEST)
            continue;
        for (int root = 0; root < n; root++) {
            fill(i, count, root);
            to[count] = -1;
            shmem_team_sync(team);
            CHECK(shmem_long_broadcast(team, to, from, count, root) == 0);
            for (size_t k = 0; k < count; k++)
                CHECK(to[k] == element(root, k, root));
            CHECK(to[count] == -1);
            shmem_team_sync(team);
        }
        fill(i, all, l);
        to[all] = -1;
        shmem_team_sync(team);
        CHECK(shmem_long_fcollect(team, to, from, count) == 0);
        for (size_t k = 0; k < all; k++)
            CHECK(to[k] == element((int)(k / count), k % count, l));
        shmem_team_sync(team);
        /* Only the last PE has elements; then all PEs but the first have. */
        CHECK(shmem_long_collect(team, to, from, i == n - 1 ? count : 0) == 0);
        for (size_t k = 0; k < count; k++)
            CHECK(to[k] == element(n - 1, k, l));
        shmem_team_sync(team);
        CHECK(shmem_long_collect(team, to, from, i ? count : 0) == 0);
        for (size_t k = 0; k < count * (size_t)(n - 1); k++)
            CHECK(to[k] == element((int)(k / count) + 1, k % count, l));
        shmem_team_sync(team);
        CHECK(shmem_long_alltoall(team, to, from, count) == 0);
        for (size_t k = 0; k < all; k++)
            CHECK(to[k] == element((int)(k / count), (size_t)i * count + k % count, l));
        CHECK(to[all] == -1);
        shmem_team_sync(team);
        /* Reductions and scans into other memory and in place. */
        for (int in_place = 0; in_place < 2; in_place++) {
            long *source = in_place ? to : from;
#define SUMS(call, first, past) \
            do { \
                for (size_t k = 0; k < count; k++) \
                    source[k] = element(i, k, l); \
                shmem_team_sync(team); \
                CHECK((call) == 0); \
                for (size_t k = 0; k < count; k++) { \
                    long sum = 0; \
                    for (int pe = first; pe < (past); pe++) \
                        sum += element(pe, k, l); \
                    CHECK(to[k] == sum); \
                } \
                shmem_team_sync(team); \
            } while (0)
            SUMS(shmem_long_sum_reduce(team, to, source, count), 0, n);
            SUMS(shmem_long_sum_inscan(team, to, source, count), 0, i + 1);
            SUMS(shmem_long_sum_exscan(team, to, source, count), 0, i);
            SUMS(shmem_long_max_reduce(team, to, source, count), n - 1, n);
            SUMS(shmem_long_min_reduce(team, to, source, count), 0, 1);
#undef SUMS
        }
        CHECK(to[all] == -1);
    }
    /* With nothing to move, addresses do not matter. */
    CHECK(shmem_long_broadcast(team, NULL, NULL, 0, 0) == 0);
    CHECK(shmem_broadcastmem(team, NULL, NULL, 0, n - 1) == 0);
    CHECK(shmem_long_collect(team, NULL, NULL, 0) == 0);
    CHECK(shmem_long_fcollect(team, NULL, NULL, 0) == 0);
    CHECK(shmem_long_alltoall(team, NULL, NULL, 0) == 0);
    CHECK(shmem_long_alltoalls(team, NULL, NULL, 1, 1, 0) == 0);
    CHECK(shmem_double_sum_reduce(team, NULL, NULL, 0) == 0);
    CHECK(shmem_ulong_and_reduce(team, NULL, NULL, 0) == 0);
    CHECK(shmem_int_sum_inscan(team, NULL, NULL, 0) == 0);
    CHECK(shmem_int_sum_exscan(team, NULL, NULL, 0) == 0);
    CHECK(shmem_team_sync(team) == 0);
}

static void of_invalid(void)
{
    CHECK(shmem_team_sync(SHMEM_TEAM_INVALID) != 0);
    CHECK(shmem_long_broadcast(SHMEM_TEAM_INVALID, to, from, 1, 0) != 0);
    CHECK(shmem_long_collect(SHMEM_TEAM_INVALID, to, from, 1) != 0);
    CHECK(shmem_long_fcollect(SHMEM_TEAM_INVALID, to, from, 1) != 0);
    CHECK(shmem_long_alltoall(SHMEM_TEAM_INVALID, to, from, 1) != 0);
    CHECK(shmem_long_alltoalls(SHMEM_TEAM_INVALID, to, from, 1, 1, 1) != 0);
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_INVALID, to, from, 1) != 0);
    CHECK(shmem_long_sum_inscan(SHMEM_TEAM_INVALID, to, from, 1) != 0);
    CHECK(shmem_long_sum_exscan(SHMEM_TEAM_INVALID, to, from, 1) != 0);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

static void strided_exchange(void)
{
    for (ptrdiff_t dst = 1; dst <= 3; dst++)
        for (ptrdiff_t sst = 1; sst <= 3; sst++)
            for (size_t count = 1; count <= 4; count++) {
                const size_t all = count * (size_t)pes;
                for (size_t k = 0; k < all * 3; k++) {
                    from[k] = element(me, k, 0);
                    to[k] = -1;
                }
                shmem_barrier_all();
                CHECK(shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, from, dst, sst, count) == 0);
                for (size_t k = 0; k < all * (size_t)dst; k++) {
                    size_t at = k / (size_t)dst, pe = at / count;
                    size_t source = ((size_t)me * count + at % count) * (size_t)sst;
                    CHECK(to[k] == (k % (size_t)dst ? -1 : element((int)pe, source, 0)));
                }
                shmem_barrier_all();
                for (size_t k = 0; k < all * 3; k++)
                    to[k] = -1;
                shmem_barrier_all();
                shmem_alltoalls64(to, from, dst, sst, count, 0, 0, pes, psync);
                for (size_t k = 0; k < all * (size_t)dst; k++) {
                    size_t at = k / (size_t)dst, pe = at / count;
                    size_t source = ((size_t)me * count + at % count) * (size_t)sst;
                    CHECK(to[k] == (k % (size_t)dst ? -1 : element((int)pe, source, 0)));
                }
                shmem_barrier_all();
            }
}

static void of_active_set(int start, int log_stride, int size)
{
    const int i = (me - start) >> log_stride;
    static const size_t counts[] = {0, 1, 3, 700, 3000};
    /* The same array several times in a row, as far as that is allowed. */
    for (int k = 0; k < 5; k++) {
        shmem_barrier(start, log_stride, size, psync);
        shmem_sync(start, log_stride, size, psync_too);
    }
    for (int c = 0; c < 5; c++) {
        const size_t count = counts[c];
        for (int root = 0; root < size; root++) {
            for (size_t k = 0; k < count; k++)
                to[k] = -1;
            fill(i, count, root);
            shmem_barrier(start, log_stride, size, psync);
            shmem_broadcast64(to, from, count, root, start, log_stride, size, psync_too);
            for (size_t k = 0; k < count; k++)
                CHECK(to[k] == (i == root ? -1 : element(root, k, root)));
            shmem_barrier(start, log_stride, size, psync);
        }
        fill(i, count * (size_t)size, c);
        shmem_barrier(start, log_stride, size, psync);
        shmem_fcollect64(to, from, count, start, log_stride, size, psync_too);
        for (size_t k = 0; k < count * (size_t)size; k++)
            CHECK(to[k] == element((int)(k / count), k % count, c));
        shmem_barrier(start, log_stride, size, psync);
        shmem_collect64(to, from, i % 2 ? 0 : count, start, log_stride, size, psync_too);
        for (size_t k = 0; k < count * (size_t)((size + 1) / 2); k++)
            CHECK(to[k] == element((int)(k / count) * 2, k % count, c));
        shmem_barrier(start, log_stride, size, psync);
        shmem_alltoall64(to, from, count, start, log_stride, size, psync_too);
        for (size_t k = 0; k < count * (size_t)size; k++)
            CHECK(to[k] == element((int)(k / count), (size_t)i * count + k % count, c));
        shmem_barrier(start, log_stride, size, psync);
        for (int in_place = 0; in_place < 2; in_place++) {
            long *source = in_place ? to : from;
            for (size_t k = 0; k < count; k++)
                source[k] = element(i, k, c);
            shmem_barrier(start, log_stride, size, psync);
            shmem_long_sum_to_all(to, source, (int)count, start, log_stride, size, pwrk, psync_too);
            for (size_t k = 0; k < count; k++) {
                long sum = 0;
                for (int pe = 0; pe < size; pe++)
                    sum += element(pe, k, c);
                CHECK(to[k] == sum);
            }
            shmem_barrier(start, log_stride, size, psync);
        }
    }
    /* The arrays are as they were. */
    for (int k = 0; k < SHMEM_SYNC_SIZE; k++)
        CHECK(psync[k] == SHMEM_SYNC_VALUE && psync_too[k] == SHMEM_SYNC_VALUE);
}

static void active_sets(void)
{
    for (int log_stride = 0; (1 << log_stride) <= pes; log_stride++)
        for (int start = 0; start < pes; start++)
            for (int size = 1; start + ((size - 1) << log_stride) < pes; size++) {
                int index = (me - start) >> log_stride, stride = 1 << log_stride;
                if (me >= start && (me - start) % stride == 0 && index < size)
                    of_active_set(start, log_stride, size);
                shmem_barrier_all();
            }
}

static void nothing_moved(void)
{
    long here[4] = {1, 2, 3, 4};
    to[0] = 9;
    shmem_barrier_all();
    shmem_long_put(to, here, 0, right);
    shmem_long_put(to, NULL, 0, right);
    shmem_putmem(to, NULL, 0, right);
    shmem_put128_nbi(to, NULL, 0, right);
    shmem_long_get(here, to, 0, right);
    shmem_getmem(NULL, to, 0, right);
    shmem_long_iput(to, here, 1, 1, 0, right);
    shmem_long_iget(here, to, 1, 1, 0, right);
    shmem_long_ibput(to, here, 2, 2, 2, 0, right);
    shmem_long_ibget(here, to, 2, 2, 2, 0, right);
    shmem_pe_quiet(NULL, 0);
    shmem_barrier_all();
    CHECK(to[0] == 9 && here[0] == 1 && here[3] == 4);
    /* A put of nothing with a signal is a signal. */
    uint64_t *signal = (uint64_t *)symmetric(sizeof *signal);
    shmem_putmem_signal(to, NULL, 0, signal, 5, SHMEM_SIGNAL_SET, right);
    CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 5) == 5);
    shmem_barrier_all();
    shmem_long_put_signal_nbi(to, NULL, 0, signal, 5, SHMEM_SIGNAL_ADD, right);
    CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_GT, 5) == 10);
    shmem_barrier_all();
    CHECK(to[0] == 9);
    shmem_free(signal);
}

/* Memory of the calling PE is as good a target as that of another. */
static void to_oneself(void)
{
    for (size_t k = 0; k < 100; k++)
        from[k] = element(me, k, 1);
    shmem_long_put(to, from, 100, me);
    shmem_quiet();
    CHECK(memcmp(to, from, 100 * sizeof *to) == 0);
    shmem_long_put(to, to, 100, me);
    shmem_long_get(to, to, 100, me);
    CHECK(memcmp(to, from, 100 * sizeof *to) == 0);
    CHECK(shmem_long_atomic_fetch_add(to, 1, me) == from[0] && to[0] == from[0] + 1);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    meet();
    from = (long *)symmetric(LONGEST * sizeof *from);
    to = (long *)symmetric((LONGEST + 1) * sizeof *to);
    psync = (long *)symmetric(SHMEM_SYNC_SIZE * sizeof *psync);
    psync_too = (long *)symmetric(SHMEM_SYNC_SIZE * sizeof *psync_too);
    pwrk = (long *)symmetric((3000 / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * sizeof *pwrk);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[i] = psync_too[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    of_team(SHMEM_TEAM_WORLD);
    of_team(SHMEM_TEAM_SHARED);
    of_invalid();
    /* Each PE alone; pairs of neighbours; all, backwards. */
    for (int pe = 0; pe < pes; pe++) {
        shmem_team_t alone;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, pe % 3 - 1, 1, NULL, 0, &alone) == 0);
        CHECK((alone != SHMEM_TEAM_INVALID) == (pe == me));
        if (pe == me)
            of_team(alone);
        shmem_team_destroy(alone);
    }
    shmem_team_t row, column, back;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, NULL, 0, &row, NULL, 0, &column) == 0);
    of_team(row);
    of_team(column);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &back) == 0);
    of_team(back);
    shmem_team_destroy(back);
    shmem_team_destroy(column);
    shmem_team_destroy(row);
    shmem_barrier_all();
    strided_exchange();
    active_sets();
    nothing_moved();
    to_oneself();
    shmem_finalize();
    return 0;
}
