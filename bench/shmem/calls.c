/* See calls.h. No checks, one address: the least that a library can do. */
#include "calls.h"
#include <stdatomic.h>
#include <string.h>

#define AT(type, address) ((type)((char *)(address) + stride * pe))

void call_put64(long stride, void *dest, const void *source, size_t nelems, int pe)
{
    if (nelems == 1)
        atomic_store_explicit(AT(_Atomic long *, dest), *(const long *)source,
                              memory_order_relaxed);
    else
        memcpy(AT(char *, dest), source, nelems * 8);
}

void call_putmem(long stride, void *dest, const void *source, size_t nelems, int pe)
{
    if (nelems == 64)
        memcpy(AT(char *, dest), source, 64);
    else
        memcpy(AT(char *, dest), source, nelems);
}

long call_g(long stride, const long *source, int pe)
{
    return atomic_load_explicit(AT(_Atomic long *, source), memory_order_relaxed);
}

long call_fetch_add(long stride, long *dest, long value, int pe)
{
    return atomic_fetch_add(AT(_Atomic long *, dest), value);
}

long call_compare_swap(long stride, long *dest, long cond, long value, int pe)
{
    atomic_compare_exchange_strong(AT(_Atomic long *, dest), &cond, value);
    return cond;
}
