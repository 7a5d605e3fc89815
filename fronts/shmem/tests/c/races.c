/* Labelled programs for the detector of races: puts, gets and atomics, contexts, fences and quiets. */
#include "races.h"

static long here[WORDS];

#define ORDERING "Memory Ordering Routines"
#define MODEL "Memory Model, Atomicity Guarantees"
#define COLLECTIVE "Collective Routines"
#define WAITING "Point-To-Point Synchronization Routines"

/* Puts and gets of different PEs. */

CASE(put_put, RACY, ORDERING, "puts of two PEs to the same bytes have no order")
{
    if (me < 2)
        shmem_putmem(m, here, 24, 2);
}

CASE(put_put_apart, CLEAN, ORDERING, "puts to different bytes do not meet")
{
    if (me < 2)
        shmem_putmem((char *)m + 3 * me, here, 3, 2);
}

CASE(put_put_one_byte, RACY, ORDERING, "puts meet in a single byte")
{
    if (me < 2)
        shmem_putmem((char *)m + 3 * me, here, 4, 2);
}

CASE(put_barrier_put, CLEAN, ORDERING, "a barrier completes puts of the default context")
{
    ON(0) shmem_putmem(m, here, 24, 2);
    shmem_barrier_all();
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(put_runs_ahead, RACY, ORDERING, "a barrier orders what is in front of it, not behind")
{
    ON(1) shmem_putmem(m, here, 24, 2);
    shmem_barrier_all();
    if (me < 2)
        shmem_putmem(&m[8], here, 24, 2);
}

CASE(put_sync_put, RACY, COLLECTIVE, "shmem_sync_all completes no put")
{
    ON(0) shmem_putmem(m, here, 24, 2);
    shmem_sync_all();
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(put_quiet_sync_put, CLEAN, ORDERING, "a quiet completes the put before the others are told")
{
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_quiet();
    }
    shmem_sync_all();
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(put_get, RACY, ORDERING, "a put and a get of different PEs have no order")
{
    ON(0) shmem_putmem(m, here, 24, 2);
    ON(1) shmem_getmem(here, m, 24, 2);
}

CASE(get_get, CLEAN, ORDERING, "reads do not conflict")
{
    if (me < 2)
        shmem_getmem(here, m, 24, 2);
}

CASE(get_sync_put, CLEAN, COLLECTIVE, "a get is over when it returns, so a sync is enough behind it")
{
    ON(0) shmem_getmem(here, m, 24, 2);
    shmem_sync_all();
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(source_and_put, RACY, ORDERING, "the source of a put is read while another PE writes it")
{
    ON(0) shmem_putmem(&m[8], m, 24, 1);
    ON(2) shmem_putmem(m, here, 24, 0);
}

CASE(destination_and_get, RACY, ORDERING, "the destination of a get is read by another PE")
{
    ON(0) shmem_getmem(m, &m[8], 24, 1);
    ON(2) shmem_getmem(here, m, 24, 0);
}

/* Of the same PE. */

CASE(put_put_same_pe, RACY, ORDERING, "puts of one PE to the same bytes need a fence between")
{
    ON(0) {
        shmem_putmem(m, here, 24, 1);
        shmem_putmem(m, &here[8], 24, 1);
    }
}

CASE(put_fence_put_same_pe, CLEAN, ORDERING, "a fence orders puts to the same PE")
{
    ON(0) {
        shmem_putmem(m, here, 24, 1);
        shmem_fence();
        shmem_putmem(m, &here[8], 24, 1);
    }
}

CASE(put_fence_get_same_pe, RACY, ORDERING, "a fence orders no get")
{
    ON(0) {
        shmem_putmem(m, &here[8], 24, 1);
        shmem_fence();
        shmem_getmem(here, m, 24, 1);
    }
}

CASE(put_quiet_get_same_pe, CLEAN, ORDERING, "a quiet completes a put, so a get sees it")
{
    ON(0) {
        shmem_putmem(m, &here[8], 24, 1);
        shmem_quiet();
        shmem_getmem(here, m, 24, 1);
    }
}

/* Contexts. */

CASE(fence_of_other_context, RACY, ORDERING, "a fence orders operations of its own context only")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    ON(0) {
        shmem_ctx_putmem(ctx, m, here, 24, 1);
        shmem_fence();
        shmem_ctx_putmem(ctx, m, &here[8], 24, 1);
    }
    shmem_ctx_destroy(ctx);
}

CASE(fence_of_context, CLEAN, ORDERING, "a fence of the context orders its puts")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    ON(0) {
        shmem_ctx_putmem(ctx, m, here, 24, 1);
        shmem_ctx_fence(ctx);
        shmem_ctx_putmem(ctx, m, &here[8], 24, 1);
    }
    shmem_ctx_destroy(ctx);
}

CASE(fence_between_contexts, RACY, ORDERING, "no fence orders operations of two contexts")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    ON(0) {
        shmem_ctx_putmem(ctx, m, here, 24, 1);
        shmem_ctx_fence(ctx);
        shmem_fence();
        shmem_putmem(m, &here[8], 24, 1);
    }
    shmem_ctx_destroy(ctx);
}

