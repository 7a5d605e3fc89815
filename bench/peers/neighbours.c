/* Streams puts from half of the PEs to the others for SECONDS and prints what arrived, in Mb/s, one line per
   sender:
 *
 *     neighbours SECONDS
 *
 * PEs with a number below the half send. With an odd number of PEs the last one is the only receiver. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHUNK_BYTES = 1 << 16 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5.0;
    shmem_init();
    int pe = shmem_my_pe(), pes = shmem_n_pes();
    int senders = pes % 2 ? pes - 1 : pes / 2;
    char *target = shmem_malloc((size_t)CHUNK_BYTES * (size_t)pes);
    char *source = calloc(1, CHUNK_BYTES);
    int to = pes % 2 ? pes - 1 : pe + senders;
    shmem_barrier_all();
    if (pe < senders) {
        double begin_s = now_s(), end_s = begin_s;
        double bytes = 0.0;
        while (end_s - begin_s < seconds) {
            shmem_putmem(target + (size_t)CHUNK_BYTES * (size_t)pe, source, CHUNK_BYTES, to);
            bytes += CHUNK_BYTES;
            end_s = now_s();
        }
        /* Only what has arrived counts, and the time that it took. */
        shmem_quiet();
        end_s = now_s();
        printf("%.1f\n", bytes * 8e-6 / (end_s - begin_s));
        fflush(stdout);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
