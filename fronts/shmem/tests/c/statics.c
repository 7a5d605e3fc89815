/* Static and global objects are symmetric: initialised, zero, static in a function, large. */
#include "check.h"

int initialised[4] = {1, 2, 3, 4};
static double zero[4];
static char large[3 << 20];
static long large_initialised[20000] = {1, 2, 3};
static const char *text = "as it was";
static FILE *standard_output;
__attribute__((aligned(4096))) static long page[512];

static long *in_function(void)
{
    static long value = 42;
    return &value;
}

int main(void)
{
    large[5] = 'x';
    zero[3] = 2.5;
    initialised[3] = 7;
    standard_output = stdout;
    int *allocated = (int *)malloc(sizeof *allocated);
    *allocated = 9;
    shmem_init();
    meet();
    /* Values that were stored before initialisation are there afterwards. */
    CHECK(large[5] == 'x' && zero[3] == 2.5 && initialised[3] == 7 && initialised[0] == 1);
    CHECK(strcmp(text, "as it was") == 0 && *allocated == 9 && standard_output == stdout);
    CHECK(shmem_addr_accessible(&initialised, right) && shmem_addr_accessible(large, right));
    shmem_barrier_all();
    shmem_int_p(&initialised[1], 100 + me, right);
    shmem_double_p(&zero[0], 0.5 + me, right);
    shmem_char_p(&large[sizeof large - 1], (char)('a' + me), right);
    shmem_long_p(in_function(), 1000 + me, right);
    shmem_long_p(&page[511], me, right);
    shmem_long_p(&large_initialised[19999], 10 + me, right);
    shmem_barrier_all();
    CHECK(initialised[1] == 100 + left && initialised[2] == 3);
    CHECK(zero[0] == 0.5 + left);
    CHECK(large[sizeof large - 1] == 'a' + left);
    CHECK(*in_function() == 1000 + left && page[511] == left);
    CHECK(large_initialised[19999] == 10 + left && large_initialised[2] == 3);
    CHECK(shmem_int_g(&initialised[1], right) == 100 + me);
    CHECK(shmem_long_atomic_fetch_add(&page[0], 5, right) == 0);
    shmem_barrier_all();
    CHECK(page[0] == 5);
    int *there = (int *)shmem_ptr(initialised, right);
    CHECK(there == NULL || there[1] == 100 + me);
    shmem_barrier_all();
    shmem_finalize();
    /* They stay usable. */
    initialised[0] = 5;
    large[0] = 1;
    CHECK(initialised[1] == 100 + left);
    free(allocated);
    return 0;
}
