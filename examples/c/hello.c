/* Every PE puts its number into the memory of its right neighbour. */
#include <shmem.h>
#include <stdio.h>

static int inbox; /* static objects are in the memory of every PE */

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();

    shmem_int_p(&inbox, me, (me + 1) % pes);
    shmem_barrier_all(); /* all puts have arrived */

    printf("PE %d of %d heard from PE %d\n", me, pes, inbox);
    shmem_finalize();
    return 0;
}
