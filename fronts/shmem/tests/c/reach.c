/* Tests the inline code alone, with a description of memory that this program makes up. Memory out
 * of reach goes to functions of this program. Checks that the inline code accesses the right memory
 * and nothing else: at the limits of regions, for PEs that do not exist, and for impossible lengths.
 * Needs no job. The seed is the first argument. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINE(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "seed %llu, step %d: %s:%d: %s does not hold\n", \
                    (unsigned long long)seed, step, __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

enum { PES = 3, ME = 1, STRIDE = 8192, BELL = 64, HEAP = 1024, HEAP_BYTES = 3000, STATICS = 5000 };
enum { STATICS_BYTES = 1500, STEPS = 40000, SHORT = 64 };

static char memory[PES][STRIDE] __attribute__((aligned(4096)));
static char before[PES][STRIDE];
static char buffer[STRIDE], got[STRIDE];
static uint64_t seed, state;
static int step, called, rung;
static const void *called_with;
static size_t called_bytes;
static int called_pe;

#ifdef __cplusplus
extern "C" {
#endif
struct shmemx_reach_1 shmemx_reach_1;

static void call(const void *address, size_t bytes, int pe)
{
    called++;
    called_with = address;
    called_bytes = bytes;
    called_pe = pe;
}

void pshmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
    (void)source;
    call(dest, nelems, pe);
}

void pshmem_getmem(void *dest, const void *source, size_t nelems, int pe)
{
    (void)dest;
    call(source, nelems, pe);
}

void pshmem_long_p(long *dest, long value, int pe)
{
    (void)value;
    call(dest, sizeof value, pe);
}

long pshmem_long_g(const long *source, int pe)
{
    call(source, sizeof *source, pe);
    return 0;
}

void shmemx_ring_1(const char *routine, int pe)
{
    (void)routine;
    rung++;
    called_pe = pe;
}
#ifdef __cplusplus
}
#endif

static size_t below(size_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % limit;
}

/* Mostly close to a limit. */
static size_t any_place(void)
{
    static const size_t limits[] = {HEAP, HEAP + HEAP_BYTES, STATICS, STATICS + STATICS_BYTES};
    size_t limit = limits[below(4)];
    return below(4) ? limit + below(300) - 150 : limit + below(STRIDE - limit - 64);
}

static size_t any_length(void)
{
    static const size_t lengths[] = {4, 8, 16, 63, 64, 65, 127, 128, 129, 256, STATICS_BYTES,
                                     STATICS_BYTES + 1, HEAP_BYTES, HEAP_BYTES + 1};
    switch (below(8)) {
    case 0: return ~(size_t)0 - below(STRIDE);
    case 1: return ((size_t)1 << 63) - STRIDE + below(2 * STRIDE);
    case 2: case 3: return below(300);
    default: return lengths[below(sizeof lengths / sizeof *lengths)];
    }
}

static int any_pe(void)
{
    static const int odd[] = {-1, PES, PES + 1, -2147483647 - 1, 2147483647};
    return below(4) ? (int)below(PES) : odd[below(5)];
}

static int is_in(size_t at, size_t bytes, size_t begin, size_t length)
{
    if (at < begin || at >= begin + length)
        return 0;
    /* Short accesses are checked as if they had the length SHORT. */
    size_t needed = bytes < SHORT ? (size_t)SHORT : bytes;
    return needed <= begin + length - at;
}

static int is_in_reach(size_t at, size_t bytes, int pe)
{
    /* These are left to the library. */
    if (bytes < 16 && bytes != 4 && bytes != 8)
        return 0;
    return pe >= 0 && pe < (int)shmemx_reach_1.pes
           && (is_in(at, bytes, HEAP, HEAP_BYTES) || is_in(at, bytes, STATICS, STATICS_BYTES));
}

static uint32_t *bell(int pe)
{
    return (uint32_t *)(memory[pe] + BELL);
}

/* Checks a put of `bytes` to `at` of `pe`: done in place, or by a call. */
static void was_put(size_t at, size_t bytes, int pe, const void *value)
{
    if (is_in_reach(at, bytes, pe)) {
        memcpy(before[pe] + at, value, bytes);
        FINE(called == 0);
        FINE(rung == (*bell(pe) != 0) && (!rung || called_pe == pe));
    } else {
        FINE(called == 1 && rung == 0 && called_bytes == bytes && called_pe == pe);
        FINE(called_with == memory[ME] + at);
    }
    FINE(memcmp(memory, before, sizeof memory) == 0);
}

