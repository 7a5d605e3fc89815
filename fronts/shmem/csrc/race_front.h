/* Shared code of the wrappers of system and OpenMP functions: it finds the real functions, and reports
 * to the detector of races what they order. */
#ifndef RACE_FRONT_H
#define RACE_FRONT_H
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "race.h"

static inline bool is_on(void) { return shmemx_race_1.is_on; }
/* Before there are other threads, no order has to be reported. */
static inline bool are_told(void) { return is_on() && shmemx_race_1.threads; }

static inline uint64_t sync_by(enum sync what, const volatile void *object, uint64_t detail)
{
    return shmemx_race_sync_1(what, (uint64_t)(uintptr_t)object, detail);
}
static inline void acquire(const volatile void *object)
{
    if (are_told())
        sync_by(ACQUIRE, object, 0);
}
static inline void release(const volatile void *object)
{
    if (are_told())
        sync_by(RELEASE, object, 0);
}

static inline void *find(const char *name)
{
    /* Condition variables have an older form under the same name on x86. */
    void *found = strncmp(name, "pthread_cond_", 13) ? NULL : dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found ? found : dlsym(RTLD_NEXT, name);
}

/* The real function that has the same name. */
#define REAL(name) \
    ({ \
        static __typeof__(&name) real; \
        if (!real) \
            real = (__typeof__(&name))find(#name); \
        real; \
    })

/* Functions that acquire an object, and those that release it. */
#define TAKES(result, good, name, parameters, arguments, object) \
    result name parameters \
    { \
        result is = REAL(name) arguments; \
        if (good) \
            acquire(object); \
        return is; \
    }
#define GIVES(name, parameter) \
    int name(parameter *object) \
    { \
        release(object); \
        return REAL(name)(object); \
    }

#endif
