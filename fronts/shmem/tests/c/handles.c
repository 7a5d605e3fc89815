/* Teams, contexts and memory at the limits of their arguments. */
#include "check.h"
#include <stdint.h>

static long word, words[64];

/* Return values and handles are checked, on all PEs. */
static void splits_refused(void)
{
    static const struct {
        int start, stride, size;
    } wrong[] = {{0, 1, 0}, {0, 1, -1}, {-1, 1, 1}, {0, 0, 2}, {0, -1, 2}, {0, INT_MAX, 2},
                 {INT_MAX, INT_MAX, INT_MAX}, {0, INT_MIN, INT_MAX}, {INT_MIN, 1, 1}};
    shmem_team_t team, x, y;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        team = SHMEM_TEAM_WORLD;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, wrong[i].start, wrong[i].stride,
                                       wrong[i].size, NULL, 0, &team) != 0);
        CHECK(team == SHMEM_TEAM_INVALID);
    }
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes, 1, 1, NULL, 0, &team) != 0);
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    for (int xrange = -1; xrange <= 0; xrange++) {
        x = y = SHMEM_TEAM_WORLD;
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) != 0);
        CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
    }
    x = y = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &x, NULL, 0, &y) != 0);
    CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
}

static void wide_grid(void)
{
    static const int wide[] = {0, 1, 5, INT_MAX};
    for (int i = 0; i < 4; i++) {
        shmem_team_t x, y;
        int xrange = wide[i] == INT_MAX ? INT_MAX : pes + wide[i];
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) == 0);
        CHECK(shmem_team_n_pes(x) == pes && shmem_team_my_pe(x) == me);
        CHECK(shmem_team_n_pes(y) == 1 && shmem_team_my_pe(y) == 0);
        CHECK(shmem_team_translate_pe(y, 0, x) == me);
        shmem_team_destroy(x);
        shmem_team_destroy(y);
    }
}

/* Three dimensions of two splits, as in the specification. */
static void cube(void)
{
    shmem_team_t x, yz, y, z;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &yz) == 0);
    CHECK(shmem_team_split_2d(yz, 2, NULL, 0, &y, NULL, 0, &z) == 0);
    CHECK(shmem_team_my_pe(x) == me % 2);
    CHECK(shmem_team_my_pe(y) == me / 2 % 2);
    CHECK(shmem_team_my_pe(z) == me / 4);
    shmem_team_destroy(z);
    shmem_team_destroy(y);
    shmem_team_destroy(yz);
    shmem_team_destroy(x);
}

static void configurations(void)
{
    shmem_team_config_t given = {7}, got = {-5};
    shmem_team_t team, y;
    CHECK(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL) == 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, &got) == 0 && got.num_contexts == -5);
    CHECK(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0);
    CHECK(got.num_contexts >= 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_SHARED, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_WORLD, ~0L, &got) == 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, NULL) != 0);
    got.num_contexts = -5;
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &got) != 0);
    CHECK(got.num_contexts == -5);
    /* An entry that the mask does not name has its default. */
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, &given, 0, &team) == 0);
    CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0);
    CHECK(got.num_contexts == 0);
    shmem_team_destroy(team);
    /* The other axis has other values. */
    shmem_team_config_t of_y = {3};
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, &given, SHMEM_TEAM_NUM_CONTEXTS, &team, &of_y,
                              SHMEM_TEAM_NUM_CONTEXTS, &y) == 0);
    CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0);
    CHECK(got.num_contexts == 7);
    CHECK(shmem_team_get_config(y, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 3);
    shmem_team_destroy(team);
    shmem_team_destroy(y);
}

static void translation(void)
{
    shmem_team_t evens, back;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (pes + 1) / 2, NULL, 0, &evens) == 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &back) == 0);
    for (int pe = 0; pe < pes; pe++) {
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, back) == pes - 1 - pe);
        CHECK(shmem_team_translate_pe(back, pe, SHMEM_TEAM_WORLD) == pes - 1 - pe);
        CHECK(shmem_team_translate_pe(back, pe, back) == pe);
        if (evens != SHMEM_TEAM_INVALID)
            CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, evens) == (pe % 2 ? -1 : pe / 2));
    }
    static const int wrong[] = {-1, INT_MIN, INT_MAX};
    for (int i = 0; i < 3; i++) {
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, wrong[i], back) == -1);
        CHECK(shmem_team_translate_pe(back, wrong[i], SHMEM_TEAM_WORLD) == -1);
    }
    CHECK(shmem_team_translate_pe(back, pes, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_translate_pe(evens == SHMEM_TEAM_INVALID ? evens : back, 0,
                                  SHMEM_TEAM_INVALID) == -1);
    shmem_team_destroy(back);
    shmem_team_destroy(evens);
}