static void was_got(size_t at, size_t bytes, int pe, const void *value)
{
    int in_reach = is_in_reach(at, bytes, pe);
    /* Longer ones check whether the PE is dead. */
    if (in_reach && !(bytes > SHORT && *bell(pe) == 2)) {
        FINE(called == 0 && memcmp(value, memory[pe] + at, bytes) == 0);
    } else {
        FINE(called == 1 && called_bytes == bytes && called_pe == pe);
        FINE(called_with == memory[ME] + at);
    }
    FINE(rung == 0);
}

#define KNOWN(operation, a, b, pe) \
    switch (bytes) { \
    case 4: operation(a, b, 4, pe); break; \
    case 8: operation(a, b, 8, pe); break; \
    case 64: operation(a, b, 64, pe); break; \
    case 128: operation(a, b, 128, pe); break; \
    case 256: operation(a, b, 256, pe); break; \
    default: operation(a, b, bytes, pe); \
    }

/* Not part of main, where the compiler could keep an old description. */
static __attribute__((noinline)) void one(void)
{
    size_t at = any_place(), bytes = any_length();
    int pe = any_pe();
    char *there = memory[ME] + at;
    long value;
    called = rung = 0;
    for (int i = 0; i < PES; i++) {
        *bell(i) = below(3) ? 0 : (uint32_t)below(3);
        memcpy(before[i] + BELL, bell(i), sizeof(uint32_t));
    }
    buffer[below(sizeof buffer)] = (char)below(256);
    memcpy(&value, buffer, sizeof value);
    switch (below(6)) {
    case 0: shmem_putmem(there, buffer, bytes, pe); was_put(at, bytes, pe, buffer); break;
    case 1: KNOWN(shmem_putmem, there, buffer, pe) was_put(at, bytes, pe, buffer); break;
    case 2: shmem_getmem(got, there, bytes, pe); was_got(at, bytes, pe, got); break;
    case 3: KNOWN(shmem_getmem, got, there, pe) was_got(at, bytes, pe, got); break;
    case 4: shmem_long_p((long *)there, value, pe); was_put(at, sizeof value, pe, &value); break;
    default:
        value = shmem_long_g((const long *)there, pe);
        was_got(at, sizeof value, pe, &value);
    }
}

/* The same place and PE in a loop: compilers may move code out of it. */
static __attribute__((noinline)) void many(void)
{
    size_t at = any_place() / 8 * 8;
    int pe = any_pe();
    long *there = (long *)(memory[ME] + at), sum = 0;
    int in_reach = is_in_reach(at, sizeof *there, pe);
    called = rung = 0;
    if (in_reach)
        *bell(pe) = 0;
    for (int i = 0; i < 100; i++) {
        shmem_long_p(there, i, pe);
        sum += shmem_long_g(there, pe);
    }
    FINE(called == (in_reach ? 0 : 200) && sum == (in_reach ? 4950 : 0));
    memcpy(before, memory, sizeof memory);
}

static void describe(size_t pes)
{
    struct shmemx_reach_1 *reach = &shmemx_reach_1;
    size_t to_first = (size_t)0 - ME * STRIDE;
    reach->version = 1;
    reach->size = sizeof *reach;
    reach->stride = STRIDE;
    reach->doorbell = (size_t)memory[0] + BELL;
    reach->heap = (size_t)memory[ME] + HEAP;
    reach->heap_starts = HEAP_BYTES + 1 - SHORT;
    reach->heap_to_first = to_first;
    reach->heap_bytes = HEAP_BYTES;
    reach->statics = (size_t)memory[ME] + STATICS;
    reach->statics_starts = STATICS_BYTES + 1 - SHORT;
    reach->statics_to_first = to_first;
    reach->statics_bytes = STATICS_BYTES;
    reach->pes = pes;
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    state = seed;
    for (size_t pes = 0; pes <= PES; pes++) {
        describe(pes);
        for (step = 0; step < STEPS; step++) {
            one();
            if (step % 16 == 0)
                many();
        }
    }
    return 0;
}
