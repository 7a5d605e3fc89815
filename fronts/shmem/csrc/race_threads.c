/* How the detector learns the order between threads of a program that `oshcc --race` links: wrappers of
 * the system's thread functions, which have the same names. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "race_front.h"

/* Threads. */

struct start {
    void *(*routine)(void *);
    thrd_start_t other;
    void *argument;
    uint64_t number;
};

/* Nobody can join a thread that is detached: its number is free. */
static void ended(void *unused)
{
    (void)unused;
    pthread_attr_t attributes;
    int state = PTHREAD_CREATE_JOINABLE;
    if (is_on() && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getdetachstate(&attributes, &state);
        pthread_attr_destroy(&attributes);
        if (state == PTHREAD_CREATE_DETACHED)
            sync_by(END, NULL, 0);
    }
}

static void *run(struct start *from)
{
    struct start start = *from;
    void *result;
    free(from);
    shmemx_race_sync_1(BEGIN, (uint64_t)pthread_self(), start.number);
    pthread_cleanup_push(ended, NULL);
    if (start.routine)
        result = start.routine(start.argument);
    else
        result = (void *)(intptr_t)start.other(start.argument);
    pthread_cleanup_pop(1);
    return result;
}
static void *started(void *from) { return run(from); }
static int started_other(void *from) { return (int)(intptr_t)run(from); }

/* NULL if the thread need not be reported. */
static struct start *prepare(void *(*routine)(void *), thrd_start_t other, void *argument)
{
    struct start *start = is_on() ? malloc(sizeof *start) : NULL;
    if (start) {
        shmemx_race_1.threads = 1;
        *start = (struct start){routine, other, argument, sync_by(FORK, NULL, 0)};
    }
    return start;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                   void *argument)
{
    struct start *start = prepare(routine, NULL, argument);
    if (!start)
        return REAL(pthread_create)(thread, attributes, routine, argument);
    int failed = REAL(pthread_create)(thread, attributes, started, start);
    if (failed)
        free(start);
    return failed;
}
int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    struct start *start = prepare(NULL, routine, argument);
    if (!start)
        return REAL(thrd_create)(thread, routine, argument);
    int failed = REAL(thrd_create)(thread, started_other, start);
    if (failed != thrd_success)
        free(start);
    return failed;
}

/* A function that ends the use of the thread if it returns a given value. */
#define JOINS(result, good, name, parameters, arguments) \
    result name parameters \
    { \
        result is = REAL(name) arguments; \
        if (is == good && are_told()) \
            shmemx_race_sync_1(JOIN, (uint64_t)thread, 0); \
        return is; \
    }
JOINS(int, 0, pthread_join, (pthread_t thread, void **value), (thread, value))
JOINS(int, 0, pthread_tryjoin_np, (pthread_t thread, void **value), (thread, value))
JOINS(int, 0, pthread_timedjoin_np,
      (pthread_t thread, void **value, const struct timespec *until), (thread, value, until))
JOINS(int, thrd_success, thrd_join, (thrd_t thread, int *value), (thread, value))

/* Locks and semaphores. */

#define LOCKS(name, parameter) TAKES(int, is == 0, name, (parameter *object), (object), object)
#define LOCKS_UNTIL(name, parameter) \
    TAKES(int, is == 0, name, (parameter *object, const struct timespec *until), (object, until), object)

/* A mutex whose owner has died is taken, too. */
#define TAKES_MUTEX(name, parameters, arguments) \
    TAKES(int, is == 0 || is == EOWNERDEAD, name, parameters, arguments, object)
TAKES_MUTEX(pthread_mutex_lock, (pthread_mutex_t *object), (object))
TAKES_MUTEX(pthread_mutex_trylock, (pthread_mutex_t *object), (object))
TAKES_MUTEX(pthread_mutex_timedlock, (pthread_mutex_t *object, const struct timespec *until),
            (object, until))
GIVES(pthread_mutex_unlock, pthread_mutex_t)
LOCKS(pthread_spin_lock, pthread_spinlock_t)
LOCKS(pthread_spin_trylock, pthread_spinlock_t)
GIVES(pthread_spin_unlock, pthread_spinlock_t)
LOCKS(sem_wait, sem_t)
LOCKS(sem_trywait, sem_t)
LOCKS_UNTIL(sem_timedwait, sem_t)
GIVES(sem_post, sem_t)
TAKES(int, is == thrd_success, mtx_lock, (mtx_t *object), (object), object)
TAKES(int, is == thrd_success, mtx_trylock, (mtx_t *object), (object), object)
TAKES(int, is == thrd_success, mtx_timedlock, (mtx_t *object, const struct timespec *until),
      (object, until), object)
GIVES(mtx_unlock, mtx_t)


/* Readers acquire from writers, and writers acquire from all. A thread knows which of the two it is by
 * the latest locks that it has taken for writing. */
enum { WRITTEN = 16 };
static __thread const void *written[WRITTEN];
#define WROTE(object) ((const char *)(object))
#define READ(object) ((const char *)(object) + 1)

static void writes(const void *object)
{
    acquire(WROTE(object));
    acquire(READ(object));
    memmove(&written[1], &written[0], sizeof written - sizeof *written);
    written[0] = object;
}
int pthread_rwlock_unlock(pthread_rwlock_t *object)
{
    bool has_written = false;
    for (int i = 0; i < WRITTEN && !has_written; i++)
        if (written[i] == object) {
            has_written = true;
            written[i] = NULL;
        }
    release(has_written ? WROTE(object) : READ(object));
    /* Its lock for writing may be older than all that are kept. */
    if (!has_written && written[WRITTEN - 1])
        release(WROTE(object));
    return REAL(pthread_rwlock_unlock)(object);
}
#define READS(name, parameters, arguments) TAKES(int, is == 0, name, parameters, arguments, WROTE(object))
#define WRITES(name, parameters, arguments) \
    int name parameters \
    { \
        int is = REAL(name) arguments; \
        if (is == 0) \
            writes(object); \
        return is; \
    }
