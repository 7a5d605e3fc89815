/* Puts, gets and atomics complete while their target does not call the library: it computes, or
 * it sleeps in read(). */
#include "check.h"
#include <signal.h>
#include <sys/wait.h>

static volatile long ready, done;
static long word, data[1 << 16], back[1 << 16];

/* What the others do to PE 0, which does not take part. */
static void work_on_zero(void)
{
    while (shmem_long_atomic_fetch((long *)&ready, 0) == 0)
        ;
    for (long i = 0; i < 200; i++) {
        (void)shmem_long_atomic_fetch_add(&word, 1, 0);
        shmem_long_atomic_add(&word, 1, 0);
    }
    shmem_long_put(data + me * 4096, data + me * 4096, 4096, 0);
    shmem_quiet();
    memset(back, 0, sizeof back);
    shmem_long_get(back, data + me * 4096, 4096, 0);
    for (long i = 0; i < 4096; i++)
        CHECK(back[i] == me * 10000 + i);
}

int main(int argc, char **argv)
{
    int sleeps = argc > 1 && strcmp(argv[1], "read") == 0, ends[2];
    shmem_init();
    meet();
    CHECK(pes >= 2 && pes <= 16);
    for (long i = 0; i < 4096; i++)
        data[me * 4096 + i] = me * 10000 + i;
    shmem_barrier_all();
    if (me == 0 && sleeps) {
        /* Reads by plain loads once a second, when a child wakes it up; calls nothing meanwhile. */
        char byte;
        CHECK(pipe(ends) == 0);
        ready = 1;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            for (int seconds = 0; seconds < 50; seconds++) {
                struct timespec time = {1, 0};
                nanosleep(&time, NULL);
                if (write(ends[1], "x", 1) != 1)
                    break;
            }
            _exit(0);
        }
        close(ends[1]);
        do
            CHECK(read(ends[0], &byte, 1) == 1);
        while (*(volatile long *)&word != 400L * (pes - 1));
        kill(child, SIGKILL);
        CHECK(waitpid(child, NULL, 0) == child);
    } else if (me == 0) {
        /* Plain loads only. */
        ready = 1;
        time_t begin = time(NULL);
        while (done < pes - 1)
            CHECK(time(NULL) - begin < 50);
        CHECK(word == 400L * (pes - 1));
    } else {
        work_on_zero();
        shmem_long_atomic_inc((long *)&done, 0);
    }
    shmem_barrier_all();
    for (long pe = 1; me == 0 && pe < pes; pe++)
        CHECK(data[pe * 4096 + 7] == pe * 10000 + 7);
    shmem_finalize();
    return 0;
}
