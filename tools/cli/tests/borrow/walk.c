/* Walks over an array: each word i must have the value i * (round - 1), and gets i more.
 * Arguments: MiB, rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    size_t words = (argc > 1 ? strtoul(argv[1], 0, 10) : 8) << 17;
    unsigned long rounds = argc > 2 ? strtoul(argv[2], 0, 10) : 3;
    unsigned long *array = calloc(words, sizeof *array);
    if (!array)
        return 3;
    printf("process %d\n", (int)getpid());
    for (unsigned long round = 1; round <= rounds; round++) {
        for (size_t i = 0; i < words; i++) {
            if (array[i] != i * (round - 1)) {
                printf("wrong at %zu: %lu in round %lu\n", i, array[i], round);
                return 4;
            }
            array[i] += i;
        }
        printf("round %lu\n", round);
        fflush(stdout);
    }
    free(array);
    puts("right");
    return 0;
}
