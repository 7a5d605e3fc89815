/* Setup, queries, memory, and the functions that do nothing today. */
#include "check.h"
#include <pshmem.h>

static long object[4];

static void memory(void)
{
    CHECK(shmem_malloc(0) == NULL);
    CHECK(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL);
    CHECK(shmem_malloc_with_hints(0, 0) == NULL);
    shmem_free(NULL);
    for (size_t alignment = sizeof(void *); alignment <= 65536; alignment *= 2) {
        char *block = (char *)shmem_align(alignment, 100);
        CHECK(block != NULL && (uintptr_t)block % alignment == 0);
        shmem_free(block);
    }
    int *numbers = (int *)shmem_calloc(1000, sizeof *numbers);
    CHECK(numbers != NULL);
    for (int i = 0; i < 1000; i++)
        CHECK(numbers[i] == 0);
    for (int i = 0; i < 1000; i++)
        numbers[i] = me + i;
    numbers = (int *)shmem_realloc(numbers, 100000 * sizeof *numbers);
    CHECK(numbers != NULL);
    for (int i = 0; i < 1000; i++)
        CHECK(numbers[i] == me + i);
    /* Remote accesses use the new place. */
    shmem_int_p(&numbers[99999], me, right);
    shmem_barrier_all();
    CHECK(numbers[99999] == left);
    numbers = (int *)shmem_realloc(numbers, 500 * sizeof *numbers);
    CHECK(numbers != NULL && numbers[499] == me + 499);
    shmem_free(numbers);
    void *fresh = shmem_realloc(NULL, 64);
    CHECK(fresh != NULL);
    CHECK(shmem_realloc(fresh, 0) == NULL);
    long hints = SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE;
    void *hinted = shmem_malloc_with_hints(64, hints);
    CHECK(hinted != NULL && (uintptr_t)hinted % 16 == 0);
    shmem_free(hinted);
    void *old = shmalloc(100);
    CHECK(old != NULL);
    old = shrealloc(old, 200);
    CHECK(old != NULL);
    shfree(old);
    old = shmemalign(256, 10);
    CHECK(old != NULL && (uintptr_t)old % 256 == 0);
    shfree(old);
    /* What is free is used again. */
    for (int i = 0; i < 2000; i++) {
        void *block = shmem_malloc(64 << 10);
        CHECK(block != NULL);
        shmem_free(block);
    }
}

static void queries(void)
{
    int major = 0, minor = 0, level = -1, on = -1;
    char name[SHMEM_MAX_NAME_LEN];
    memset(name, 'x', sizeof name);
    shmem_info_get_version(&major, &minor);
    CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
    CHECK(_SHMEM_MAJOR_VERSION == 1 && _SHMEM_MINOR_VERSION == 6);
    shmem_info_get_name(name);
    CHECK(memchr(name, 0, sizeof name) != NULL && strcmp(name, SHMEM_VENDOR_STRING) == 0);
    shmem_query_thread(&level);
    CHECK(level == SHMEM_THREAD_SINGLE);
    shmem_query_initialized(&on);
    CHECK(on == 1);
    CHECK(me >= 0 && me < pes && _my_pe() == me && _num_pes() == pes);
    CHECK(pshmem_my_pe() == me && pshmem_n_pes() == pes);
    for (int pe = -1; pe <= pes; pe++)
        CHECK(shmem_pe_accessible(pe) == (pe >= 0 && pe < pes));
    int on_stack = 0;
    long *in_heap = (long *)symmetric(sizeof *in_heap);
    CHECK(shmem_addr_accessible(in_heap, right) == 1);
    CHECK(shmem_addr_accessible(object, right) == 1);
    CHECK(shmem_addr_accessible(&on_stack, right) == 0);
    *in_heap = me;
    shmem_barrier_all();
    long *there = (long *)shmem_ptr(in_heap, right);
    CHECK((there != NULL) == is_near(right) && (there == NULL || *there == right));
    CHECK(shmem_ptr(in_heap, me) == (void *)in_heap);
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, in_heap, right) == (void *)there);
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, in_heap, 0) == NULL);
    shmem_barrier_all();
    if (there)
        *there = 100 + me;
    shmem_barrier_all();
    CHECK(*in_heap == (is_near(left) ? 100 + left : me));
    shmem_free(in_heap);
}

static void nothing(void)
{
    shmem_pcontrol(0);
    shmem_pcontrol(1, "more", 2.0);
    shmem_set_cache_inv();
    shmem_clear_cache_inv();
    shmem_set_cache_line_inv(object);
    shmem_clear_cache_line_inv(object);
    shmem_udcflush();
    shmem_udcflush_line(object);
}

static void order(void)
{
    long *words = (long *)symmetric(2 * sizeof *words);
    int one[1] = {right};
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    for (long i = 1; i <= 100; i++) {
        shmem_long_p(&words[0], i, right);
        if (i % 2)
            shmem_fence();
        else
            shmem_quiet();
        shmem_long_p(&words[1], i, right);
        while (shmem_long_atomic_fetch(&words[1], me) < i)
            ;
        CHECK(words[0] >= i);
        shmem_sync_all();
    }
    shmem_ctx_long_p(ctx, &words[0], 500, right);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_p(ctx, &words[0], 501, right);
    shmem_ctx_pe_quiet(ctx, one, 1);
    CHECK(shmem_long_g(&words[0], right) == 501);
    shmem_long_p(&words[1], 502, right);
    shmem_pe_quiet(one, 1);
    shmem_pe_quiet(NULL, 0);
    CHECK(shmem_long_g(&words[1], right) == 502);
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    shmem_free(words);
}

int main(void)
{
    int on = -1;
    shmem_query_initialized(&on);
    CHECK(on == 0);
    shmem_init();
    meet();
    queries();
    memory();
    nothing();
    order();
    double before = shmemx_wtime();
    pause_ms(2);
    CHECK(shmemx_wtime() - before >= 0.002);
    shmem_barrier_all();
    shmem_finalize();
    shmem_query_initialized(&on);
    CHECK(on == 0);
    return 0;
}
