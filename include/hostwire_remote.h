/* Memory of other hosts as a program's own: see docs/borrowed-memory.md.
 *
 * A program that was started with `hostwire borrow` allocates here what is to lie in the memory of the
 * lenders. It is ordinary memory: pages come when they are touched. Link with -lhostwire_remote. */
#ifndef HOSTWIRE_REMOTE_H
#define HOSTWIRE_REMOTE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed memory, in whole pages. NULL, and errno says why: ENXIO if nothing is borrowed for this
 * program, ENOMEM if all of it is in use (or bytes is 0), EPERM if userfaultfd is refused, EIO. */
void *hostwire_remote_alloc(size_t bytes);

/* Gives memory back. NULL is nothing. */
void hostwire_remote_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
