/* Single operations, done by calls. `stride` is the distance from one PE's memory to the next,
 * which a library would have to look up. */
#ifndef CALLS_H
#define CALLS_H

#include <stddef.h>

void call_put64(long stride, void *dest, const void *source, size_t nelems, int pe);
void call_putmem(long stride, void *dest, const void *source, size_t nelems, int pe);
long call_g(long stride, const long *source, int pe);
long call_fetch_add(long stride, long *dest, long value, int pe);
long call_compare_swap(long stride, long *dest, long cond, long value, int pe);

#endif
