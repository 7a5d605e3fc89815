/* The limits beside shmem.c: the same work by plain instructions in memory that two processes
 * share. Prints "NAME NANOSECONDS". Pinned to the CPUs given as arguments.
 *
 * With -DCALLS each operation is a call of a function in a shared library, calls.c, as it is with
 * any library; without, all of it is in the loops. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void barrier(void);
#define BARRIER() barrier()
#include "../timing.h"

enum { LARGE = 4 << 20 };

struct shared {
    /* As in shmem.c, the addresses differ in their low 12 bits. */
    char front[2176];
    _Alignas(64) _Atomic long word;
    _Alignas(64) _Atomic long flags[2][8];
    _Alignas(64) _Atomic long data[8];
    _Alignas(4096) char remote[LARGE];
};

enum { LOCAL_OFFSET = 17 * 64 };

static struct shared *shared;
static _Alignas(4096) char local_pages[LARGE + 4096];
static char *const local = local_pages + LOCAL_OFFSET;
static int me;
static long barriers;

/* Each process stores into its own line and polls the other's. */
static void barrier(void)
{
    barriers++;
    atomic_store_explicit(&shared->flags[me][0], barriers, memory_order_release);
    while (atomic_load_explicit(&shared->flags[1 - me][0], memory_order_acquire) < barriers)
        ;
}

#ifdef CALLS
#include "calls.h"
#define STORE(value) call_put64(0, (void *)word, &(long){value}, 1, 1)
#define LOAD() call_g(0, (long *)word, 1)
#define COPY(dest, source, bytes) call_putmem(0, dest, source, bytes, 1)
#define FETCH_ADD(value) call_fetch_add(0, (long *)word, value, 1)
#define COMPARE_SWAP(old, new) call_compare_swap(0, (long *)word, old, new, 1)
#else
/* The compiler must neither remove nor merge this. */
static __attribute__((noinline)) void copy(void *dest, const void *source, size_t bytes)
{
    memcpy(dest, source, bytes);
    __asm__ volatile("" ::: "memory");
}

#define STORE(value) atomic_store_explicit(word, value, memory_order_relaxed)
#define LOAD() atomic_load_explicit(word, memory_order_relaxed)
#define COPY(dest, source, bytes) copy(dest, source, bytes)
#define FETCH_ADD(value) atomic_fetch_add(word, value)
#define COMPARE_SWAP(old, new) \
    (expected = (old), atomic_compare_exchange_strong(word, &expected, new))
#endif

int main(int argc, char **argv)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    memset(shared->remote, 1, LARGE);
    memset(local_pages, 2, sizeof local_pages);
    pid_t child = fork();
    if (child < 0)
        return 1;
    me = child == 0;
    if (argc == 3) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(atoi(argv[1 + me]), &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    _Atomic long *word = &shared->word;
    volatile long sink;
    long expected;
    long most = getenv("BENCH_SHORT") ? 16384 : LARGE;
    TIME("p", 1000000, 0, STORE(i));
    TIME("put64-1", 1000000, 0, STORE(*(long *)local));
    for (long bytes = 64; bytes <= most; bytes *= bytes < 4096 ? 2 : 4) {
        char name[32];
        long times = bytes < 4096 ? 500000 : (1L << 28) / bytes;
        snprintf(name, sizeof name, "putmem-%ld", bytes);
        TIME(name, times, 0, COPY(shared->remote, local, (size_t)bytes));
    }
    TIME("g", 500000, 0, sink = LOAD());
    TIME("get64-1", 500000, 0, *(volatile long *)local = LOAD());
    TIME("getmem-64", 500000, 0, COPY(local, shared->remote, 64));
    TIME("getmem-256", 500000, 0, COPY(local, shared->remote, 256));
    TIME("getmem-4096", 100000, 0, COPY(local, shared->remote, 4096));
    if (most == LARGE)
        TIME("getmem-1048576", 500, 0, COPY(local, shared->remote, 1 << 20));
    TIME("fetch-add", 200000, 0, sink = FETCH_ADD(1));
    TIME("compare-swap", 200000, 0, sink = COMPARE_SWAP(i, i + 1));
    (void)sink;
    (void)expected;
    TIME("barrier_all", 20000, 1, barrier());
    /* Data and flag in one line: half of a round trip. */
    TIME("put-signal-ping-pong", 20000, 1, {
        long count = (round + 1) * 20000L + i + 1;
        for (int turn = 0; turn < 2; turn++) {
            if (turn == me) {
                atomic_store_explicit(&shared->data[me * 4 + 1], i, memory_order_relaxed);
                atomic_store_explicit(&shared->data[me * 4], count, memory_order_release);
            } else {
                while (atomic_load_explicit(&shared->data[turn * 4], memory_order_acquire) < count)
                    ;
            }
        }
    });
    if (child > 0)
        wait(NULL);
    return 0;
}
