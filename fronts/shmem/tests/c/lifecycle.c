/* Beginnings and ends, good and bad: the first argument says which. The driver knows how each has
 * to end. */
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

static long word;

/* Initialised three times over and finalised as often, and all that again. */
static void repeated(void)
{
    for (int round = 0; round < 20; round++) {
        int on = -1;
        for (int i = 0; i < 3; i++)
            shmem_init();
        meet();
        long *heap = (long *)symmetric(sizeof *heap);
        shmem_long_p(heap, me + round, right);
        shmem_long_p(&word, me + round, right);
        shmem_barrier_all();
        CHECK(*heap == left + round && word == left + round);
        shmem_finalize();
        shmem_finalize();
        shmem_query_initialized(&on);
        CHECK(on == 1);
        CHECK(shmem_long_g(&word, left) == (left + pes - 1) % pes + round);
        shmem_finalize();
        shmem_query_initialized(&on);
        CHECK(on == 0);
    }
}

/* The old way: finalised at exit. */
static void implicit(void)
{
    start_pes(0);
    start_pes(0);
    me = _my_pe();
    pes = _num_pes();
    shmem_long_p(&word, 5, (me + 1) % pes);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 5);
}

static void out_of_memory(void)
{
    shmem_init();
    meet();
    CHECK(shmem_malloc((size_t)1 << 50) == NULL);
    CHECK(shmem_malloc(SIZE_MAX) == NULL);
    CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL);
    CHECK(shmem_align(64, SIZE_MAX - 8) == NULL);
    /* And it goes on. */
    void *some = shmem_malloc(1000);
    CHECK(some != NULL);
    CHECK(shmem_realloc(some, (size_t)1 << 50) == NULL);
    shmem_free(some);
    shmem_finalize();
}

static void double_free(void)
{
    shmem_init();
    void *block = shmem_malloc(100);
    shmem_free(block);
    shmem_free(block);
    shmem_finalize();
}

static void foreign_free(void)
{
    shmem_init();
    char *block = (char *)shmem_malloc(100);
    shmem_free(block + 16);
    shmem_finalize();
}

/* A child is not a PE: the library reports this, and the job goes on. */
static int status_of(pid_t child)
{
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void child_my_pe(void) { shmem_my_pe(); }
static void child_put(void) { shmem_long_p(&word, 1, 0); }
static void child_many(void) { static char many[1000]; shmem_putmem(many, many, 1000, 0); }
static void child_add(void) { shmem_long_atomic_inc(&word, 0); }
static void child_wait(void) { shmem_long_wait_until(&word, SHMEM_CMP_EQ, 77); }
static void child_barrier(void) { shmem_barrier_all(); }
static void child_malloc(void) { shmem_malloc(8); }
static void child_reduce(void) { shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &word, &word, 1); }
static void child_init(void) { shmem_init(); }
static void child_finalize(void) { shmem_finalize(); }

static void forked(void)
{
    static void (*const calls[])(void) = {
        child_my_pe, child_put, child_many, child_add, child_wait, child_barrier, child_malloc,
        child_reduce, child_init, child_finalize,
    };
    shmem_init();
    meet();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        pid_t child = fork();
        if (child == 0) {
            calls[i]();
            _exit(0);
        }
        CHECK(status_of(child) == 1);
    }
    shmem_barrier_all();
    shmem_finalize();
}

/* Large enough that a memory limit can be too small for a copy of it, and still suffice for all that
 * threads of the library allocate meanwhile. */
static char large[16 << 20];

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* A child has no memory for its static objects: it ends, and changes nothing here. */
static void forked_without_memory(void)
{
    struct rlimit before, little;
    shmem_init();
    meet();
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    little = before;
    little.rlim_cur = address_space() + sizeof large / 2;
    CHECK(setrlimit(RLIMIT_AS, &little) == 0);
    pid_t child = fork();
    if (child == 0) {
        word = large[0] = 5;
        _exit(0);
    }
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(status_of(child) == 1);
    CHECK(word == 0 && large[0] == 0);
    shmem_barrier_all();
    shmem_finalize();
}

static void global_exit(void)
{
    shmem_init();
    meet();
    shmem_barrier_all();
    if (me == pes - 1)
        shmem_global_exit(7);
    for (;;)
        pause_ms(1000);
}