CASE(quiet_between_contexts, CLEAN, ORDERING, "a quiet of the first context completes its put")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    ON(0) {
        shmem_ctx_putmem(ctx, m, here, 24, 1);
        shmem_ctx_quiet(ctx);
        shmem_putmem(m, &here[8], 24, 1);
    }
    shmem_ctx_destroy(ctx);
}

CASE(barrier_and_context, RACY, COLLECTIVE, "a barrier completes the default context only")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    ON(0) shmem_ctx_putmem(ctx, m, here, 24, 2);
    shmem_barrier_all();
    ON(1) shmem_getmem(here, m, 24, 2);
    shmem_ctx_destroy(ctx);
}

CASE(destroyed_context, CLEAN, "Communication Management Routines",
     "a context is quiet when it is destroyed")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    ON(0) shmem_ctx_putmem(ctx, m, here, 24, 2);
    shmem_ctx_destroy(ctx);
    shmem_sync_all();
    ON(1) shmem_getmem(here, m, 24, 2);
}

CASE(freed_under_way, RACY, "Memory Management Routines",
     "shmem_free completes the default context only: the put may come too late")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    long *other = (long *)shmem_malloc(64);
    ON(0) shmem_ctx_putmem(ctx, other, here, 24, 2);
    shmem_free(other);
    shmem_ctx_destroy(ctx);
}

CASE(used_again, CLEAN, "Memory Management Routines",
     "shmem_free is a barrier, and so is shmem_malloc: a new block has no past")
{
    long *other = (long *)shmem_malloc(64);
    ON(0) shmem_putmem(other, here, 24, 2);
    shmem_free(other);
    other = (long *)shmem_malloc(64);
    ON(1) shmem_putmem(other, here, 24, 2);
    shmem_free(other);
}

CASE(quiet_of_a_pe, CLEAN, ORDERING, "shmem_pe_quiet completes what goes to its PEs")
{
    ON(0) {
        int target = 1;
        shmem_putmem(m, &here[8], 24, 1);
        shmem_pe_quiet(&target, 1);
        shmem_getmem(here, m, 24, 1);
    }
}

CASE(quiet_of_another_pe, RACY, ORDERING, "shmem_pe_quiet completes nothing that goes elsewhere")
{
    ON(0) {
        int target = 2;
        shmem_putmem(m, &here[8], 24, 1);
        shmem_pe_quiet(&target, 1);
        shmem_getmem(here, m, 24, 1);
    }
}

/* Non-blocking operations. */

CASE(nbi_source_reused, RACY, "Remote Memory Access Routines",
     "the source of a non-blocking put must not be written before a quiet")
{
    ON(0) {
        shmem_putmem_nbi(m, here, 24, 1);
        shmem_getmem(here, &m[8], 24, 1);
    }
}

CASE(nbi_source_read, CLEAN, "Remote Memory Access Routines",
     "the source of a non-blocking put may be read")
{
    ON(0) {
        shmem_putmem_nbi(m, here, 24, 1);
        shmem_putmem(m, here, 24, 2);
    }
}

CASE(nbi_source_after_quiet, CLEAN, ORDERING, "a quiet ends the use of a source")
{
    ON(0) {
        shmem_putmem_nbi(m, here, 24, 1);
        shmem_quiet();
        shmem_getmem(here, &m[8], 24, 1);
    }
}

CASE(nbi_source_after_fence, RACY, ORDERING, "a fence does not end the use of a source")
{
    ON(0) {
        shmem_putmem_nbi(m, here, 24, 1);
        shmem_fence();
        shmem_getmem(here, &m[8], 24, 1);
    }
}

