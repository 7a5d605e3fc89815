/* How the benchmarks in C measure times: the median of rounds between barriers. Where TIME is used,
 * BARRIER() is a barrier of all processes, and `me` is 0 in one of them. */
#ifndef TIMING_H
#define TIMING_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9 };

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* Puts `count` values in order. */
static void sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
}

#ifndef FINISH
#define FINISH() ((void)0)
#endif

/* Prints the mean time of one of `times` turns of `body` in process 0. The others run `body`, too,
 * if `together`. If not, FINISH() completes what is still on its way. */
#define TIME(name, times, together, body) \
    do { \
        double rounds[ROUNDS]; \
        for (int round = -1; round < ROUNDS; round++) { \
            BARRIER(); \
            double begin = now_ns(); \
            if (me == 0 || (together)) \
                for (long i = 0; i < (times); i++) { \
                    body; \
                } \
            if (!(together)) \
                FINISH(); \
            if (round >= 0) \
                rounds[round] = (now_ns() - begin) / (double)(times); \
        } \
        BARRIER(); \
        sort(rounds, ROUNDS); \
        if (me == 0) \
            printf("%s %.2f\n", name, rounds[ROUNDS / 2]); \
    } while (0)

#endif
