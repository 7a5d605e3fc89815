/* Labelled programs for the detector of races: the threads of a PE, by POSIX and by C11, with each other
 * and with other PEs. For `oshcc --race`. */
#define RACES_THREADS
#include "races.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>

#define POSIX "POSIX, Memory Synchronization"
#define C11 "C11, Multi-threaded executions and data races"
#define THREADS "Thread Support"
#define ORDERING "Memory Ordering Routines"
#define WAITING "Point-To-Point Synchronization Routines"

/* Loads it; a static object would be one more that threads share. */
#define LOADS(object) \
    do { \
        volatile long loaded = (object); \
        (void)loaded; \
    } while (0)

typedef void *routine(void *);
#define THREAD(name) static void *name(void *unused)
#define DONE \
    (void)unused; \
    return NULL

static pthread_t begin(routine *run)
{
    pthread_t thread = pthread_self();
    CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
    return thread;
}
static void join(pthread_t thread) { CHECK(pthread_join(thread, NULL) == 0); }
static void both(routine *one, routine *other)
{
    pthread_t threads[2] = {begin(one), begin(other)};
    join(threads[0]);
    join(threads[1]);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, mutex_2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_barrier_t barrier;
static pthread_spinlock_t spinlock;

THREAD(stores) { m[0] = 1; DONE; }
THREAD(stores_beside) { m[1] = 1; DONE; }
THREAD(loads) { LOADS(m[0]); DONE; }

/* Beginning and end. */

CASE(stores_of_two, RACY, POSIX, "two threads store to one object")
{
    ON(0) both(stores, stores);
}

CASE(stores_beside_each_other, CLEAN, POSIX, "two threads store to two objects")
{
    ON(0) both(stores, stores_beside);
}

CASE(load_and_store, RACY, POSIX, "one thread loads what another stores to")
{
    ON(0) both(loads, stores);
}

CASE(loads_of_two, CLEAN, POSIX, "loads do not conflict")
{
    ON(0) {
        m[0] = 1;
        both(loads, loads);
        m[0] = 2;
    }
}

CASE(store_behind_begin, RACY, POSIX, "a thread does not know what is done behind its beginning")
{
    ON(0) {
        pthread_t thread = begin(loads);
        m[0] = 1;
        join(thread);
    }
}

CASE(one_after_the_other, CLEAN, POSIX, "a join is behind all that the thread did")
{
    ON(0) {
        join(begin(stores));
        join(begin(stores));
        m[0] = 2;
    }
}

THREAD(begins_another)
{
    pthread_t other = begin(stores);
    m[1] = 1;
    join(other);
    LOADS(m[0]);
    DONE;
}

CASE(thread_of_a_thread, CLEAN, POSIX, "who joins knows what was joined before")
{
    ON(0) {
        join(begin(begins_another));
        LOADS(m[0]);
    }
}

static int c11_stores(void *unused) { (void)unused; m[0] = 1; return 7; }
static mtx_t c11_mutex;
static int c11_adds(void *unused)
{
    (void)unused;
    mtx_lock(&c11_mutex);
    m[0]++;
    mtx_unlock(&c11_mutex);
    return 0;
}
static void c11_both(thrd_start_t routine)
{
    thrd_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(thrd_create(&threads[i], routine, NULL) == thrd_success);
    for (int i = 0, value = 0; i < 2; i++)
        CHECK(thrd_join(threads[i], &value) == thrd_success && value == (routine == c11_stores ? 7 : 0));
}

CASE(c11_threads, RACY, C11, "two threads of C11 store to one object")
{
    ON(0) c11_both(c11_stores);
}

CASE(c11_threads_and_mutex, CLEAN, C11, "a mutex of C11 orders who has it")
{
    ON(0) {
        CHECK(mtx_init(&c11_mutex, mtx_plain) == thrd_success);
        c11_both(c11_adds);
    }
}

/* Mutexes, conditions, locks. */

THREAD(adds)
{
    pthread_mutex_lock(&mutex);
    m[0]++;
    pthread_mutex_unlock(&mutex);
    DONE;
}
THREAD(adds_by_another)
{
    pthread_mutex_lock(&mutex_2);
    m[0]++;
    pthread_mutex_unlock(&mutex_2);
    DONE;
}

CASE(mutex_of_both, CLEAN, POSIX, "a mutex orders who has it")
{
    ON(0) both(adds, adds);
}

CASE(mutex_of_each, RACY, POSIX, "two mutexes protect nothing together")
{
    ON(0) both(adds, adds_by_another);
}

CASE(mutex_of_one, RACY, POSIX, "a mutex that one thread does not take protects nothing")
{
    ON(0) both(adds, stores);
}

static int is_ready;
THREAD(makes_ready)
{
    m[0] = 1;
    pthread_mutex_lock(&mutex);
    is_ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    m[1] = 1;
    DONE;
}
static void wait_ready(void)
{
    pthread_mutex_lock(&mutex);
    while (!is_ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}
THREAD(loads_when_ready) { wait_ready(); LOADS(m[0]); DONE; }
THREAD(loads_beside_when_ready) { wait_ready(); LOADS(m[1]); DONE; }

CASE(condition_tells, CLEAN, POSIX, "who waited for a condition knows what was in front of it")
{
    ON(0) {
        is_ready = 0;
        both(makes_ready, loads_when_ready);
    }
}

CASE(condition_tells_no_more, RACY, POSIX, "who waited for a condition knows nothing from behind it")
{
    ON(0) {
        is_ready = 0;
        both(makes_ready, loads_beside_when_ready);
    }
}

THREAD(reads)
{
    pthread_rwlock_rdlock(&rwlock);
    LOADS(m[0]);
    pthread_rwlock_unlock(&rwlock);
    DONE;
}
THREAD(writes)
{
    pthread_rwlock_wrlock(&rwlock);
    m[0]++;
    pthread_rwlock_unlock(&rwlock);
    DONE;
}
THREAD(writes_as_reader)
{
    pthread_rwlock_rdlock(&rwlock);
    m[0]++;
    pthread_rwlock_unlock(&rwlock);
    DONE;
}

CASE(read_and_write_lock, CLEAN, POSIX, "who writes under a lock has it alone")
{
    ON(0) {
        both(reads, writes);
        both(writes, writes);
        both(reads, reads);
    }
}

CASE(write_under_read_lock, RACY, POSIX, "several threads have a lock for reading at a time")
{
    ON(0) both(writes_as_reader, writes_as_reader);
}

THREAD(spins)
{
    pthread_spin_lock(&spinlock);
    m[0]++;
    pthread_spin_unlock(&spinlock);
    DONE;
}

CASE(spinlock_of_both, CLEAN, POSIX, "a spinlock orders who has it")
{
    ON(0) {
        pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
        both(spins, spins);
    }
}

static pthread_once_t is_done;
static void set_up(void) { m[0] = 1; }
THREAD(loads_once) { pthread_once(&is_done, set_up); LOADS(m[0]); DONE; }

CASE(done_once, CLEAN, POSIX, "who comes back from pthread_once knows what was done")
{
    ON(0) {
        const pthread_once_t fresh = PTHREAD_ONCE_INIT;
        is_done = fresh;
        both(loads_once, loads_once);
    }
}

/* Barriers and semaphores. */

THREAD(stores_then_barrier) { m[0] = 1; pthread_barrier_wait(&barrier); DONE; }
THREAD(barrier_then_loads) { pthread_barrier_wait(&barrier); LOADS(m[0]); DONE; }
THREAD(barrier_store_barrier)
{
    pthread_barrier_wait(&barrier);
    m[0] = 1;
    pthread_barrier_wait(&barrier);
    DONE;
}
THREAD(barrier_load_barrier)
{
    pthread_barrier_wait(&barrier);
    LOADS(m[0]);
    pthread_barrier_wait(&barrier);
    DONE;
}
THREAD(barrier_barrier_load)
{
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    LOADS(m[0]);
    DONE;
}
static void both_at_barrier(routine *one, routine *other)
{
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    both(one, other);
    pthread_barrier_destroy(&barrier);
}

CASE(barrier_between, CLEAN, POSIX, "a barrier orders what is in front of it")
{
    ON(0) both_at_barrier(stores_then_barrier, barrier_then_loads);
}

CASE(between_two_barriers, RACY, POSIX, "what two threads do between two barriers has no order")
{
    ON(0) both_at_barrier(barrier_store_barrier, barrier_load_barrier);
}

CASE(behind_two_barriers, CLEAN, POSIX, "the second time a barrier orders what was behind the first")
{
    ON(0) both_at_barrier(barrier_store_barrier, barrier_barrier_load);
}

THREAD(stores_and_posts) { m[0] = 1; sem_post(&semaphore); DONE; }
THREAD(posts_and_stores) { sem_post(&semaphore); m[0] = 1; DONE; }
THREAD(waits_and_loads) { sem_wait(&semaphore); LOADS(m[0]); DONE; }
static void both_with_semaphore(routine *one, routine *other)
{
    CHECK(sem_init(&semaphore, 0, 0) == 0);
    both(one, other);
}

CASE(semaphore_tells, CLEAN, POSIX, "who waits for a semaphore knows what was in front of the post")
{
    ON(0) both_with_semaphore(stores_and_posts, waits_and_loads);
}

CASE(semaphore_tells_no_more, RACY, POSIX, "who waits for a semaphore knows nothing from behind the post")
{
    ON(0) both_with_semaphore(posts_and_stores, waits_and_loads);
}

CASE(detached_with_semaphore, CLEAN, POSIX, "a thread that nobody joins tells by a semaphore")
{
    ON(0) {
        CHECK(sem_init(&semaphore, 0, 0) == 0);
        for (int i = 0; i < 3; i++) {
            CHECK(pthread_detach(begin(stores_and_posts)) == 0);
            sem_wait(&semaphore);
            LOADS(m[0]);
        }
    }
}

/* Atomics of the language. */

static atomic_long ready;
#define TELLS(name, order) \
    THREAD(name) { m[0] = 1; atomic_store_explicit(&ready, 1, order); DONE; }
#define HEARS(name, order) \
    THREAD(name) \
    { \
        while (!atomic_load_explicit(&ready, order)) \
            thrd_yield(); \
        LOADS(m[0]); \
        DONE; \
    }
TELLS(tells_release, memory_order_release)
TELLS(tells_relaxed, memory_order_relaxed)
HEARS(hears_acquire, memory_order_acquire)
HEARS(hears_relaxed, memory_order_relaxed)
static void both_by_atomic(routine *one, routine *other)
{
    atomic_store(&ready, 0);
    both(one, other);
}

CASE(release_and_acquire, CLEAN, C11, "a load that acquires knows what is in front of a store that releases")
{
    ON(0) both_by_atomic(tells_release, hears_acquire);
}

CASE(relaxed_store, RACY, C11, "a relaxed store tells nothing")
{
    ON(0) both_by_atomic(tells_relaxed, hears_acquire);
}

CASE(relaxed_load, RACY, C11, "a relaxed load hears nothing")
{
    ON(0) both_by_atomic(tells_release, hears_relaxed);
}

THREAD(tells_by_fence)
{
    m[0] = 1;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    DONE;
}
THREAD(hears_by_fence)
{
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        thrd_yield();
    atomic_thread_fence(memory_order_acquire);
    LOADS(m[0]);
    DONE;
}

CASE(fences, CLEAN, C11, "fences order what is around relaxed atomics")
{
    ON(0) both_by_atomic(tells_by_fence, hears_by_fence);
}

THREAD(counts) { atomic_fetch_add_explicit((atomic_long *)m, 1, memory_order_relaxed); DONE; }

CASE(atomics_of_both, CLEAN, C11, "atomics of the language do not conflict with each other")
{
    ON(0) both(counts, counts);
}

CASE(atomic_and_store, RACY, C11, "a store is not atomic with an atomic")
{
    ON(0) both(counts, stores);
}

/* With the library and other PEs. */

THREAD(puts_there) { shmem_putmem(m, &m[8], 24, 1); DONE; }

CASE(puts_of_two_threads, RACY, THREADS, "puts of two threads to the same bytes have no order")
{
    ON(0) both(puts_there, puts_there);
}

CASE(put_not_joined, RACY, THREADS, "a barrier of one thread does not complete what another does")
{
    pthread_t thread = pthread_self();
    ON(0) thread = begin(puts_there);
    shmem_barrier_all();
    ON(0) join(thread);
    ON(1) LOADS(m[0]);
}

CASE(put_joined, CLEAN, THREADS, "a barrier completes what was joined in front of it")
{
    ON(0) join(begin(puts_there));
    shmem_barrier_all();
    ON(1) LOADS(m[0]);
}

THREAD(puts_and_posts) { shmem_putmem(m, &m[8], 24, 1); sem_post(&semaphore); DONE; }

/* A thread of PE 0 puts, and completes the put before or after the semaphore; then PE 0 signals PE 1. */
static void put_post_quiet(int is_quiet_behind)
{
    ON(0) {
        CHECK(sem_init(&semaphore, 0, 0) == 0);
        pthread_t thread = begin(puts_and_posts);
        if (!is_quiet_behind)
            shmem_quiet();
        sem_wait(&semaphore);
        if (is_quiet_behind)
            shmem_quiet();
        TELL(1);
        join(thread);
    }
    ON(1) {
        TOLD();
        LOADS(m[0]);
    }
}

CASE(quiet_behind_semaphore, CLEAN, THREADS, "a quiet completes what its thread knows of")
{
    put_post_quiet(1);
}

CASE(quiet_before_semaphore, RACY, THREADS, "a quiet completes nothing that its thread does not know of")
{
    put_post_quiet(0);
}

CASE(fence_by_another_thread, CLEAN, THREADS, "a fence orders what its thread knows of")
{
    ON(0) {
        CHECK(sem_init(&semaphore, 0, 0) == 0);
        pthread_t thread = begin(puts_and_posts);
        sem_wait(&semaphore);
        shmem_fence();
        TELL(1);
        join(thread);
    }
    ON(1) {
        TOLD();
        LOADS(m[0]);
    }
}

CASE(fence_forgotten, RACY, ORDERING, "a semaphore between threads orders no puts")
{
    ON(0) {
        CHECK(sem_init(&semaphore, 0, 0) == 0);
        pthread_t thread = begin(puts_and_posts);
        sem_wait(&semaphore);
        shmem_putmem(m, &m[16], 24, 1);
        join(thread);
    }
}

static shmem_ctx_t ctx;
THREAD(puts_on_context)
{
    shmem_ctx_putmem(ctx, m, &m[8], 24, 1);
    DONE;
}
THREAD(puts_on_quiet_context)
{
    shmem_ctx_putmem(ctx, m, &m[8], 24, 1);
    shmem_ctx_quiet(ctx);
    DONE;
}
static void put_on_context(routine *run)
{
    ON(0) {
        CHECK(shmem_ctx_create(0, &ctx) == 0);
        join(begin(run));
    }
    shmem_barrier_all();
    ON(1) LOADS(m[0]);
    ON(0) shmem_ctx_destroy(ctx);
}

CASE(context_of_a_thread, CLEAN, THREADS, "a thread completes its own context")
{
    put_on_context(puts_on_quiet_context);
}

CASE(context_not_quiet, RACY, THREADS, "a join completes no context")
{
    put_on_context(puts_on_context);
}

static void put_and_tell(void)
{
    shmem_putmem(m, &m[8], 24, 0);
    shmem_fence();
    TELL(0);
}
THREAD(is_told) { TOLD(); LOADS(m[0]); DONE; }
THREAD(is_told_and_posts) { TOLD(); sem_post(&semaphore); DONE; }
THREAD(nothing) { DONE; }

CASE(wait_of_a_thread, CLEAN, WAITING, "the thread that waited knows what was put")
{
    ON(1) put_and_tell();
    ON(0) both(is_told, nothing);
}

CASE(wait_of_another_thread, RACY, WAITING, "a thread that did not wait knows nothing of what was put")
{
    ON(1) put_and_tell();
    ON(0) both(is_told, loads);
}

CASE(wait_handed_on, CLEAN, WAITING, "a thread hands on what it waited for")
{
    ON(1) put_and_tell();
    ON(0) both_with_semaphore(is_told_and_posts, waits_and_loads);
}

CASE(put_of_a_peer, RACY, THREADS, "a thread and another PE have no order")
{
    ON(1) shmem_putmem(m, &m[8], 24, 0);
    ON(0) join(begin(loads));
}

THREAD(adds_remotely) { shmem_long_atomic_add(m, 1, 1); DONE; }

CASE(atomics_of_the_library, CLEAN, THREADS, "atomics of threads are atomic with each other")
{
    ON(0) both(adds_remotely, adds_remotely);
}

THREAD(puts_to_itself) { shmem_long_p(m, 1, 0); DONE; }

CASE(put_to_itself, RACY, THREADS, "a put to the own PE and a load of another thread have no order")
{
    ON(0) both(puts_to_itself, loads);
}

static long *buffer;
THREAD(looks_at_buffer) { sem_wait(&semaphore); LOADS(buffer[0]); DONE; }
static void get_and_post(int is_quiet)
{
    ON(0) {
        CHECK(sem_init(&semaphore, 0, 0) == 0);
        buffer = (long *)malloc(64);
        pthread_t thread = begin(looks_at_buffer);
        shmem_getmem_nbi(buffer, m, 24, 1);
        if (is_quiet)
            shmem_quiet();
        sem_post(&semaphore);
        join(thread);
        shmem_quiet();
        free(buffer);
    }
}

CASE(buffer_in_use, RACY, ORDERING, "the destination of a non-blocking get is no thread's before a quiet")
{
    get_and_post(0);
}

CASE(buffer_after_quiet, CLEAN, ORDERING, "a quiet gives the destination back to all who know of it")
{
    get_and_post(1);
}
