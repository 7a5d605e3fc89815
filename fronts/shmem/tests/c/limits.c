/* Waits with a time limit, in virtual time: the limit is one of the model, in the thread that uses the
 * job. What other threads do in the model's time before the limit happens first. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

/* In the model, a read of a clock takes 25 ns; code between two reads takes no time. */
enum { LIMIT_MS = 3, LIMIT_NS = LIMIT_MS * 1000000, LOOK_NS = 25 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_set;
static volatile int stop;

static long now_ns(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static struct timespec later(clockid_t clock, long time_ns)
{
    long moment = now_ns(clock) + time_ns;
    return (struct timespec){moment / 1000000000, moment % 1000000000};
}

/* The result of a call and its time, which includes the clock read at its end. */
#define TAKES(time_ns, result, call) \
    do { \
        long begin = now_ns(CLOCK_MONOTONIC); \
        CHECK((call) == (result)); \
        CHECK_OF(#call ": ", now_ns(CLOCK_MONOTONIC) - begin == (time_ns) + LOOK_NS); \
    } while (0)

/* The same for a call with an absolute time, which itself takes a read of the clock. */
#define TAKES_UNTIL(result, call) \
    do { \
        struct timespec moment = later(clock, LIMIT_NS); \
        long begin = now_ns(CLOCK_MONOTONIC); \
        CHECK((call) == (result)); \
        CHECK_OF(#call ": ", now_ns(CLOCK_MONOTONIC) - begin == LIMIT_NS); \
    } while (0)

static void descriptors(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    struct pollfd fd = {ends[0], POLLIN, 0};
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    for (int ready = 0; ready < 2; ready++) {
        long time_ns = ready ? 0 : LIMIT_NS;
        struct timespec limit = {0, LIMIT_NS};
        struct timeval left = {0, LIMIT_NS / 1000};
        fd_set set;
        TAKES(time_ns, ready, poll(&fd, 1, LIMIT_MS));
        TAKES(time_ns, ready, ppoll(&fd, 1, &limit, NULL));
        TAKES(time_ns, ready, epoll_wait(epoll, &event, 1, LIMIT_MS));
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        TAKES(time_ns, ready, select(ends[0] + 1, &set, NULL, NULL, &left));
        CHECK(!FD_ISSET(ends[0], &set) == !ready && (left.tv_usec > 0) == ready);
        FD_SET(ends[0], &set);
        TAKES(time_ns, ready, pselect(ends[0] + 1, &set, NULL, NULL, &limit, NULL));
        /* A call that does not wait ends a loop of such calls, too. */
        TAKES(ready ? 0 : LOOK_NS, ready, poll(&fd, 1, 0));
        CHECK(write(ends[1], "x", 1) == 1);
    }
    struct timeval time = {0, LIMIT_NS / 1000};
    TAKES(LIMIT_NS, 0, select(0, NULL, NULL, NULL, &time));
    TAKES(3600 * 1000000000L, 0, poll(NULL, 0, 3600 * 1000));
}

static void on_signal(int signal)
{
    CHECK(signal == SIGUSR1);
}

/* A signal that waits, and that the mask of the call lets through, ends the call. */
static void masks(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    sigset_t blocked, none;
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0);
    struct timespec limit = {0, LIMIT_NS};
    struct epoll_event event;
    int epoll = epoll_create1(0);
    for (int call = 0; call < 3; call++) {
        CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
        switch (call) {
        case 0:
            CHECK(ppoll(NULL, 0, &limit, &none) == -1);
            break;
        case 1:
            CHECK(pselect(0, NULL, NULL, NULL, &limit, &none) == -1);
            break;
        default:
            CHECK(epoll_pwait(epoll, &event, 1, LIMIT_MS, &none) == -1);
        }
        CHECK(errno == EINTR);
    }
}

static void *sleep_cancelled(void *unused)
{
    CHECK(pthread_cancel(pthread_self()) == 0);
    usleep(1);
    return unused;
}

/* A sleep is a cancellation point. */
static void cancelled(void)
{
    pthread_t other;
    void *result;
    CHECK(pthread_create(&other, NULL, sleep_cancelled, NULL) == 0);
    CHECK(pthread_join(other, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
}

static void words(void)
{
    sem_t sem;
    CHECK(sem_init(&sem, 0, 0) == 0);
    clockid_t clock = CLOCK_REALTIME;
    TAKES_UNTIL(-1, sem_timedwait(&sem, &moment));
    CHECK(errno == ETIMEDOUT);
    CHECK(pthread_mutex_lock(&lock) == 0);
    TAKES_UNTIL(ETIMEDOUT, pthread_cond_timedwait(&changed, &lock, &moment));
    TAKES_UNTIL(ETIMEDOUT, pthread_mutex_timedlock(&lock, &moment));
    CHECK(pthread_mutex_unlock(&lock) == 0);
    int word = 0;
    struct timespec limit = {0, LIMIT_NS};
    TAKES(LIMIT_NS, -1, syscall(SYS_futex, &word, FUTEX_WAIT, 0, &limit, NULL, 0));
    CHECK(sem_post(&sem) == 0);
    struct timespec moment = later(clock, LIMIT_NS);
    TAKES(0, 0, sem_timedwait(&sem, &moment));
}

static void *set_after_a_sleep(void *unused)
{
    usleep(LIMIT_NS / 1000);
    CHECK(pthread_mutex_lock(&lock) == 0);
    is_set = 1;
    CHECK(pthread_cond_signal(&changed) == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

static void *spin(void *unused)
{
    while (!stop)
        ;
    return unused;
}

/* The sleep of the other thread ends before the limit, and takes time in the model. */
static void beside_a_sleeper(void)
{
    pthread_t other;
    CHECK(pthread_mutex_lock(&lock) == 0);
    struct timespec moment = later(CLOCK_REALTIME, 10 * LIMIT_NS);
    long begin = now_ns(CLOCK_MONOTONIC);
    CHECK(pthread_create(&other, NULL, set_after_a_sleep, NULL) == 0);
    while (!is_set)
        CHECK(pthread_cond_timedwait(&changed, &lock, &moment) == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    CHECK(now_ns(CLOCK_MONOTONIC) - begin == LIMIT_NS + LOOK_NS);
    CHECK(pthread_join(other, NULL) == 0);
}

/* The limit passes even if a thread computes without an end. */
static void beside_a_spinner(void)
{
    pthread_t other;
    struct pollfd none = {-1, POLLIN, 0};
    CHECK(pthread_create(&other, NULL, spin, NULL) == 0);
    TAKES(LIMIT_NS, 0, poll(&none, 1, LIMIT_MS));
    stop = 1;
    CHECK(pthread_join(other, NULL) == 0);
}

int main(void)
{
    shmem_init();
    meet();
    descriptors();
    masks();
    words();
    beside_a_sleeper();
    beside_a_spinner();
    cancelled();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
