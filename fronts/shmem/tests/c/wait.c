/* Every way to wait for and to test objects, for each type. The left neighbour updates them, by
 * plain puts. */
#include "check.h"

enum { COUNT = 6 };

static char *objects;

static void clear(void)
{
    shmem_barrier_all();
    memset(objects, 0, COUNT * 8);
    shmem_barrier_all();
}

#define TEMPLATE "wait.inc"
#include "each_amo.h"
#undef TEMPLATE
#define TEMPLATE "wait_old.inc"
#include "each_wait_old.h"
#undef TEMPLATE
#ifdef TYPED
#define TEMPLATE "wait_oldest.inc"
#include "each_wait_oldest.h"
#undef TEMPLATE
#endif

int main(void)
{
    shmem_init();
    meet();
    objects = (char *)symmetric(COUNT * 8);
#define RUN(name, type) wait_for_##name();
    EACH_AMO(RUN)
#define RUN_OLD(name, type) wait_old_##name();
    EACH_WAIT_OLD(RUN_OLD)
#ifdef TYPED
#define RUN_OLDEST(name, type) wait_oldest_##name();
    EACH_WAIT_OLDEST(RUN_OLDEST)
    long *word = (long *)objects;
    clear();
    shmem_long_p(word, 5, right);
    shmem_wait(word, 0);
    CHECK(*word == 5);
    clear();
    shmem_long_p(word, 6, right);
    (shmem_wait_until)(word, SHMEM_CMP_GT, 5);
    CHECK(*word == 6);
#endif
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