/* Teams come and go many times over, and many exist at a time. */
static void many_teams(void)
{
    enum { MANY = 100 };
    shmem_team_t teams[MANY];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < MANY; i++) {
            shmem_team_t parent = i ? teams[i - 1] : SHMEM_TEAM_WORLD;
            CHECK(shmem_team_split_strided(parent, 0, 1, pes, NULL, 0, &teams[i]) == 0);
            CHECK(teams[i] != SHMEM_TEAM_INVALID && teams[i] != parent);
        }
        for (int i = 0; i < MANY; i++)
            CHECK(shmem_team_sync(teams[i]) == 0);
        /* Parents may go before their children. */
        for (int i = 0; i < MANY; i++)
            shmem_team_destroy(teams[i]);
    }
}

static void contexts_refused(void)
{
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
    shmem_ctx_destroy(ctx);
    /* Operations on an invalid context do nothing. */
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, &right, 1);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
}

static void all_options(void)
{
    static const long options[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) {
                shmem_ctx_t ctx;
                long all = options[i] | options[j] | options[k];
                CHECK(shmem_ctx_create(all, &ctx) == 0 && ctx != SHMEM_CTX_INVALID);
                CHECK(ctx != SHMEM_CTX_DEFAULT);
                shmem_ctx_fence(ctx);
                shmem_ctx_quiet(ctx);
                shmem_ctx_destroy(ctx);
            }
    /* Many at a time, of the world and of a team. */
    enum { MANY = 500 };
    static shmem_ctx_t many[MANY];
    shmem_team_config_t config = {MANY};
    shmem_team_t team, of;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, &config, SHMEM_TEAM_NUM_CONTEXTS,
                                   &team) == 0);
    for (int i = 0; i < MANY; i++) {
        CHECK(shmem_team_create_ctx(team, 0, &many[i]) == 0);
        CHECK(i == 0 || many[i] != many[i - 1]);
        shmem_ctx_long_atomic_inc(many[i], &word, right);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(shmem_ctx_get_team(many[i], &of) == 0 && of == team);
        shmem_ctx_destroy(many[i]);
    }
    shmem_barrier_all();
    CHECK(word == MANY);
    shmem_team_destroy(team);
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &many[0]) == 0);
    CHECK(shmem_ctx_get_team(many[0], &of) == 0 && of == SHMEM_TEAM_SHARED);
    shmem_ctx_destroy(many[0]);
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_WORLD, SHMEM_CTX_PRIVATE, &many[0]) == 0);
    CHECK(shmem_ctx_get_team(many[0], &of) == 0 && of == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(many[0]);
}

/* On the context of a team that counts backwards, PE numbers are those of the team for every kind
 * of operation; on the default context, named or not, they are those of the world. */
