/* Random short puts, gets and atomics of every width, on the heap and on static objects, against a
 * model. Each PE owns a stripe in both areas of every PE. No other PE writes there, so a local copy
 * of its writes is the expected value. The seed is the first argument. */
#include "check.h"

enum { STRIPE = 8192, STEPS = 4000, MOST_PES = 8 };

static char statics[MOST_PES * STRIPE] __attribute__((aligned(64)));
static char model[2][MOST_PES][STRIPE] __attribute__((aligned(64)));
static char buffer[STRIPE] __attribute__((aligned(64)));
static uint64_t seed, state;
static int step;

static void fill(size_t length)
{
    for (size_t i = 0; i < length; i++)
        buffer[i] = (char)next_random(&state);
}

/* One element, aligned to its size. */
#define ELEMENT(name, type) \
    static void element_##name(char *there, char *expected, size_t at, int pe) \
    { \
        type value, got; \
        at = at / sizeof value * sizeof value; \
        fill(sizeof value); \
        /* No bit patterns of a NaN, which need not stay as they are. */ \
        value = (type)(short)(buffer[0] * 256 + buffer[1]); \
        shmem_##name##_p((type *)(there + at), value, pe); \
        memcpy(expected + at, &value, sizeof value); \
        got = shmem_##name##_g((type *)(there + at), pe); \
        FINE(memcmp(&got, &value, sizeof value) == 0); \
    }
ELEMENT(char, char)
ELEMENT(short, short)
ELEMENT(int, int)
ELEMENT(long, long)
ELEMENT(float, float)
ELEMENT(double, double)
ELEMENT(uint64, uint64_t)

/* A count that the compiler knows, and one that it does not: put and get. */
#define RUN(width, count) \
    static void run_##width##_##count(char *there, char *expected, size_t at, int pe) \
    { \
        const size_t length = count * width / 8; \
        volatile size_t unknown = count; \
        if (at + length > STRIPE) \
            at = STRIPE - length; \
        fill(length); \
        if (buffer[0] % 2) \
            shmem_put##width(there + at, buffer, count, pe); \
        else \
            shmem_put##width(there + at, buffer, unknown, pe); \
        memcpy(expected + at, buffer, length); \
        memset(buffer, 0, length + 8); \
        if (pe % 2) \
            shmem_get##width(buffer, there + at, count, pe); \
        else \
            shmem_get##width(buffer, there + at, unknown, pe); \
        FINE(memcmp(buffer, expected + at, length) == 0); \
        for (int i = 0; i < 8; i++) \
            FINE(buffer[length + i] == 0); \
    }
RUN(8, 0)
RUN(8, 1)
RUN(8, 3)
RUN(8, 15)
RUN(8, 33)
RUN(8, 65)
RUN(16, 1)
RUN(16, 2)
RUN(16, 4)
RUN(16, 9)
RUN(16, 33)
RUN(32, 1)
RUN(32, 2)
RUN(32, 5)
RUN(32, 16)
RUN(32, 17)
RUN(32, 40)
RUN(64, 1)
RUN(64, 2)
RUN(64, 7)
RUN(64, 8)
RUN(64, 9)
RUN(64, 500)
RUN(128, 1)
RUN(128, 3)
RUN(128, 4)
RUN(128, 16)
RUN(128, 17)

/* Any number of bytes, most of them few. */
static void bytes(char *there, char *expected, size_t at, int pe)
{
    uint64_t r = next_random(&state);
    size_t most = r % 4 ? 300 : STRIPE, length = (r >> 8) % most;
    if (at + length > STRIPE)
        at = STRIPE - length;
    fill(length);
    shmem_putmem(there + at, buffer, length, pe);
    memcpy(expected + at, buffer, length);
    memset(buffer, 0, length);
    shmem_getmem(buffer, there + at, length, pe);
    FINE(memcmp(buffer, expected + at, length) == 0);
}