/* A PE may call it early; the job ends in good order. */
static void global_success(void)
{
    shmem_init();
    meet();
    shmem_barrier_all();
    if (me == 0)
        shmem_global_exit(0);
    for (;;)
        pause_ms(1000);
}

static pthread_t the_program;
static volatile sig_atomic_t taken, taken_by_others;

static void take(int signal)
{
    (void)signal;
    if (pthread_equal(pthread_self(), the_program))
        taken++;
    else
        taken_by_others++;
}

/* Signals for the process are for threads of the program. */
static void signals(void)
{
    sigset_t both, first;
    int got = 0;
    shmem_init();
    meet();
    the_program = pthread_self();
    signal(SIGUSR2, take);
    sigemptyset(&first);
    sigaddset(&first, SIGUSR1);
    both = first;
    sigaddset(&both, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &both, NULL) == 0);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    pause_ms(50);
    shmem_barrier_all();
    CHECK(taken + taken_by_others == 0);
    CHECK(sigwait(&first, &got) == 0 && got == SIGUSR1);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &both, NULL) == 0);
    CHECK(taken == 1 && taken_by_others == 0);
    shmem_finalize();
}

/* A program may have an alarm before it joins its job: every wait on the way goes on. */
static void alarms(void)
{
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    const char *rank = getenv("PMI_RANK");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = take;
    the_program = pthread_self();
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    /* The others wait for this PE. Each alarm interrupts a pause. */
    for (int i = 0; i < 50 && rank != NULL && atoi(rank) == 1; i++)
        pause_ms(100);
    shmem_init();
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    meet();
    CHECK(taken_by_others == 0 && (taken > 0 || pes == 1));
    shmem_barrier_all();
    shmem_finalize();
}

static FILE *file;

static void say_goodbye(void)
{
    fputs("goodbye\n", stdout);
    /* Nobody else comes. */
    shmem_finalize();
}

/* The PE that ends the job ends as any program does: handlers run, and buffers are written. */
static void orderly_exit(void)
{
    shmem_init();
    meet();
    shmem_barrier_all();
    if (me == 0) {
        file = fopen(getenv("SHMEM_TEST_FILE"), "w");
        CHECK(file != NULL);
        fputs("in a buffer", file);
        atexit(say_goodbye);
        shmem_global_exit(5);
    }
    shmem_barrier_all();
}

/* One PE dies; the others must not wait for it in finalize. They are on their way there: a PE that
 * is still in a barrier reports the barrier. */
static void death(void)
{
    static long through[16];
    shmem_init();
    meet();
    void *block = shmem_malloc(1000);
    shmem_barrier_all();
    shmem_long_p(&through[me], 1, pes - 1);
    if (me == pes - 1) {
        shmem_long_wait_until_all(through, (size_t)pes, NULL, SHMEM_CMP_EQ, 1);
        pause_ms(100);
        raise(SIGKILL);
    }
    shmem_finalize();
    (void)block;
}

static void after_finalize(void)
{
    shmem_init();
    meet();
    shmem_finalize();
    shmem_barrier_all();
}

static void bad_pe(void)
{
    shmem_init();
    meet();
    shmem_long_p(&word, 1, pes);
    shmem_finalize();
}

static void bad_address(void)
{
    long on_stack = 0;
    shmem_init();
    meet();
    shmem_long_p(&on_stack, 1, right);
    shmem_finalize();
}

/* Resources that are left when the library ends are given back. */
static void left_over(void)
{
    shmem_team_t team;
    shmem_ctx_t ctx;
    shmem_init();
    meet();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team) == 0);
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    CHECK(shmem_malloc(1000) != NULL);
    shmem_ctx_long_p(ctx, &word, 3, right);
    shmem_finalize();
    CHECK(word == 3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"repeated", repeated}, {"implicit", implicit}, {"out-of-memory", out_of_memory},
        {"double-free", double_free}, {"foreign-free", foreign_free},
        {"forked", forked}, {"forked-without-memory", forked_without_memory},
        {"global-exit", global_exit}, {"global-success", global_success},
        {"orderly-exit", orderly_exit}, {"death", death}, {"after-finalize", after_finalize},
        {"signals", signals}, {"alarms", alarms},
        {"bad-pe", bad_pe}, {"bad-address", bad_address}, {"left-over", left_over},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    return 3;
}