static void numbers_of_a_team(shmem_ctx_t ctx, int target, int origin)
{
    long got[4] = {0};
    uint64_t *signals = (uint64_t *)&words[40];
    shmem_barrier_all();
    memset(words, 0, sizeof words);
    shmem_barrier_all();
    for (long i = 0; i < 4; i++)
        got[i] = 10 * me + i;
    shmem_ctx_long_put(ctx, &words[0], got, 4, target);
    shmem_ctx_long_p(ctx, &words[4], 10 * me + 4, target);
    shmem_ctx_long_iput(ctx, &words[5], got, 2, 1, 2, target);
    shmem_ctx_putmem(ctx, &words[8], got, sizeof got, target);
    shmem_ctx_long_atomic_add(ctx, &words[12], me + 1, target);
    shmem_ctx_put64_signal(ctx, &words[13], got, 2, &signals[0], 3, SHMEM_SIGNAL_ADD, target);
    shmem_ctx_signal_set(ctx, &signals[1], 8, target);
    shmem_ctx_signal_add(ctx, &signals[1], 1, target);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (long i = 0; i < 5; i++)
        CHECK(words[i] == 10 * origin + i);
    CHECK(words[5] == 10 * origin && words[6] == 0 && words[7] == 10 * origin + 1);
    CHECK(memcmp(&words[8], &words[0], sizeof got) == 0);
    CHECK(words[12] == origin + 1 && words[14] == 10 * origin + 1);
    CHECK(shmem_signal_fetch(&signals[0]) == 3 && shmem_signal_fetch(&signals[1]) == 9);
    shmem_barrier_all();
    words[20] = 70 + me;
    words[21] = 90 + me;
    shmem_barrier_all();
    /* The value that was put there is the number of the PE that we address. */
    long there = shmem_ctx_long_g(ctx, &words[20], target) - 70;
    shmem_ctx_long_get(ctx, got, &words[20], 2, target);
    CHECK(got[0] == 70 + there && got[1] == 90 + there);
    shmem_ctx_long_get_nbi(ctx, got, &words[21], 1, target);
    shmem_ctx_long_atomic_fetch_nbi(ctx, &got[1], &words[20], target);
    shmem_ctx_quiet(ctx);
    CHECK(got[0] == 90 + there && got[1] == 70 + there);
    CHECK(shmem_ctx_long_atomic_swap(ctx, &words[20], 5, target) == 70 + there);
    shmem_barrier_all();
    CHECK(words[20] == 5);
}

static void numbers(void)
{
    shmem_team_t back;
    shmem_ctx_t ctx;
    shmem_team_config_t config = {1};
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, &config,
                                   SHMEM_TEAM_NUM_CONTEXTS, &back) == 0);
    CHECK(shmem_team_create_ctx(back, 0, &ctx) == 0);
    /* Number n of `back` is PE pes - 1 - n: right there is left here. */
    int i = shmem_team_my_pe(back);
    numbers_of_a_team(ctx, (i + 1) % pes, right);
    numbers_of_a_team(SHMEM_CTX_DEFAULT, right, left);
    CHECK(shmem_team_ptr(back, &word, i) == (void *)&word);
    CHECK(shmem_team_ptr(back, &word, (i + 1) % pes) == shmem_ptr(&word, left));
    CHECK(shmem_team_ptr(back, &word, pes) == NULL && shmem_team_ptr(back, &word, -1) == NULL);
    CHECK(shmem_team_ptr(back, &ctx, 0) == NULL && shmem_ptr(&ctx, right) == NULL);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(back);
}

static void sessions(shmem_ctx_t ctx)
{
    shmem_ctx_session_config_t config = {1000};
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, 0);
    shmem_barrier_all();
    word = 0;
    shmem_barrier_all();
    for (int i = 0; i < 10; i++)
        shmem_ctx_long_atomic_inc(ctx, &word, right);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(word == 10);
    shmem_ctx_session_stop(ctx);
    /* Without effect. */
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_stop(ctx);
}

