/* Operations of OpenSHMEM, each in a function of its own: callgrind knows it by its name. The only PE of a job does them to
 * itself, as it would to any other PE: where the memory of a PE lies is looked up in the same table. */
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>

#include "maps.h"

#define ROW static __attribute__((noinline))

/* As in pair.rs. */
enum { WARM_UP = 150, COUNTED = 512, BYTES = 4096 };

static long *words;
static uint64_t *told;
static long own[BYTES / sizeof(long)];
static volatile long got;
static int pe;

ROW void row_shmem_p(void) { shmem_long_p(words, 7, pe); }
ROW void row_shmem_g(void) { got = shmem_long_g(words, pe); }
ROW void row_shmem_fetch_add(void) { got = shmem_long_atomic_fetch_add(words, 1, pe); }
ROW void row_shmem_put_8(void) { shmem_putmem(words, own, 8, pe); }
ROW void row_shmem_put_64(void) { shmem_putmem(words, own, 64, pe); }
ROW void row_shmem_put_4096(void) { shmem_putmem(words, own, BYTES, pe); }
ROW void row_shmem_get_8(void) { shmem_getmem(own, words, 8, pe); }
ROW void row_shmem_get_4096(void) { shmem_getmem(own, words, BYTES, pe); }
ROW void row_shmem_put_signal_8(void)
{
    shmem_putmem_signal(words, own, 8, told, 1, SHMEM_SIGNAL_SET, pe);
}

static void (*const rows[])(void) = {
    row_shmem_p,        row_shmem_g,     row_shmem_fetch_add, row_shmem_put_8,        row_shmem_put_64,
    row_shmem_put_4096, row_shmem_get_8, row_shmem_get_4096,  row_shmem_put_signal_8,
};

static __attribute__((noinline)) void warm_up(void (*row)(void))
{
    for (int turn = 0; turn < WARM_UP; turn++)
        row();
}

/* What is called from here counts: see callgrind.rs. */
static __attribute__((noinline)) void count(void (*row)(void))
{
    for (int turn = 0; turn < COUNTED; turn++)
        row();
}

int main(void)
{
    shmem_init();
    pe = shmem_my_pe();
    words = shmem_malloc(BYTES);
    told = shmem_calloc(1, sizeof *told);
    if (!words || !told)
        abort();
    print_maps();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        warm_up(rows[i]);
        count(rows[i]);
    }
    if (*told != 1)
        abort();
    shmem_finalize();
}
