/* The kernels of STREAM (J. D. McCalpin) over three arrays of doubles, as the paper runs them: two series of
 * copy, scale, add and triad. Prints the mean time of a kernel in seconds.
 * Arguments: elements of an array. 20 million make 460 MB. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SERIES 2

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoul(argv[1], 0, 10) : 20000000;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
    if (!a || !b || !c)
        return 3;
    for (size_t i = 0; i < n; i++) {
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    }
    double begin = now();
    for (int series = 0; series < SERIES; series++) {
        for (size_t i = 0; i < n; i++)
            c[i] = a[i];
        for (size_t i = 0; i < n; i++)
            b[i] = 3 * c[i];
        for (size_t i = 0; i < n; i++)
            c[i] = a[i] + b[i];
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] + 3 * c[i];
    }
    double mean = (now() - begin) / (4 * SERIES);
    double x = 1, y, z;
    for (int series = 0; series < SERIES; series++) {
        z = x;
        y = 3 * z;
        z = x + y;
        x = y + 3 * z;
    }
    for (size_t i = 0; i < n; i++)
        if (a[i] != x || b[i] != y || c[i] != z) {
            fputs("stream: wrong\n", stderr);
            return 4;
        }
    printf("%.3f\n", mean);
    return 0;
}