static void blocks(void)
{
    /* Symmetric: the distance from a static object is the same here and at a neighbour. */
    void *first = shmem_malloc(1), *second = shmem_malloc(1);
    CHECK(first && second && first != second);
    CHECK((uintptr_t)first % _Alignof(max_align_t) == 0);
    if (is_near(right))
        CHECK((char *)shmem_ptr(second, right) - (char *)shmem_ptr(first, right)
              == (char *)second - (char *)first);
    shmem_free(second);
    shmem_free(first);
    static const size_t wrong[] = {0, 1, 3, 12, 24, 100};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        /* Undefined, so it may succeed or fail, but does no harm. */
        void *block = shmem_align(wrong[i], 100);
        shmem_free(block);
    }
    for (size_t alignment = sizeof(void *); alignment <= (size_t)4 << 20; alignment *= 2) {
        char *a = (char *)shmem_align(alignment, 1), *b = (char *)shmem_align(alignment, 1000);
        CHECK(a && b && (uintptr_t)a % alignment == 0 && (uintptr_t)b % alignment == 0);
        CHECK(a != b);
        shmem_free(a);
        shmem_free(b);
    }
    CHECK(shmem_align(64, 0) == NULL && shmem_realloc(NULL, 0) == NULL);
    CHECK(shmem_calloc(SIZE_MAX, 2) == NULL && shmem_calloc((size_t)1 << 32, (size_t)1 << 32) == NULL);
    /* Contents stay, up to the smaller size, in each direction and at each repetition. */
    unsigned char *block = NULL;
    size_t had = 0;
    static const size_t sizes[] = {1, 100, 10, 5000, 4999, 100000, 64, 65, 63, 3000000, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        block = (unsigned char *)shmem_realloc(block, sizes[i]);
        CHECK(block != NULL);
        for (size_t k = 0; k < (had < sizes[i] ? had : sizes[i]); k++)
            CHECK(block[k] == (unsigned char)(k * 7 + (size_t)me));
        had = sizes[i];
        for (size_t k = 0; k < had; k++)
            block[k] = (unsigned char)(k * 7 + (size_t)me);
    }
    CHECK(shmem_realloc(block, 0) == NULL);
    static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                                 SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
    for (int i = 0; i < 4; i++) {
        uint64_t *hinted = (uint64_t *)shmem_malloc_with_hints(8 * sizeof *hinted, hints[i]);
        CHECK(hinted != NULL);
        hinted[0] = 0;
        shmem_barrier_all();
        shmem_uint64_atomic_add(hinted, 3, right);
        CHECK(shmem_signal_wait_until(hinted, SHMEM_CMP_EQ, 3) == 3);
        hinted = (uint64_t *)shmem_realloc(hinted, 100 * sizeof *hinted);
        CHECK(hinted != NULL && hinted[0] == 3);
        CHECK(shmem_malloc_with_hints(0, hints[i]) == NULL);
        shmem_free(hinted);
    }
    /* A block that was used before is zero again. */
    unsigned char *dirty = (unsigned char *)shmem_malloc(4096);
    memset(dirty, 0xff, 4096);
    shmem_free(dirty);
    dirty = (unsigned char *)shmem_calloc(64, 64);
    for (int k = 0; k < 4096; k++)
        CHECK(dirty[k] == 0);
    shmem_free(dirty);
}

/* The first in the queue is served first, and no other PE has the lock meanwhile. */
static void locks(void)
{
    static long lock, held, turns;
    for (int i = 0; i < 50; i++) {
        if (i % 5 == 4) {
            while (shmem_test_lock(&lock) != 0)
                ;
        } else {
            shmem_set_lock(&lock);
        }
        CHECK(shmem_long_atomic_fetch_inc(&held, 0) == 0);
        long seen = shmem_long_g(&turns, 0);
        shmem_long_p(&turns, seen + 1, 0);
        shmem_quiet();
        CHECK(shmem_long_atomic_fetch_add(&held, -1, 0) == 1);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&turns, 0) == 50L * pes);
    /* One that is held is not given twice. */
    if (me == 0)
        CHECK(shmem_test_lock(&lock) == 0);
    shmem_barrier_all();
    if (me != 0)
        CHECK(shmem_test_lock(&lock) == 1);
    shmem_barrier_all();
    if (me == 0)
        shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (me == pes - 1) {
        CHECK(shmem_test_lock(&lock) == 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(lock == 0);
}

/* Other PEs have stored the tested value and left: that is no reason to complain. */
static void late_test(void)
{
    shmem_barrier_all();
    word = 0;
    shmem_barrier_all();
    if (me != 0) {
        shmem_long_atomic_inc(&word, 0);
        return;
    }
    CHECK(shmem_long_test(&word, SHMEM_CMP_LT, 0) == 0);
    pause_ms(20);
    for (int i = 0; i < 200000; i++)
        CHECK(shmem_long_test(&word, SHMEM_CMP_LT, 0) == 0);
    while (!shmem_long_test(&word, SHMEM_CMP_EQ, pes - 1))
        ;
}

int main(void)
{
    int provided = -1;
    CHECK(shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided) == 0);
    CHECK(provided >= SHMEM_THREAD_FUNNELED && provided <= SHMEM_THREAD_MULTIPLE);
    meet();
    splits_refused();
    wide_grid();
    cube();
    configurations();
    translation();
    many_teams();
    contexts_refused();
    all_options();
    numbers();
    sessions(SHMEM_CTX_DEFAULT);
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
    sessions(ctx);
    shmem_ctx_destroy(ctx);
    blocks();
    locks();
    late_test();
    shmem_finalize();
    return 0;
}