CASE(nbi_destination_read, RACY, "Remote Memory Access Routines",
     "the destination of a non-blocking get must not be read before a quiet")
{
    ON(0) {
        shmem_getmem_nbi(here, m, 24, 1);
        shmem_putmem(&m[8], here, 24, 2);
    }
}

CASE(nbi_destination_after_quiet, CLEAN, ORDERING, "a quiet completes a non-blocking get")
{
    ON(0) {
        shmem_getmem_nbi(here, m, 24, 1);
        shmem_quiet();
        shmem_putmem(&m[8], here, 24, 2);
    }
}

CASE(nbi_get_fence_put_same_pe, RACY, ORDERING, "a fence orders no get in front of it")
{
    ON(0) {
        shmem_getmem_nbi(here, m, 24, 1);
        shmem_fence();
        shmem_putmem(m, &here[8], 24, 1);
    }
}

CASE(nbi_get_quiet_put_same_pe, CLEAN, ORDERING, "a quiet completes a get, so a put comes behind it")
{
    ON(0) {
        shmem_getmem_nbi(here, m, 24, 1);
        shmem_quiet();
        shmem_putmem(m, &here[8], 24, 1);
    }
}

CASE(nbi_get_sync_put, RACY, COLLECTIVE, "a sync completes no non-blocking get")
{
    ON(0) shmem_getmem_nbi(here, m, 24, 2);
    shmem_sync_all();
    ON(1) shmem_putmem(m, here, 24, 2);
}

/* Non-blocking atomics. */

CASE(nbi_atomic_put_same_pe, RACY, ORDERING, "the target of a non-blocking atomic is in use")
{
    ON(0) {
        shmem_long_atomic_fetch_add_nbi(here, m, 1, 1);
        shmem_putmem(m, &here[8], 24, 1);
    }
}

CASE(nbi_atomic_quiet_put_same_pe, CLEAN, ORDERING, "a quiet completes a non-blocking atomic")
{
    ON(0) {
        shmem_long_atomic_swap_nbi(here, m, 1, 1);
        shmem_quiet();
        shmem_putmem(m, &here[8], 24, 1);
    }
}

CASE(nbi_atomic_fence_put_same_pe, CLEAN, ORDERING, "a fence orders atomics, also non-blocking ones")
{
    ON(0) {
        shmem_long_atomic_fetch_inc_nbi(here, m, 1);
        shmem_fence();
        shmem_putmem(m, &here[8], 24, 1);
    }
}

CASE(nbi_atomic_fence_get_same_pe, RACY, ORDERING, "a fence orders no get behind a non-blocking atomic")
{
    ON(0) {
        shmem_long_atomic_compare_swap_nbi(here, m, 0, 1, 1);
        shmem_fence();
        shmem_getmem(&here[8], m, 24, 1);
    }
}

