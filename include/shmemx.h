/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Written by `cargo xtask headers` from fronts/shmem/table; change it there. */

/* What this library has beyond OpenSHMEM 1.6. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Extensions. */

/* shmemx_wtime(3): wall-clock time. */
SHMEM_FUNCTION_ATTRIBUTES double shmemx_wtime(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SHMEMX_H */
