/* Times shmem_barrier_all where PEs share cores: each barrier by itself, since a mean hides what a
 * scheduler does. Prints "barrier_all-PES-MEDIAN NANOSECONDS" and the 99th percentile, of PE 0.
 *
 *     oshcc -O2 -o crowd bench/shmem/crowd.c && taskset -c 0,1 oshrun -n 8 ./crowd
 */
#include <shmem.h>
#include "../timing.h"

enum { TIMES = 5000 };

int main(void)
{
    static double taken[TIMES];
    shmem_init();
    for (int i = -100; i < TIMES; i++) {
        double begin = now_ns();
        shmem_barrier_all();
        if (i >= 0)
            taken[i] = now_ns() - begin;
    }
    sort(taken, TIMES);
    if (shmem_my_pe() == 0)
        printf("barrier_all-%d-median %.0f\nbarrier_all-%d-99th %.0f\n", shmem_n_pes(),
               taken[TIMES / 2], shmem_n_pes(), taken[TIMES / 100 * 99]);
    shmem_finalize();
    return 0;
}
