/* Many threads of each PE communicate at once. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, TIMES = 500 };

static long *counters, *slots;

static void *work(void *argument)
{
    long thread = (long)(intptr_t)argument;
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(thread % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx) == 0);
    for (long i = 0; i < TIMES; i++) {
        int pe = (int)((me + i) % pes);
        shmem_long_atomic_inc(&counters[0], pe);
        shmem_ctx_long_atomic_add(ctx, &counters[1], 2, pe);
        long *mine = &slots[(me * THREADS + thread) % (64 * THREADS)];
        shmem_ctx_long_p(ctx, mine, i, pe);
        shmem_ctx_quiet(ctx);
        CHECK(shmem_ctx_long_g(ctx, mine, pe) == i);
        if (i % 100 == 0) {
            shmem_fence();
            shmem_quiet();
        }
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

int main(void)
{
    int provided = -1;
    pthread_t threads[THREADS];
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    CHECK(provided == SHMEM_THREAD_MULTIPLE);
    meet();
    provided = -1;
    shmem_query_thread(&provided);
    CHECK(provided == SHMEM_THREAD_MULTIPLE);
    counters = (long *)symmetric(2 * sizeof *counters);
    slots = (long *)symmetric(64 * THREADS * sizeof *slots);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    long all[2] = {0, 0};
    for (int pe = 0; pe < pes; pe++) {
        all[0] += shmem_long_g(&counters[0], pe);
        all[1] += shmem_long_g(&counters[1], pe);
    }
    CHECK(all[0] == (long)THREADS * TIMES * pes && all[1] == 2 * all[0]);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
