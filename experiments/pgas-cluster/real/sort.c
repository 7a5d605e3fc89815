/* Sorts random 64-bit keys by merging. Prints the time in seconds.
 * Arguments: number of keys. Twice 8 bytes are in use for each. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUN 32768ul

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoul(argv[1], 0, 10) : 20000000;
    uint64_t *from = malloc(n * sizeof *from), *to = malloc(n * sizeof *to), sum = 0;
    if (!from || !to)
        return 3;
    for (size_t i = 0; i < n; i++)
        sum += from[i] = mixed(i);
    double begin = now();
    for (size_t i = 0; i < n; i += RUN)
        qsort(from + i, n - i < RUN ? n - i : RUN, sizeof *from, compare);
    for (size_t width = RUN; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t mid = low + width < n ? low + width : n, high = mid + width < n ? mid + width : n;
            size_t i = low, j = mid;
            for (size_t k = low; k < high; k++)
                to[k] = i < mid && (j >= high || from[i] <= from[j]) ? from[i++] : from[j++];
        }
        uint64_t *other = from;
        from = to;
        to = other;
    }
    double took = now() - begin;
    for (size_t i = 0; i < n; i++) {
        sum -= from[i];
        if (i && from[i - 1] > from[i]) {
            fputs("sort: wrong\n", stderr);
            return 4;
        }
    }
    if (sum)
        return 4;
    printf("%.3f\n", took);
    return 0;
}