CASE(nbi_atomic_sync_put, RACY, COLLECTIVE, "a sync completes no non-blocking atomic")
{
    ON(0) shmem_ulong_atomic_fetch_xor_nbi((unsigned long *)here, (unsigned long *)m, 1, 2);
    shmem_sync_all();
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(nbi_fetch_sync_put, RACY, COLLECTIVE, "a sync completes no non-blocking fetch")
{
    ON(0) shmem_long_atomic_fetch_nbi(here, m, 2);
    shmem_sync_all();
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(nbi_atomic_pe_quiet_sync_put, CLEAN, ORDERING, "a quiet of one PE completes what goes there")
{
    int pe = 2;
    ON(0) {
        shmem_long_atomic_fetch_add_nbi(here, m, 1, pe);
        shmem_pe_quiet(&pe, 1);
    }
    shmem_sync_all();
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(nbi_atomic_destination, RACY, ORDERING, "the destination of a non-blocking atomic is in use")
{
    ON(0) {
        shmem_long_atomic_fetch_add_nbi(here, m, 1, 1);
        shmem_fence();
        shmem_putmem(&m[8], here, 8, 1);
    }
}

CASE(nbi_atomic_makes_known, CLEAN, WAITING,
     "a quiet behind a non-blocking atomic says what the value it fetched says")
{
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_quiet();
        shmem_long_atomic_set(&flag[1], 1, 2);
    }
    ON(1) {
        here[8] = 0;
        do {
            shmem_long_atomic_fetch_nbi(&here[8], &flag[1], 2);
            shmem_quiet();
        } while (here[8] == 0);
        shmem_getmem(here, m, 24, 2);
    }
}

/* Atomics. */

CASE(atomic_atomic, CLEAN, MODEL, "atomics of one type are atomic with each other")
{
    shmem_long_atomic_add(m, 1, 2);
    shmem_long_atomic_fetch_inc(m, 2);
}

CASE(atomic_of_other_size, RACY, MODEL, "atomics of different types are not")
{
    ON(0) shmem_long_atomic_add(m, 1, 2);
    ON(1) shmem_int_atomic_add((int *)m, 1, 2);
}

CASE(atomic_long_and_int64, CLEAN, MODEL, "long and int64_t are the same type here")
{
    ON(0) shmem_long_atomic_add(m, 1, 2);
    ON(1) shmem_int64_atomic_add((int64_t *)m, 1, 2);
}

CASE(atomic_and_put, RACY, MODEL, "an atomic is not atomic with a put")
{
    ON(0) shmem_long_atomic_add(m, 1, 2);
    ON(1) shmem_long_p(m, 1, 2);
}

CASE(atomic_and_get, RACY, MODEL, "an atomic is not atomic with a get")
{
    ON(0) shmem_long_atomic_inc(m, 2);
    ON(1) here[0] = shmem_long_g(m, 2);
}

CASE(atomic_read_and_get, CLEAN, MODEL, "an atomic that only reads does not conflict with a get")
{
    ON(0) here[0] = shmem_long_atomic_fetch(m, 2);
    ON(1) here[0] = shmem_long_g(m, 2);
}

CASE(atomic_of_other_domain, RACY, MODEL,
     "teams split from SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED have atomics of their own")
{
    shmem_ctx_t ctx;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx) == 0);
    int self = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    shmem_ctx_long_atomic_inc(ctx, m, self);
    shmem_ctx_destroy(ctx);
    shmem_long_atomic_inc(m, (me + 1) % 3);
}

CASE(atomic_makes_known, CLEAN, WAITING,
     "who fetches what an atomic left behind a quiet sees what came before that")
{
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_quiet();
        shmem_long_atomic_set(&flag[1], 1, 2);
    }
    ON(1) {
        while (shmem_long_atomic_fetch(&flag[1], 2) == 0)
            ;
        shmem_getmem(here, m, 24, 2);
    }
}

CASE(atomic_without_quiet, RACY, ORDERING, "an atomic does not complete the put in front of it")
{
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_long_atomic_set(&flag[1], 1, 2);
    }
    ON(1) {
        while (shmem_long_atomic_fetch(&flag[1], 2) == 0)
            ;
        shmem_getmem(here, m, 24, 2);
    }
}

CASE(counter_of_all, CLEAN, WAITING, "a counter that has come to two makes both known")
{
    if (me < 2) {
        shmem_putmem(&m[4 * me], here, 24, 2);
        shmem_fence();
        shmem_long_atomic_inc(&flag[1], 2);
    } else {
        shmem_long_wait_until(&flag[1], SHMEM_CMP_EQ, 2);
        shmem_putmem(m, m, 56, 1);
    }
}

CASE(counter_of_one, RACY, WAITING, "a counter that has come to one makes only one known")
{
    if (me < 2) {
        shmem_putmem(&m[4 * me], here, 24, 2);
        shmem_fence();
        shmem_long_atomic_inc(&flag[1], 2);
    } else {
        shmem_long_wait_until(&flag[1], SHMEM_CMP_GE, 1);
        shmem_putmem(m, m, 56, 1);
    }
}

/* Strides. */

CASE(strides_between, CLEAN, "Remote Memory Access Routines", "strided puts of two PEs do not meet")
{
    if (me < 2)
        shmem_int_iput((int *)m + me, (int *)here, 2, 1, 16, 2);
}

CASE(strides_meet, RACY, "Remote Memory Access Routines", "strided puts of two PEs meet")
{
    if (me < 2)
        shmem_int_iput((int *)m, (int *)here, 2 + me, 1, 16, 2);
}

CASE(blocks_between, CLEAN, "Remote Memory Access Routines", "blocks of two PEs do not meet")
{
    if (me < 2)
        shmem_long_ibput(&m[2 * me], here, 4, 2, 2, 6, 2);
}

CASE(strided_get, RACY, "Remote Memory Access Routines", "a strided get meets a put")
{
    ON(0) shmem_long_iget(here, m, 1, 3, 8, 2);
    ON(1) shmem_putmem(&m[6], here, 8, 2);
}
