/* Every collective that moves data: each type, on the world, on a team that skips PEs, and on
 * active sets. */
#include "check.h"

enum { COUNT = 3, PES = 8, ELEMENTS = PES * COUNT * 4 };

static char *from, *to;
static shmem_team_t teams[2];
static long *psync;

static void clear(void)
{
    shmem_barrier_all();
    memset(to, 0, ELEMENTS * 16);
    shmem_barrier_all();
}

#define TEMPLATE "collective.inc"
#include "each_rma.h"
#undef TEMPLATE

#ifdef TYPED
/* The same for bytes. */
static void of_bytes(shmem_team_t team)
{
    int n = shmem_team_n_pes(team), i = shmem_team_my_pe(team);
    unsigned char *source = (unsigned char *)from, *dest = (unsigned char *)to;
    clear();
    for (int k = 0; k < n * COUNT; k++)
        source[k] = (unsigned char)(i * 50 + k);
    CHECK(shmem_broadcastmem(team, dest, source, COUNT, n - 1) == 0);
    for (int k = 0; k < COUNT; k++)
        CHECK(dest[k] == (unsigned char)((n - 1) * 50 + k));
    shmem_team_sync(team);
    CHECK(shmem_fcollectmem(team, dest, source, COUNT) == 0);
    for (int k = 0; k < n * COUNT; k++)
        CHECK(dest[k] == (unsigned char)(k / COUNT * 50 + k % COUNT));
    shmem_team_sync(team);
    CHECK(shmem_collectmem(team, dest, source, (size_t)i + 1) == 0);
    for (int pe = 0, at = 0; pe < n; pe++)
        for (int k = 0; k <= pe; k++, at++)
            CHECK(dest[at] == (unsigned char)(pe * 50 + k));
    shmem_team_sync(team);
    CHECK(shmem_alltoallmem(team, dest, source, COUNT) == 0);
    for (int k = 0; k < n * COUNT; k++)
        CHECK(dest[k] == (unsigned char)(k / COUNT * 50 + i * COUNT + k % COUNT));
    shmem_team_sync(team);
    memset(dest, 0, 2 * n);
    shmem_team_sync(team);
    CHECK(shmem_alltoallsmem(team, dest, source, 2, 1, 1) == 0);
    for (int k = 0; k < 2 * n; k++)
        CHECK(dest[k] == (k % 2 ? 0 : (unsigned char)(k / 2 * 50 + i)));
}

#define ACTIVE(bits) \
    static void active_##bits(int start, int log_stride, int size) \
    { \
        uint##bits##_t *source = (uint##bits##_t *)from, *dest = (uint##bits##_t *)to; \
        int stride = 1 << log_stride, i = (me - start) / stride, n = size; \
        clear(); \
        for (int k = 0; k < n * COUNT; k++) \
            source[k] = (uint##bits##_t)(i * 1000 + k); \
        if (me >= start && (me - start) % stride == 0 && i < n) { \
            shmem_broadcast##bits(dest, source, COUNT, n - 1, start, log_stride, size, psync); \
            for (int k = 0; k < COUNT; k++) \
                CHECK(dest[k] == (i == n - 1 ? 0 : (uint##bits##_t)((n - 1) * 1000 + k))); \
            shmem_barrier(start, log_stride, size, psync + 64); \
            shmem_collect##bits(dest, source, (size_t)i + 1, start, log_stride, size, \
                                psync + 128); \
            for (int pe = 0, at = 0; pe < n; pe++) \
                for (int k = 0; k <= pe; k++, at++) \
                    CHECK(dest[at] == (uint##bits##_t)(pe * 1000 + k)); \
            shmem_sync(start, log_stride, size, psync + 192); \
            shmem_fcollect##bits(dest, source, COUNT, start, log_stride, size, psync); \
            for (int k = 0; k < n * COUNT; k++) \
                CHECK(dest[k] == (uint##bits##_t)(k / COUNT * 1000 + k % COUNT)); \
            shmem_barrier(start, log_stride, size, psync + 64); \
            shmem_alltoall##bits(dest, source, COUNT, start, log_stride, size, psync + 128); \
            for (int k = 0; k < n * COUNT; k++) \
                CHECK(dest[k] == (uint##bits##_t)(k / COUNT * 1000 + i * COUNT + k % COUNT)); \
            shmem_barrier(start, log_stride, size, psync + 64); \
            memset(dest, 0, 2 * n * sizeof *dest); \
            shmem_barrier(start, log_stride, size, psync + 192); \
            shmem_alltoalls##bits(dest, source, 2, 1, 1, start, log_stride, size, psync); \
            for (int k = 0; k < 2 * n; k++) \
                CHECK(dest[k] == (k % 2 ? 0 : (uint##bits##_t)(k / 2 * 1000 + i))); \
        } \
        shmem_barrier_all(); \
    }
ACTIVE(32)
ACTIVE(64)
#endif

int main(void)
{
    shmem_init();
    meet();
    CHECK(pes <= PES);
    from = (char *)symmetric(ELEMENTS * 16);
    to = (char *)symmetric(ELEMENTS * 16);
    psync = (long *)symmetric(4 * 64 * sizeof *psync);
    CHECK(SHMEM_SYNC_SIZE <= 64);
    for (int i = 0; i < 4 * 64; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    teams[0] = SHMEM_TEAM_WORLD;
    /* PEs 0, 2, 4 and so on. */
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (pes + 1) / 2, NULL, 0, &teams[1]) == 0);
    for (int t = 0; t < 2; t++) {
        int inside = teams[t] != SHMEM_TEAM_INVALID;
        CHECK(inside == (t == 0 || me % 2 == 0));
#define RUN(name, type) of_##name(teams[t], inside);
        EACH_RMA(RUN)
    }
#ifdef TYPED
    of_bytes(SHMEM_TEAM_WORLD);
    active_32(0, 0, pes);
    active_64(0, 0, pes);
    active_64(0, 1, (pes + 1) / 2);
    active_32(pes - 1, 0, 1);
#endif
    shmem_team_destroy(teams[1]);
    shmem_finalize();
    return 0;
}
