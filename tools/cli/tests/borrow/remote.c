/* Memory that the program asks for itself. */
#include <errno.h>
#include <hostwire_remote.h>
#include <stdio.h>

int main(void) {
    unsigned long words = 4ul << 17;
    unsigned long *array = hostwire_remote_alloc(words * sizeof *array);
    if (!array) {
        puts(errno == ENXIO ? "nothing is borrowed" : "another error");
        return 5;
    }
    for (unsigned long i = 0; i < words; i++)
        array[i] += i;
    for (unsigned long i = 0; i < words; i++)
        if (array[i] != i)
            return 4;
    hostwire_remote_free(array);
    hostwire_remote_free(0);
    puts("right");
    return 0;
}
