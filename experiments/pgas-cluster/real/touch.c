/* Touches pages of a memory that is larger than its cache: along them, and at random. Prints microseconds per page
 * for a walk that reads, a walk that writes, and random reads.
 *
 * `touch MIB` takes the memory by malloc: under `hostwire borrow`, or in a memory cgroup with swap.
 * `touch MIB CACHE_MIB` is the limit that this is compared with: a bare userfaultfd loop in this process, which
 * copies a page from local memory at each fault and copies the oldest one back. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul

static char *memory, *backing;
static size_t pages, cache_pages;
static int uffd;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void *loop(void *unused) {
    (void)unused;
    size_t *ring = calloc(cache_pages, sizeof *ring), used = 0, at = 0;
    for (;;) {
        struct uffd_msg message;
        if (read(uffd, &message, sizeof message) != sizeof message)
            return 0;
        size_t page = (message.arg.pagefault.address - (size_t)memory) / PAGE;
        if (used == cache_pages) {
            char *oldest = memory + ring[at] * PAGE;
            memcpy(backing + ring[at] * PAGE, oldest, PAGE);
            madvise(oldest, PAGE, MADV_DONTNEED);
        } else {
            used++;
        }
        ring[at] = page;
        at = (at + 1) % cache_pages;
        struct uffdio_copy copy = {.dst = (size_t)memory + page * PAGE,
                                   .src = (size_t)backing + page * PAGE,
                                   .len = PAGE};
        if (ioctl(uffd, UFFDIO_COPY, &copy))
            return 0;
    }
}

static int begin_bare(void) {
    memory = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    backing = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(backing, 0, pages * PAGE);
    uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {(size_t)memory, pages * PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &range))
        return 0;
    pthread_t thread;
    return !pthread_create(&thread, 0, loop, 0);
}

int main(int argc, char **argv) {
    pages = (argc > 1 ? strtoul(argv[1], 0, 10) : 256) * 256;
    if (argc > 2) {
        cache_pages = strtoul(argv[2], 0, 10) * 256;
        if (!begin_bare()) {
            perror("touch: userfaultfd");
            return 3;
        }
    } else if (!(memory = malloc(pages * PAGE))) {
        return 3;
    }
    for (size_t i = 0; i < pages; i++)
        *(volatile size_t *)(memory + i * PAGE) = i;
    double start = now();
    for (size_t i = 0; i < pages; i++)
        if (*(volatile size_t *)(memory + i * PAGE) != i)
            return 4;
    double read = now() - start;
    start = now();
    for (size_t i = 0; i < pages; i++)
        *(volatile size_t *)(memory + i * PAGE) = 2 * i;
    double written = now() - start;
    start = now();
    uint64_t state = 1;
    size_t jumps = pages / 4;
    for (size_t i = 0; i < jumps; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t page = (state >> 33) % pages;
        if (*(volatile size_t *)(memory + page * PAGE) != 2 * page)
            return 4;
    }
    double jumped = now() - start;
    printf("%.2f %.2f %.2f\n", read / pages * 1e6, written / pages * 1e6, jumped / jumps * 1e6);
    return 0;
}
