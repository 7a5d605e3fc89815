/* How the programs of this folder end on a failed check. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
            exit(1); \
        } \
    } while (0)
#define IS(expected, call) \
    do { \
        long long gives_ = (long long)(call), want_ = (long long)(expected); \
        if (gives_ != want_) { \
            fprintf(stderr, "line %d: %s gives %lld, not %lld\n", __LINE__, #call, gives_, want_); \
            exit(1); \
        } \
    } while (0)
