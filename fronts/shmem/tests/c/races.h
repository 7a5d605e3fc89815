/* What the labelled programs for the detector of races share. Each is one function: what the PEs do,
 * the rule of the specification that says whether it is a race, and where that rule stands.
 *
 * A case has a block of symmetric memory for itself, so that nothing is left of the one before. PE 0
 * says which case follows and how it is labelled; the driver compares that with what is reported.
 * `races NAME` runs one case, `races` all. */
#ifndef RACES_H
#define RACES_H

#include "check.h"

/* The block of a case: `m` is for data. The words behind it are for flags, signals and a lock. */
#define WORDS 64
struct block {
    long m[WORDS];
    long flag[8];
    uint64_t sig[8];
    long lock[8];
};

static struct block *block;
static long *m, *flag, *lock_word;
static uint64_t *sig;

#define ON(pe) if (me == (pe))
/* Tell PE `pe`, and wait until one is told. */
#define TELL(pe) shmem_long_p(&flag[0], 1, pe)
#define TOLD() shmem_long_wait_until(&flag[0], SHMEM_CMP_EQ, 1)

#define RACY "racy"
#define CLEAN "clean"

struct program {
    const char *name, *label, *section, *rule;
    void (*run)(void);
};

static struct program cases[100];
static int count;

/* CASE(name, label, section of OpenSHMEM 1.6, rule) { what the three PEs do } */
#define CASE(name, label, section, rule) \
    static void name(void); \
    __attribute__((constructor)) static void add_##name(void) \
    { \
        const struct program of = {#name, label, section, rule, name}; \
        cases[count++] = of; \
    } \
    static void name(void)

int main(int argc, char **argv)
{
#ifdef RACES_THREADS
    int provided;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
#else
    shmem_init();
#endif
    meet();
    CHECK(pes == 3);
    for (int i = 0; i < count; i++) {
        const struct program *of = &cases[i];
        if (argc > 1 && strcmp(argv[1], of->name) != 0)
            continue;
        if (me == 0)
            fprintf(stderr, "case %s is %s: %s (%s)\n", of->name, of->label, of->rule,
                    of->section);
        block = (struct block *)shmem_calloc(1, sizeof *block);
        m = block->m;
        flag = block->flag;
        sig = block->sig;
        lock_word = block->lock;
        shmem_barrier_all();
        of->run();
        /* Twice: reports of a PE that come while others arrive have to be out before the next case. */
        shmem_barrier_all();
        shmem_barrier_all();
        shmem_free(block);
    }
    if (me == 0)
        fprintf(stderr, "all cases are done\n");
    shmem_finalize();
    return 0;
}

#endif
