/* Uses memory as programs do, at random: maps, unmaps, protects, advises, locks, moves, allocates, forks, has threads,
 * and lets the kernel read and write. It prints the results of calls and the contents of memory, but no address. The
 * same seed prints the same with every correct memory. Arguments: seed, steps. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul
#define BLOCKS 10
#define PAGES_MAX 700
#define READ PROT_READ
#define BOTH (PROT_READ | PROT_WRITE)
/* The state of a page, beside its protection. */
#define HOLE 16
#define LOCKED 32

struct block {
    char *at;
    size_t pages;
    /* Length in bytes if it was made by malloc; 0 otherwise. */
    size_t bytes;
    /* Other mappings, or holes, were made in it. */
    int is_mixed;
    /* The kernel may have several mappings here, which mremap cannot move. */
    int is_split;
    unsigned char page[PAGES_MAX];
};

static struct block blocks[BLOCKS];
static uint64_t state, digest;
static unsigned long step;
/* Files: `file` is written, `mapped` is mapped. */
static int file, mapped;
static sigjmp_buf back;
static volatile sig_atomic_t may_fault;

static uint64_t draw(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static size_t below(size_t n) { return draw() % n; }

static void mix(uint64_t word) { digest = (digest ^ word) * 0x100000001b3; }

static void said(const char *what, long result) {
    int error = result == -1 ? errno : 0;
    mix(result);
    mix(error);
    printf("%lu %s %ld %d\n", step, what, result, error);
}

static void on_fault(int signal) {
    if (may_fault)
        siglongjmp(back, 1);
    static const char line[] = "what is there cannot be touched\n";
    write(2, line, sizeof line - 1);
    _exit(128 + signal);
}

/* Loads or stores a byte. Returns the byte, or -2 for a fault. */
static long touch(volatile char *at, int is_store, char value) {
    long has = -2;
    if (!sigsetjmp(back, 1)) {
        may_fault = 1;
        if (is_store)
            *at = value;
        has = (unsigned char)*at;
    }
    may_fault = 0;
    return has;
}

static void add(char *at, size_t pages, size_t bytes) {
    for (int i = 0; i < BLOCKS; i++)
        if (!blocks[i].at) {
            blocks[i] = (struct block){ .at = at, .pages = pages, .bytes = bytes };
            memset(blocks[i].page, BOTH, sizeof blocks[i].page);
            return;
        }
}

static int has_place(void) {
    for (int i = 0; i < BLOCKS; i++)
        if (!blocks[i].at)
            return 1;
    return 0;
}

/* A block, or none. With `is_map`, only a block that was mapped. */
static struct block *any(int is_map) {
    struct block *it = &blocks[below(BLOCKS)];
    return it->at && (!is_map || !it->bytes) ? it : 0;
}

/* Some pages of a block. */
static size_t some(struct block *it, size_t *first) {
    *first = below(it->pages);
    size_t rest = it->pages - *first;
    return 1 + below(below(3) ? (rest < 8 ? rest : 8) : rest);
}

/* Whether all these pages are equal to `like` in the bits of `mask`. */
static int are(struct block *it, size_t first, size_t count, int mask, int like) {
    for (size_t i = first; i < first + count; i++)
        if ((it->page[i] & mask) != like)
            return 0;
    return 1;
}

static char *map(size_t pages, int protection) {
    void *at = mmap(0, pages * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? 0 : at;
}

static void look(struct block *it) {
    uint64_t sum = 0;
    for (size_t i = 0; i < it->pages; i++) {
        if (it->page[i] & HOLE || !(it->page[i] & READ))
            continue;
        const uint64_t *words = (const uint64_t *)(it->at + i * PAGE);
        size_t count = it->bytes && (i + 1) * PAGE > it->bytes ? it->bytes % PAGE / 8 : PAGE / 8;
        for (size_t j = 0; j < count; j++)
            sum = (sum ^ words[j]) * 0x100000001b3;
    }
    said("has", (long)(sum >> 2));
}

static void fill(struct block *it) {
    size_t first, count = some(it, &first);
    uint64_t value = draw();
    for (size_t i = first; i < first + count; i++) {
        if (it->page[i] & HOLE || !(it->page[i] & PROT_WRITE) || (it->bytes && (i + 1) * PAGE > it->bytes))
            continue;
        uint64_t *words = (uint64_t *)(it->at + i * PAGE);
        for (size_t j = 0; j < PAGE / 8; j++)
            words[j] = value += 0x9e3779b97f4a7c15;
    }
}

static void unmap(struct block *it) {
    look(it);
    if (it->bytes) {
        free(it->at);
    } else {
        /* Memory in a hole may belong to someone else by now. */
        for (size_t i = 0, end; i < it->pages; i = end) {
            for (end = i + 1; end < it->pages && !((it->page[end] ^ it->page[i]) & HOLE);)
                end++;
            if (!(it->page[i] & HOLE))
                said("munmap", munmap(it->at + i * PAGE, (end - i) * PAGE));
        }
    }
    it->at = 0;
}

/* The range has been empty since it was unmapped. */
static void look_at_nothing(char *at, size_t bytes) {
    said("nothing", touch(at + below(bytes), below(2), 1));
    said("munmap nothing", munmap(at, bytes));
    said("mprotect nothing", mprotect(at, bytes, BOTH));
    said("nothing", touch(at + below(bytes), below(2), 1));
    said("madvise nothing", madvise(at, bytes, below(2) ? MADV_DONTNEED : MADV_WILLNEED));
    said("mlock nothing", mlock(at, bytes));
    said("mremap nothing", (long)mremap(at, bytes, 2 * bytes, MREMAP_MAYMOVE));
    said("write nothing", pwrite(file, at, bytes, 0));
}

static void make_hole(struct block *it) {
    size_t first, count = some(it, &first);
    if (it->bytes || count == it->pages || !are(it, first, count, HOLE, 0))
        return;
    char *at = it->at + first * PAGE;
    said("hole", munmap(at, count * PAGE - below(PAGE)));
    memset(it->page + first, HOLE, count);
    it->is_mixed = 1;
    look_at_nothing(at, count * PAGE);
    /* With the page before or after the hole, which is mapped. */
    if (first > 0 && are(it, first - 1, 1, HOLE | LOCKED, 0))
        said("madvise over a hole", madvise(at - PAGE, (count + 1) * PAGE, MADV_DONTNEED));
    if (first + count < it->pages && are(it, first + count, 1, HOLE, 0)) {
        int protection = it->page[first + count] & BOTH;
        said("mprotect over a hole", mprotect(at, (count + 1) * PAGE, protection ^ READ));
        said("mprotect back", mprotect(at + count * PAGE, PAGE, protection));
    }
}

static void protect(struct block *it) {
    static const int protections[] = { PROT_NONE, READ, BOTH, BOTH, BOTH };
    size_t first, count = some(it, &first);
    if (below(3) == 0)
        first = 0, count = it->pages;
    if (it->bytes || !are(it, first, count, HOLE, 0))
        return;
    it->is_split |= count != it->pages;
    int protection = protections[below(5)];
    said("mprotect", mprotect(it->at + first * PAGE, count * PAGE - below(PAGE), protection));
    for (size_t i = first; i < first + count; i++)
        it->page[i] = protection | (it->page[i] & LOCKED);
    for (int i = 0; i < 3; i++)
        said("touch", touch(it->at + (first + below(count)) * PAGE + below(PAGE), below(2), (char)draw()));
}

static void advise(struct block *it) {
    static const int others[] = { MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_REMOVE, 12345, -1 };
    size_t first, count = some(it, &first);
    char *at = it->at + first * PAGE;
    if (it->bytes || !are(it, first, count, HOLE, 0))
        return;
    switch (below(4)) {
    case 0:
    case 1:
        said("discard", madvise(at, count * PAGE - below(PAGE), MADV_DONTNEED));
        return;
    case 2:
        if (it->is_mixed || !are(it, first, count, LOCKED | BOTH, BOTH))
            return;
        said("may be discarded", madvise(at, count * PAGE, MADV_FREE));
        memset(at, (char)draw(), count * PAGE);
        return;
    default:
        it->is_split = 1;
        if (!it->is_mixed)
            said("madvise", madvise(at, count * PAGE, others[below(7)]));
    }
}

/* Whether the kernel has it as one mapping. */
static int is_one(struct block *it) {
    return !it->bytes && !it->is_mixed && !it->is_split && are(it, 0, it->pages, 255, it->page[0]) && !(it->page[0] & LOCKED);
}

static void move(struct block *it) {
    if (!is_one(it))
        return;
    int protection = it->page[0];
    char *was = it->at;
    size_t old = it->pages, new = 1 + below(PAGES_MAX);
    long result = -1;
    switch (below(4)) {
    case 0: {
        /* To another place. */
        char *to = map(new, PROT_NONE);
        it->at = mremap(was, old * PAGE, new * PAGE - below(PAGE), MREMAP_MAYMOVE | MREMAP_FIXED, to);
        result = it->at == to;
        break;
    }
    case 1: {
        /* In place of another one. */
        struct block *other = any(1);
        if (!other || other == it || other->is_mixed || !are(other, 0, other->pages, HOLE, 0))
            return;
        new = other->pages;
        it->at = mremap(was, old * PAGE, new * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other->at);
        result = it->at == other->at;
        other->at = 0;
        break;
    }
    case 2: {
        char *to = mremap(was, old * PAGE, old * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
        said("mremap, stays", to == MAP_FAILED ? -1 : 0);
        look(it);
        if (to != MAP_FAILED)
            munmap(was, old * PAGE);
        it->at = to;
        new = old;
        result = 1;
        break;
    }
    default:
        it->at = mremap(was, old * PAGE, new * PAGE - below(PAGE), MREMAP_MAYMOVE);
        result = 1;
    }
    said("mremap", it->at == MAP_FAILED ? -1 : result);
    if (it->at == MAP_FAILED)
        exit(5);
    it->pages = new;
    memset(it->page, protection, sizeof it->page);
    look(it);
    if (old > new && it->at == was)
        look_at_nothing(was + new * PAGE, (old - new) * PAGE);
}

static void refuse(struct block *it) {
    char *at = it->at, *far = at + 64 * PAGES_MAX * PAGE;
    size_t half = it->pages / 2;
    if (!is_one(it) || half == 0)
        return;
    switch (below(14)) {
    case 0: said("munmap", munmap(at, 0)); return;
    case 1: said("munmap", munmap(at + 1 + below(PAGE - 1), PAGE)); return;
    case 2: said("madvise", madvise(at + 1 + below(PAGE - 1), PAGE, MADV_DONTNEED)); return;
    case 3: said("madvise", madvise(at, 0, MADV_DONTNEED)); return;
    case 4: said("mprotect", mprotect(at + 1 + below(PAGE - 1), PAGE, BOTH)); return;
    case 5: said("mprotect", mprotect(at, 0, BOTH)); return;
    case 6: said("mprotect", mprotect(at, PAGE, 0x40)); return;
    case 7: said("mremap", (long)mremap(at + 1, PAGE, PAGE, MREMAP_MAYMOVE)); return;
    case 8: said("mremap", (long)mremap(at, 0, PAGE, MREMAP_MAYMOVE)); return;
    case 9: said("mremap", (long)mremap(at, PAGE, 0, MREMAP_MAYMOVE)); return;
    case 10: said("mremap", (long)mremap(at, PAGE, PAGE, MREMAP_FIXED, far)); return;
    case 11: said("mremap", (long)mremap(at, half * PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at)); return;
    case 12: said("mremap", (long)mremap(at, PAGE, PAGE, 64)); return;
    default: said("mremap", (long)mremap(at, half * PAGE, it->pages * PAGE, 0));
    }
}

/* Maps something in the place of pages. */
static void map_over(struct block *it) {
    static const int protections[] = { PROT_NONE, READ, BOTH, BOTH };
    size_t first, count = some(it, &first);
    if (it->bytes || !are(it, first, count, HOLE, 0))
        return;
    int protection = protections[below(4)], is_file = below(2);
    int flags = MAP_PRIVATE | MAP_FIXED | (is_file ? 0 : MAP_ANONYMOUS);
    char *at = it->at + first * PAGE;
    char *is = mmap(at, count * PAGE - below(PAGE), protection, flags, is_file ? mapped : -1, 0);
    said(is_file ? "map a file over" : "map over", is == at ? 0 : -1);
    memset(it->page + first, protection, count);
    it->is_mixed = 1;
    for (int i = 0; i < 3; i++)
        said("touch", touch(at + below(count * PAGE), below(2), (char)draw()));
}

static void lock(struct block *it) {
    size_t first, count = some(it, &first);
    if (it->bytes || !are(it, first, count, HOLE | READ, READ))
        return;
    int is_lock = below(2);
    it->is_split = 1;
    char *at = it->at + first * PAGE;
    said(is_lock ? "mlock" : "munlock", is_lock ? mlock(at, count * PAGE) : munlock(at, count * PAGE));
    for (size_t i = first; i < first + count; i++)
        it->page[i] = is_lock ? it->page[i] | LOCKED : it->page[i] & ~LOCKED;
}

static void allocate(void) {
    size_t bytes = 1 + below(PAGES_MAX * PAGE), align = 16ul << below(9);
    void *at = 0;
    int is_zero = 0;
    switch (below(3)) {
    case 0: at = malloc(bytes); break;
    case 1: at = calloc(bytes / 16 + 1, 16); is_zero = 1; break;
    default: said("posix_memalign", posix_memalign(&at, align, bytes));
    }
    said("allocated", at && (uintptr_t)at % 16 == 0 && malloc_usable_size(at) >= bytes);
    if (is_zero) {
        size_t i = 0;
        while (i < bytes && !((char *)at)[i])
            i++;
        said("zeros", i == bytes);
    }
    memset(at, (char)draw(), malloc_usable_size(at));
    add(at, (bytes + PAGE - 1) / PAGE, bytes);
}

static void reallocate(struct block *it) {
    if (!it->bytes)
        return;
    size_t bytes = 1 + below(below(4) ? PAGES_MAX * PAGE : 2000);
    char *at = below(2) ? realloc(it->at, bytes) : reallocarray(it->at, bytes, 1);
    said("realloc", at && malloc_usable_size(at) >= bytes);
    if (bytes > it->bytes)
        memset(at + it->bytes, (char)draw(), bytes - it->bytes);
    *it = (struct block){ .at = at, .pages = (bytes + PAGE - 1) / PAGE, .bytes = bytes };
    memset(it->page, BOTH, sizeof it->page);
    look(it);
    if (below(4) == 0)
        said("too much", (long)malloc(SIZE_MAX / 2) - 1);
}

/* The kernel reads from one block and writes into another one, also where it may not. */
static void through_kernel(struct block *from, struct block *to) {
    size_t first, second, count = some(from, &first), room = some(to, &second);
    if (!are(from, first, count, HOLE, 0) || !are(to, second, room, HOLE, 0) || from->bytes || to->bytes)
        return;
    size_t skip = below(PAGE);
    size_t bytes = (count < room ? count : room) * PAGE - skip;
    /* The file system decides how much is written before the first page that is refused. */
    int is_whole = are(from, first, count, READ, READ) && are(to, second, room, BOTH, BOTH);
    long written = pwrite(file, from->at + first * PAGE + skip, bytes, 0);
    said("write", is_whole || written == -1 ? written : 0);
    if (is_whole)
        said("read", pread(file, to->at + second * PAGE + below(skip + 1), bytes, 0));
    else if (!(to->page[second] & PROT_WRITE))
        said("read", pread(mapped, to->at + second * PAGE, bytes, 0));
}

struct work {
    struct block *block;
    size_t first, count, number;
    int is_over;
};

static void *count_up(void *argument) {
    struct work *work = argument;
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < work->count; i++) {
            uint64_t *word = (uint64_t *)(work->block->at + (work->first + i) * PAGE) + work->number;
            *word = *word * 3 + work->number;
        }
    return 0;
}

/* Threads store to the same pages, while this one changes what may be done with others. */
static void with_threads(struct block *it) {
    struct work work[3];
    pthread_t threads[3];
    size_t first, count = some(it, &first);
    if (it->bytes || !are(it, first, count, HOLE | BOTH, BOTH))
        return;
    for (size_t i = 0; i < 3; i++) {
        work[i] = (struct work){ .block = it, .first = first, .count = count, .number = i };
        if (pthread_create(&threads[i], 0, count_up, &work[i]))
            exit(9);
    }
    for (int i = 0; i < 20; i++) {
        size_t page = below(it->pages);
        if ((page >= first && page < first + count) || it->page[page] & HOLE)
            continue;
        char *at = it->at + page * PAGE;
        it->is_split = 1;
        mprotect(at, PAGE, READ);
        mix(*(volatile unsigned char *)at);
        mprotect(at, PAGE, it->page[page] & BOTH);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    look(it);
}

/* A child frees memory that it has from its parent, and allocates its own. */
static void with_child(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        size_t pages = 64 + below(300);
        for (int i = 0; i < BLOCKS; i++)
            if (blocks[i].at && blocks[i].bytes)
                free(blocks[i].at);
            else if (blocks[i].at && is_one(&blocks[i]) && munmap(blocks[i].at, blocks[i].pages * PAGE))
                _exit(100);
        char *own = map(pages, BOTH), *other = malloc(pages * PAGE);
        memset(own, 7, pages * PAGE);
        memset(other, 9, pages * PAGE);
        uint64_t sum = 0;
        for (size_t i = 0; i < pages * PAGE; i += 64)
            sum += own[i] + other[i];
        _exit(sum == pages * 64 * 16 ? 7 : 8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    said("child", status);
}

static void one_step(void) {
    struct block *it = any(0), *other = any(0);
    size_t what = below(24), pages = 1 + below(PAGES_MAX);
    if (what < 3 && has_place())
        return what == 0 ? allocate() : add(map(pages, BOTH), pages, 0);
    if (!it || !other)
        return;
    switch (what) {
    case 3: unmap(it); break;
    case 4: case 5: case 6: fill(it); break;
    case 7: look(it); break;
    case 8: case 9: protect(it); break;
    case 10: make_hole(it); break;
    case 11: advise(it); break;
    case 12: case 20: case 21: case 22: move(it); break;
    case 13: case 23: refuse(it); break;
    case 14: map_over(it); break;
    case 15: lock(it); break;
    case 16: reallocate(it); break;
    case 17: through_kernel(it, other); break;
    case 18: with_threads(it); break;
    case 19: if (below(4) == 0) with_child(); break;
    }
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    state = strtoull(argv[1], 0, 10);
    unsigned long steps = strtoul(argv[2], 0, 10);
    setvbuf(stdout, 0, _IOLBF, 0);
    struct sigaction action = { .sa_handler = on_fault };
    sigaction(SIGSEGV, &action, 0);
    /* Only for a hang. */
    alarm(300);
    file = memfd_create("written", 0);
    mapped = memfd_create("mapped", 0);
    for (size_t i = 0; i < PAGES_MAX; i++) {
        char page[PAGE];
        memset(page, 1 + i, PAGE);
        if (write(mapped, page, PAGE) != PAGE)
            return 3;
    }
    for (step = 1; step <= steps; step++)
        one_step();
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at)
            unmap(&blocks[i]);
    printf("digest %016llx\n", (unsigned long long)digest);
    return 0;
}
