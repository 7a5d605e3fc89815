/* Forbidden calls, by each of the routines that may be inline: the first argument is the mistake, the
 * second the routine. The driver knows the expected report, which is the same inline and not. */
#include "check.h"
#include <signal.h>
#include <sys/wait.h>

static long words[32];

static void operate(const char *by, long *at, int pe)
{
    long here[32] = {0};
    volatile size_t count = 13;
    volatile long sink = 0;
#define BY(name, call) \
    if (strcmp(by, name) == 0) { \
        call; \
        return; \
    }
    BY("p", shmem_long_p(at, 1, pe))
    BY("g", sink = shmem_long_g(at, pe))
    BY("put", shmem_long_put(at, here, 1, pe))
    BY("put-8", shmem_long_put(at, here, 8, pe))
    BY("put-many", shmem_putmem(at, here, count * 8, pe))
    BY("get", shmem_long_get(here, at, 1, pe))
    BY("get-8", shmem_long_get(here, at, 8, pe))
    BY("get-many", shmem_getmem(here, at, count * 8, pe))
    BY("fetch", sink = shmem_long_atomic_fetch(at, pe))
    BY("set", shmem_long_atomic_set(at, 1, pe))
    BY("swap", sink = shmem_long_atomic_swap(at, 1, pe))
    BY("compare-swap", sink = shmem_long_atomic_compare_swap(at, 0, 1, pe))
    BY("inc", shmem_long_atomic_inc(at, pe))
    BY("fetch-inc", sink = shmem_long_atomic_fetch_inc(at, pe))
    BY("add", shmem_long_atomic_add(at, 1, pe))
    BY("fetch-add", sink = shmem_long_atomic_fetch_add(at, 1, pe))
    BY("xor", shmem_ulong_atomic_xor((unsigned long *)at, 1, pe))
    BY("fetch-xor", sink = (long)shmem_ulong_atomic_fetch_xor((unsigned long *)at, 1, pe))
    (void)sink;
    shmem_global_exit(3);
}

static void bad_pe(const char *by)
{
    shmem_init();
    meet();
    operate(by, words, pes);
    shmem_finalize();
}

static void negative_pe(const char *by)
{
    shmem_init();
    operate(by, words, -1);
    shmem_finalize();
}

static void bad_address(const char *by)
{
    long on_stack[32] = {0};
    shmem_init();
    meet();
    operate(by, on_stack, right);
    shmem_finalize();
}

static void unaligned(const char *by)
{
    shmem_init();
    meet();
    operate(by, (long *)((char *)words + 4), right);
    shmem_finalize();
}

static void before_init(const char *by)
{
    operate(by, words, 0);
    shmem_init();
    shmem_finalize();
}

/* In one function, after a use that was correct. */
static void after_finalize(const char *by)
{
    shmem_init();
    meet();
    operate(by, words, right);
    shmem_finalize();
    operate(by, words, right);
}

/* Beyond the end of a block; the memory after it is symmetric, too. */
static void bounds(const char *by)
{
    shmem_init();
    meet();
    char *block = (char *)shmem_malloc(100);
    void *next = shmem_malloc(1000);
    if (me == 0)
        operate(by, (long *)(block + 96), right);
    shmem_barrier_all();
    shmem_free(next);
    shmem_free(block);
    shmem_finalize();
}

/* Two PEs use the same words without an order that the library knows: they take turns only by plain
 * loads and stores. */
static void race(const char *by)
{
    static volatile int turn[2];
    shmem_init();
    meet();
    long *block = (long *)shmem_malloc(1000);
    volatile int *theirs = (volatile int *)shmem_ptr((void *)&turn[right], right);
    CHECK(pes == 2 && theirs != NULL);
    shmem_barrier_all();
    if (me == 1)
        *theirs = 1;
    while (!turn[me])
        pause_ms(1);
    if (me == 0) {
        shmem_putmem(block, words, 104, 1);
        *theirs = 1;
    } else {
        operate(by, block, 1);
    }
    shmem_barrier_all();
    shmem_free(block);
    shmem_finalize();
}

/* To a PE that has died. A waiting PE would notice the death and report it, but none waits. */
static void death(const char *by)
{
    shmem_init();
    meet();
    shmem_barrier_all();
    if (me == 1)
        raise(SIGKILL);
    for (int i = 0; i < 3000; i++) {
        operate(by, words, 1);
        pause_ms(10);
    }
}

/* What the inline code finds in the library: nothing while the library is not in use, or while it
 * has to see each access itself. */
static void reach(const char *by)
{
#ifdef SHMEMX_IS_INLINE
    const struct shmemx_reach_1 *const all = hostwire_reach();
    CHECK(all->version == 1 && all->size == sizeof *all && all->pes == 0);
    for (int round = 0; round < 2; round++) {
        shmem_init();
        meet();
        CHECK(all->pes == (strcmp(by, "none") == 0 ? 0 : (size_t)pes));
        shmem_barrier_all();
        shmem_long_p(words, me + 1, right);
        shmem_barrier_all();
        CHECK(words[0] == left + 1);
        pid_t child = fork();
        if (child == 0)
            _exit(all->pes != 0);
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(status == 0);
        shmem_finalize();
        CHECK(all->pes == 0);
    }
#else
    (void)by;
    exit(3);
#endif
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(const char *by);
    } mistakes[] = {
        {"bad-pe", bad_pe}, {"negative-pe", negative_pe}, {"bad-address", bad_address},
        {"unaligned", unaligned}, {"before-init", before_init},
        {"after-finalize", after_finalize}, {"bounds", bounds}, {"race", race},
        {"death", death}, {"reach", reach},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        if (argc > 2 && strcmp(argv[1], mistakes[i].name) == 0) {
            mistakes[i].make(argv[2]);
            return 0;
        }
    return 3;
}
