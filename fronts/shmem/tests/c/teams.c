/* Teams and contexts: numbering, splitting, configuration, destruction. */
#include "check.h"

static void numbering(void)
{
    CHECK(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me);
    CHECK(shmem_team_n_pes(SHMEM_TEAM_WORLD) == pes);
    CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
    /* PEs on one host share memory. */
    int near = 0;
    long *word = (long *)symmetric(sizeof *word);
    for (int pe = 0; pe < pes; pe++) {
        int shared = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED);
        CHECK(shared == (is_near(pe) ? near : -1));
        CHECK((shmem_ptr(word, pe) != NULL) == is_near(pe));
        near += is_near(pe);
    }
    CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) == near);
    int shared = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_SHARED, shared, SHMEM_TEAM_WORLD) == me);
    /* By loads and stores, and by atomics of all PEs. */
    for (int i = 0; i < near; i++) {
        CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, word, i) != NULL);
        for (int k = 0; k < 100; k++)
            __atomic_fetch_add((long *)shmem_team_ptr(SHMEM_TEAM_SHARED, word, i), 1,
                               __ATOMIC_SEQ_CST);
    }
    for (int pe = 0; pe < pes; pe++)
        for (int k = 0; k < 10; k++)
            shmem_long_atomic_inc(word, pe);
    shmem_team_sync(SHMEM_TEAM_SHARED);
    shmem_barrier_all();
    CHECK(*word == 100 * near + 10 * pes);
    shmem_barrier_all();
    shmem_free(word);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1);
}

static void strided(void)
{
    shmem_team_t odd, reverse, bad, copy;
    shmem_team_config_t config = {2}, got = {-1};
    int n = pes / 2;
    if (n > 0) {
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n, &config,
                                       SHMEM_TEAM_NUM_CONTEXTS, &odd) == 0);
        CHECK((odd != SHMEM_TEAM_INVALID) == (me % 2 == 1));
        if (me % 2) {
            CHECK(shmem_team_my_pe(odd) == me / 2 && shmem_team_n_pes(odd) == n);
            CHECK(shmem_team_translate_pe(odd, 0, SHMEM_TEAM_WORLD) == 1);
            CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, odd) == -1);
            CHECK(shmem_team_get_config(odd, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0);
            CHECK(got.num_contexts == 2);
            CHECK(shmem_team_sync(odd) == 0);
            shmem_team_destroy(odd);
        }
    }
    /* The last PE first. */
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &reverse) == 0);
    CHECK(shmem_team_my_pe(reverse) == pes - 1 - me);
    int sum = 0, *all = (int *)symmetric(pes * sizeof *all), *mine = (int *)symmetric(sizeof *mine);
    *mine = me;
    CHECK(shmem_int_fcollect(reverse, all, mine, 1) == 0);
    for (int i = 0; i < pes; i++) {
        CHECK(all[i] == pes - 1 - i);
        sum += all[i];
    }
    CHECK(sum == pes * (pes - 1) / 2);
    /* A team of a team. */
    CHECK(shmem_team_split_strided(reverse, 0, 1, 1, NULL, 0, &copy) == 0);
    CHECK((copy != SHMEM_TEAM_INVALID) == (me == pes - 1));
    if (me == pes - 1) {
        CHECK(shmem_team_n_pes(copy) == 1 && shmem_team_sync(copy) == 0);
        shmem_team_destroy(copy);
    }
    shmem_team_sync(reverse);
    shmem_team_destroy(reverse);
    /* PEs that are not there. */
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes + 1, NULL, 0, &bad) != 0);
    CHECK(bad == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &bad) != 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, &got) != 0);
    shmem_free(mine);
    shmem_free(all);
}

static void grid(void)
{
    for (int width = 1; width <= pes; width++) {
        shmem_team_t row, column;
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &row, NULL, 0, &column) == 0);
        int begin = me / width * width, rest = pes - begin;
        CHECK(shmem_team_n_pes(row) == (rest < width ? rest : width));
        CHECK(shmem_team_my_pe(row) == me % width);
        CHECK(shmem_team_my_pe(column) == me / width);
        CHECK(shmem_team_n_pes(column) == (pes - me % width + width - 1) / width);
        CHECK(shmem_team_translate_pe(row, 0, SHMEM_TEAM_WORLD) == begin);
        CHECK(shmem_team_translate_pe(column, 0, SHMEM_TEAM_WORLD) == me % width);
        CHECK(shmem_team_sync(row) == 0 && shmem_team_sync(column) == 0);
        shmem_team_destroy(row);
        shmem_team_destroy(column);
    }
}

static void contexts(void)
{
    static const long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE,
                                   SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};
    long *word = (long *)symmetric(sizeof *word);
    shmem_team_t team, of;
    for (int i = 0; i < 5; i++) {
        shmem_ctx_t ctx;
        CHECK(shmem_ctx_create(options[i], &ctx) == 0 && ctx != SHMEM_CTX_INVALID);
        CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == SHMEM_TEAM_WORLD);
        shmem_ctx_long_atomic_add(ctx, word, 1, right);
        shmem_ctx_quiet(ctx);
        shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all();
    CHECK(*word == 5);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &of) == 0 && of == SHMEM_TEAM_WORLD);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &of) != 0 && of == SHMEM_TEAM_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    /* On a context of a team, PEs are counted in the team. */
    shmem_team_config_t config = {1};
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, &config,
                                   SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
    shmem_ctx_t ctx;
    CHECK(shmem_team_create_ctx(team, 0, &ctx) == 0);
    CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == team);
    shmem_barrier_all();
    shmem_ctx_long_p(ctx, word, me, 0);
    shmem_ctx_quiet(ctx);
    if (pes == 1)
        CHECK(*word == 0);
    shmem_barrier_all();
    if (me == pes - 1)
        CHECK(*word >= 0 && *word < pes);
    else
        CHECK(*word == 5);
    /* A session changes nothing but speed. */
    shmem_ctx_session_config_t session = {100};
    shmem_barrier_all();
    *word = 0;
    shmem_barrier_all();
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &session, SHMEM_CTX_SESSION_TOTAL_OPS);
    for (int i = 0; i < 100; i++)
        shmem_ctx_long_atomic_inc(ctx, word, i % pes);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    long mine = 0, position = pes - 1 - me;
    for (int i = 0; i < 100; i++)
        mine += i % pes == position;
    CHECK(*word == mine * pes);
    shmem_ctx_t invalid;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &invalid) != 0);
    CHECK(invalid == SHMEM_CTX_INVALID);
    shmem_team_destroy(team);
    shmem_free(word);
}

int main(void)
{
    shmem_init();
    meet();
    numbering();
    strided();
    grid();
    contexts();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
