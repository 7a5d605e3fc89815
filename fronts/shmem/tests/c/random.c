/* Random puts, gets and atomics against a model. Each PE owns a stripe in the memory of every PE.
 * No other PE writes there, so a local copy of its writes is the expected value. Counters are
 * shared by all, and only their sums are known. The seed is the first argument. */
#include "check.h"

enum { STRIPE = 4096, COUNTERS = 16, STEPS = 1500 };

static char *memory;
static long *counters;

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    shmem_init();
    meet();
    uint64_t state = seed * 1000 + (uint64_t)me;
    memory = (char *)symmetric((size_t)pes * STRIPE);
    counters = (long *)symmetric(COUNTERS * sizeof *counters);
    long *added = (long *)calloc((size_t)pes * COUNTERS, sizeof *added);
    char *model = (char *)calloc((size_t)pes, STRIPE), buffer[STRIPE], *mine = memory + me * STRIPE;
    for (int step = 0; step < STEPS; step++) {
        uint64_t r = next_random(&state);
        int pe = (int)(r % pes);
        size_t at = (r >> 8) % STRIPE, most = STRIPE - at;
        size_t length = (r >> 24) % (r >> 60 < 12 ? (most < 64 ? most : 64) + 1 : most + 1);
        char *expected = model + (size_t)pe * STRIPE;
        switch ((r >> 40) % 9) {
        case 0:
        case 1:
        case 2:
            for (size_t i = 0; i < length; i++)
                buffer[i] = (char)next_random(&state);
            memcpy(expected + at, buffer, length);
            if ((r >> 48) % 2) {
                shmem_putmem(mine + at, buffer, length, pe);
            } else {
                shmem_putmem_nbi(mine + at, buffer, length, pe);
                shmem_quiet();
            }
            break;
        case 3:
        case 4:
            shmem_quiet();
            shmem_getmem(buffer, mine + at, length, pe);
            FINE(memcmp(buffer, expected + at, length) == 0);
            break;
        case 5: {
            /* Every third byte. */
            size_t count = length / 3;
            for (size_t i = 0; i < count; i++) {
                buffer[i] = (char)next_random(&state);
                expected[at + 3 * i] = buffer[i];
            }
            shmem_iput8(mine + at, buffer, 3, 1, count, pe);
            break;
        }
        case 6: {
            long by = (long)(r >> 50), *counter = &counters[(r >> 16) % COUNTERS];
            added[pe * COUNTERS + (counter - counters)] += by;
            if ((r >> 47) % 2)
                shmem_long_atomic_add(counter, by, pe);
            else
                (void)shmem_long_atomic_fetch_add(counter, by, pe);
            break;
        }
        case 7: {
            /* An atomic on a word of the own stripe. */
            size_t word = at / 8 * 8;
            uint64_t before, value = next_random(&state);
            memcpy(&before, expected + word, 8);
            shmem_fence();
            FINE(shmem_uint64_atomic_swap((uint64_t *)(mine + word), value, pe) == before);
            memcpy(expected + word, &value, 8);
            break;
        }
        default:
            if (at < STRIPE) {
                char byte = (char)next_random(&state);
                expected[at] = byte;
                shmem_char_p(mine + at, byte, pe);
            }
            break;
        }
    }
    shmem_barrier_all();
    for (int pe = 0; pe < pes; pe++) {
        shmem_getmem(buffer, mine, STRIPE, pe);
        CHECK(memcmp(buffer, model + (size_t)pe * STRIPE, STRIPE) == 0);
    }
    long *sums = (long *)symmetric((size_t)pes * COUNTERS * sizeof *sums);
    long *sent = (long *)symmetric((size_t)pes * COUNTERS * sizeof *sent);
    memcpy(sent, added, (size_t)pes * COUNTERS * sizeof *sent);
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, sent, (size_t)pes * COUNTERS) == 0);
    CHECK(memcmp(sums + me * COUNTERS, counters, COUNTERS * sizeof *counters) == 0);
    free(model);
    free(added);
    shmem_finalize();
    return 0;
}