READS(pthread_rwlock_rdlock, (pthread_rwlock_t *object), (object))
READS(pthread_rwlock_tryrdlock, (pthread_rwlock_t *object), (object))
READS(pthread_rwlock_timedrdlock, (pthread_rwlock_t *object, const struct timespec *until),
      (object, until))
WRITES(pthread_rwlock_wrlock, (pthread_rwlock_t *object), (object))
WRITES(pthread_rwlock_trywrlock, (pthread_rwlock_t *object), (object))
WRITES(pthread_rwlock_timedwrlock, (pthread_rwlock_t *object, const struct timespec *until),
       (object, until))

/* A wait for a condition gives its mutex and takes it again. */
#define WAITS(name, parameters, arguments) \
    int name parameters \
    { \
        release(mutex); \
        int is = REAL(name) arguments; \
        acquire(mutex); \
        return is; \
    }
WAITS(pthread_cond_wait, (pthread_cond_t *condition, pthread_mutex_t *mutex), (condition, mutex))
WAITS(pthread_cond_timedwait,
      (pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until),
      (condition, mutex, until))
WAITS(cnd_wait, (cnd_t *condition, mtx_t *mutex), (condition, mutex))
WAITS(cnd_timedwait, (cnd_t *condition, mtx_t *mutex, const struct timespec *until),
      (condition, mutex, until))
#if __GLIBC_PREREQ(2, 30)
WAITS(pthread_cond_clockwait,
      (pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
      (condition, mutex, clock, until))
#define UNTIL(type) (type *object, clockid_t clock, const struct timespec *until)
TAKES_MUTEX(pthread_mutex_clocklock, UNTIL(pthread_mutex_t), (object, clock, until))
TAKES(int, is == 0, sem_clockwait, UNTIL(sem_t), (object, clock, until), object)
READS(pthread_rwlock_clockrdlock, UNTIL(pthread_rwlock_t), (object, clock, until))
WRITES(pthread_rwlock_clockwrlock, UNTIL(pthread_rwlock_t), (object, clock, until))
#endif

/* C++ initialises a static object of a function once. The program reads the guard by an atomic, and
 * its library sets it. */
int __cxa_guard_acquire(uint64_t *object);
TAKES(int, true, __cxa_guard_acquire, (uint64_t *object), (object), object)
void __cxa_guard_release(uint64_t *object);
void __cxa_guard_release(uint64_t *object)
{
    release(object);
    REAL(__cxa_guard_release)(object);
}

/* One of the threads that call pthread_once runs the function, and the others acquire from it. */
static __thread void (*once)(void);
static __thread void *once_object;
static void run_once(void)
{
    void *object = once_object;
    once();
    release(object);
}
#define ONCE(result, name, type, is, returned) \
    result name(type *object, void (*routine)(void)) \
    { \
        void (*before)(void) = once; \
        void *object_before = once_object; \
        once = routine; \
        once_object = object; \
        is REAL(name)(object, run_once); \
        once = before; \
        once_object = object_before; \
        acquire(object); \
        returned; \
    }
ONCE(int, pthread_once, pthread_once_t, int failed =, return failed)
ONCE(void, call_once, once_flag, , (void)0)

/* Barriers: how many threads come to each. */
static struct barrier {
    const void *object;
    uint64_t threads;
    struct barrier *next;
} *barriers;
static volatile char are_barriers_busy;

static uint64_t barrier_threads(const void *object, uint64_t threads)
{
    struct barrier *barrier;
    while (__atomic_test_and_set(&are_barriers_busy, __ATOMIC_ACQUIRE))
        sched_yield();
    for (barrier = barriers; barrier && barrier->object != object; barrier = barrier->next)
        ;
    if (!barrier && threads && (barrier = malloc(sizeof *barrier))) {
        *barrier = (struct barrier){object, threads, barriers};
        barriers = barrier;
    }
    if (barrier && threads)
        barrier->threads = threads;
    threads = barrier ? barrier->threads : 0;
    __atomic_clear(&are_barriers_busy, __ATOMIC_RELEASE);
    return threads;
}

/* Reports that a thread arrives at a barrier. Returns the round, for `leave`. */
static uint64_t arrive(const void *object, uint64_t threads)
{
    if (!are_told())
        return 0;
    if (threads)
        return sync_by(ARRIVE, object, threads);
    release(object);
    return 0;
}
static void leave(const void *object, uint64_t threads, uint64_t round)
{
    if (are_told() && threads)
        sync_by(LEAVE, object, round);
    else
        acquire(object);
}

int pthread_barrier_init(pthread_barrier_t *object, const pthread_barrierattr_t *attributes,
                         unsigned threads)
{
    if (are_told())
        sync_by(FORGET, object, 0);
    barrier_threads(object, threads);
    return REAL(pthread_barrier_init)(object, attributes, threads);
}
int pthread_barrier_wait(pthread_barrier_t *object)
{
    uint64_t threads = barrier_threads(object, 0);
    uint64_t round = arrive(object, threads);
    int is = REAL(pthread_barrier_wait)(object);
    leave(object, threads, round);
    return is;
}
