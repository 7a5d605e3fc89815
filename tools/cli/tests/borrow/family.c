/* The family of malloc and mmap, and a fork, with sizes that are borrowed. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1ul << 20)
#define CHECK(what) do { if (!(what)) { printf("line %d: %s\n", __LINE__, #what); return 4; } } while (0)

static int is_all(const char *bytes, size_t len, char value) {
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != value)
            return 0;
    return 1;
}

int main(void) {
    char *small = malloc(100);
    strcpy(small, "small");
    char *grown = realloc(small, 3 * MIB);
    CHECK(!strcmp(grown, "small"));
    memset(grown, 1, 3 * MIB);
    grown = realloc(grown, 9 * MIB);
    CHECK(is_all(grown, 3 * MIB, 1));
    char *shrunk = realloc(grown, 50);
    CHECK(is_all(shrunk, 50, 1));
    free(shrunk);

    void *aligned;
    CHECK(posix_memalign(&aligned, 4096, 4 * MIB) == 0 && (size_t)aligned % 4096 == 0);
    memset(aligned, 2, 4 * MIB);

    char *map = mmap(0, 6 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED && is_all(map, 6 * MIB, 0));
    memset(map, 3, 6 * MIB);
    CHECK(madvise(map + MIB, MIB, MADV_DONTNEED) == 0);
    CHECK(is_all(map, MIB, 3) && is_all(map + MIB, MIB, 0) && is_all(map + 2 * MIB, 4 * MIB, 3));
    map = mremap(map, 6 * MIB, 8 * MIB, MREMAP_MAYMOVE);
    CHECK(map != MAP_FAILED && is_all(map + 2 * MIB, 4 * MIB, 3) && is_all(map + 6 * MIB, 2 * MIB, 0));
    CHECK(munmap(map, 0) == -1 && errno == EINVAL);
    CHECK(munmap(map + 1, MIB) == -1 && errno == EINVAL);
    CHECK(madvise(map + 1, MIB, MADV_DONTNEED) == -1 && errno == EINVAL);
    CHECK(madvise(map, MIB, 12345) == -1 && errno == EINVAL);
    CHECK(madvise(map, MIB, MADV_WILLNEED) == 0 && madvise(map, 0, MADV_DONTNEED) == 0);
    CHECK(is_all(map + 2 * MIB, 4 * MIB, 3));
    CHECK(munmap(map + 4 * MIB, 4 * MIB) == 0);
    CHECK(is_all(map + 2 * MIB, 2 * MIB, 3));

    FILE *zeros = fopen("/dev/zero", "r");
    CHECK(zeros && fread(aligned, 1, 2 * MIB, zeros) == 2 * MIB);
    CHECK(is_all(aligned, 2 * MIB, 0) && is_all((char *)aligned + 2 * MIB, 2 * MIB, 2));

    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    char *more = malloc(7 * MIB);
    memset(more, 5, 7 * MIB);
    CHECK(is_all((char *)aligned + 2 * MIB, 2 * MIB, 2) && is_all(more, 7 * MIB, 5));
    free(more);

    pid_t child = fork();
    if (child == 0) {
        /* The child has none of this memory, but may free it, and borrow again. */
        free(aligned);
        char *own = malloc(5 * MIB);
        memset(own, 9, 5 * MIB);
        _exit(is_all(own, 5 * MIB, 9) ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    child = fork();
    if (child == 0)
        _exit(*(volatile char *)aligned);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    child = fork();
    if (child == 0) {
        /* Not a new block of zeros. */
        char *moved = realloc(aligned, 5 * MIB);
        _exit(moved[3 * MIB]);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CHECK(is_all((char *)aligned + 2 * MIB, 2 * MIB, 2));
    free(aligned);
    puts("right");
    return 0;
}
