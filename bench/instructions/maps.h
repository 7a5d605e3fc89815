#include <stdio.h>
#include <stdlib.h>

/* For lines.rs: where shared memory and the program lie. */
static void print_maps(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps)
        abort();
    for (int c; (c = getc(maps)) != EOF;)
        putchar(c);
    fclose(maps);
}
