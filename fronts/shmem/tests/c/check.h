/* Shared by all test programs: checks that name the PE, and the two neighbours. */
#ifndef CHECK_H
#define CHECK_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <shmem.h>
#include <shmemx.h>

static int me, pes, left, right;
/* The number of hosts of the PEs. PEs are on them in order, as many on each as possible. */
static int hosts = 1;

#define CHECK(condition) CHECK_OF("", condition)
#define CHECK_OF(what, condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "PE %d of %d: %s:%d: %s%s does not hold\n", me, pes, __FILE__, \
                    __LINE__, what, #condition); \
            shmem_global_exit(1); \
        } \
    } while (0)

/* To be called after shmem_init. */
static void meet(void)
{
    me = shmem_my_pe();
    pes = shmem_n_pes();
    right = (me + 1) % pes;
    left = (me + pes - 1) % pes;
    const char *given = getenv("SHMEM_TEST_HOSTS");
    hosts = given ? atoi(given) : 1;
}

/* Whether a PE is on this host. */
static inline int is_near(int pe)
{
    return pe * hosts / pes == me * hosts / pes;
}

static inline void *symmetric(size_t size)
{
    void *memory = shmem_malloc(size);
    CHECK(memory != NULL);
    memset(memory, 0, size);
    shmem_barrier_all();
    return memory;
}

static inline void pause_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* splitmix64: the same numbers everywhere for the same seed. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Checks in a random test, whose `seed` and `step` a failure names. */
#define FINE(condition) \
    do { \
        int fine = (condition); \
        if (!fine) \
            fprintf(stderr, "seed %llu, step %d\n", (unsigned long long)seed, step); \
        CHECK_OF(#condition ": ", fine); \
    } while (0)

#ifdef __cplusplus
#define COMPLEX(T) std::complex<T>
#else
#define COMPLEX(T) T _Complex
#endif

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define GLUE3(a, b, c) GLUE(GLUE(a, b), c)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

/* In templates, which are included once for each NAME and TYPE. */
#define FN(suffix) GLUE3(shmem_, NAME, suffix)
#define CTX_FN(suffix) GLUE3(shmem_ctx_, NAME, suffix)
#define LOCAL(prefix) GLUE(prefix, NAME)
#define HOLDS(condition) CHECK_OF(TEXT(NAME) ": ", condition)
/* An element that depends on PE and index, and fits into every type. */
#define V(pe, i) ((TYPE)(((pe) * 7 + (i) * 3 + 1) % 100))

/* Type-generic names exist in C11 and C++; TYPED is off where only they are tested. */
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
#define GENERIC 1
#endif
#ifndef __cplusplus
#define TYPED 1
#endif

#endif