/* One atomic on a word; the model gives its old value. */
#define ATOMIC(name, type) \
    static void atomic_##name(char *there, char *expected, size_t at, int pe) \
    { \
        at = at / sizeof(type) * sizeof(type); \
        type *word = (type *)(there + at), *model_word = (type *)(expected + at); \
        type before = *model_word, value = (type)next_random(&state), old = before; \
        switch (next_random(&state) % 15) { \
        case 0: old = shmem_##name##_atomic_fetch(word, pe); break; \
        case 1: shmem_##name##_atomic_set(word, value, pe); *model_word = value; break; \
        case 2: old = shmem_##name##_atomic_swap(word, value, pe); *model_word = value; break; \
        case 3: \
            old = shmem_##name##_atomic_compare_swap(word, before, value, pe); \
            *model_word = value; \
            break; \
        case 4: \
            old = shmem_##name##_atomic_compare_swap(word, (type)(before + 1), value, pe); \
            break; \
        case 5: shmem_##name##_atomic_inc(word, pe); *model_word += 1; break; \
        case 6: old = shmem_##name##_atomic_fetch_inc(word, pe); *model_word += 1; break; \
        case 7: shmem_##name##_atomic_add(word, value, pe); *model_word += value; break; \
        case 8: \
            old = shmem_##name##_atomic_fetch_add(word, value, pe); \
            *model_word += value; \
            break; \
        case 9: shmem_##name##_atomic_and(word, value, pe); *model_word &= value; break; \
        case 10: \
            old = shmem_##name##_atomic_fetch_and(word, value, pe); \
            *model_word &= value; \
            break; \
        case 11: shmem_##name##_atomic_or(word, value, pe); *model_word |= value; break; \
        case 12: \
            old = shmem_##name##_atomic_fetch_or(word, value, pe); \
            *model_word |= value; \
            break; \
        case 13: shmem_##name##_atomic_xor(word, value, pe); *model_word ^= value; break; \
        default: \
            old = shmem_##name##_atomic_fetch_xor(word, value, pe); \
            *model_word ^= value; \
            break; \
        } \
        FINE(old == before); \
        FINE(shmem_##name##_atomic_fetch(word, pe) == *model_word); \
    }
ATOMIC(uint, unsigned int)
ATOMIC(ulong, unsigned long)
ATOMIC(uint64, uint64_t)

static void (*const operations[])(char *, char *, size_t, int) = {
    element_char, element_short, element_int, element_long, element_float, element_double,
    element_uint64, run_8_0, run_8_1, run_8_3, run_8_15, run_8_33, run_8_65, run_16_1, run_16_2,
    run_16_4, run_16_9, run_16_33, run_32_1, run_32_2, run_32_5, run_32_16, run_32_17, run_32_40,
    run_64_1, run_64_2, run_64_7, run_64_8, run_64_9, run_64_500, run_128_1, run_128_3, run_128_4,
    run_128_16, run_128_17, bytes, bytes, bytes, bytes, atomic_uint, atomic_ulong, atomic_uint64,
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* Stores and adds to a counter that all PEs share: no store is lost, and none is done twice. */
static void counters(long *counter)
{
    for (int pe = 0; pe < pes; pe++)
        for (int i = 0; i < 500; i++)
            if (i % 2)
                shmem_long_atomic_inc(counter, pe);
            else
                (void)shmem_long_atomic_fetch_add(counter, 3, pe);
    shmem_barrier_all();
    CHECK(*counter == (long)pes * (250 + 250 * 3));
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    /* Fewer between hosts, where each takes longer. */
    int steps = argc > 2 ? atoi(argv[2]) : STEPS;
    shmem_init();
    meet();
    CHECK(pes <= MOST_PES);
    char *areas[2] = {(char *)symmetric((size_t)pes * STRIPE), statics};
    long *counter = (long *)symmetric(sizeof *counter);
    state = seed * 1000 + (uint64_t)me;
    for (step = 0; step < steps; step++) {
        uint64_t r = next_random(&state);
        int area = (int)(r >> 8) & 1, pe = (int)((r >> 16) % (uint64_t)pes);
        size_t at = (r >> 32) % STRIPE;
        operations[r % OPERATIONS](areas[area] + me * STRIPE, model[area][pe], at, pe);
    }
    shmem_barrier_all();
    for (int area = 0; area < 2; area++)
        for (int pe = 0; pe < pes; pe++) {
            shmem_getmem(buffer, areas[area] + me * STRIPE, STRIPE, pe);
            CHECK(memcmp(buffer, model[area][pe], STRIPE) == 0);
        }
    counters(counter);
    /* To this PE itself, from the target. */
    shmem_putmem(statics, statics, 64, me);
    shmem_putmem(statics, statics, 200, me);
    shmem_getmem(statics, statics, 200, me);
    CHECK(me != 0 || memcmp(statics, model[1][0], 200) == 0);
    shmem_finalize();
    return 0;
}
