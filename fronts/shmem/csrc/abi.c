/* Features that Rust lacks: `long double` by value and in arithmetic, and `...`. */
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <time.h>

#include "pshmem.h"

/* shmem_NAME is a weak name of pshmem_NAME, so that tools can put their own in its place. */
#define WEAK_NAME(name) \
    extern __typeof__(p##name) name __attribute__((weak, alias("p" #name)))

void pshmem_longdouble_p(long double *dest, long double value, int pe)
{
    pshmem_longdouble_put(dest, &value, 1, pe);
}

void pshmem_ctx_longdouble_p(shmem_ctx_t ctx, long double *dest, long double value, int pe)
{
    pshmem_ctx_longdouble_put(ctx, dest, &value, 1, pe);
}

long double pshmem_longdouble_g(const long double *source, int pe)
{
    long double value;
    pshmem_longdouble_get(&value, source, 1, pe);
    return value;
}

long double pshmem_ctx_longdouble_g(shmem_ctx_t ctx, const long double *source, int pe)
{
    long double value;
    pshmem_ctx_longdouble_get(ctx, &value, source, 1, pe);
    return value;
}

void pshmem_pcontrol(int level, ...)
{
    (void)level;
}

double pshmemx_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

WEAK_NAME(shmem_longdouble_p);
WEAK_NAME(shmem_ctx_longdouble_p);
WEAK_NAME(shmem_longdouble_g);
WEAK_NAME(shmem_ctx_longdouble_g);
WEAK_NAME(shmem_pcontrol);
WEAK_NAME(shmemx_wtime);

/* For the reductions: dest[i] = a[i] op b[i]. dest may be a or b. */
/* As hostwire::op::min: a NaN if one of them is, and -0 is less than +0. */
static long double lesser(long double a, long double b)
{
    if (a != a || a < b)
        return a;
    if (a == b)
        return __builtin_signbit(a) ? a : b;
    return b;
}

void hostwire_longdouble_reduce(int op, long double *dest, const long double *a,
                                const long double *b, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++) {
        switch (op) {
        case 0: dest[i] = lesser(a[i], b[i]); break;
        case 1: dest[i] = -lesser(-a[i], -b[i]); break;
        case 2: dest[i] = a[i] + b[i]; break;
        default: dest[i] = a[i] * b[i]; break;
        }
    }
}
