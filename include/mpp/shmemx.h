/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Written by `cargo xtask headers` from fronts/shmem/table; change it there. */
/* The deprecated place of shmemx.h. */
#include "../shmemx.h"
