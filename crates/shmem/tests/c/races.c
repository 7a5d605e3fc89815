/* Labelled programs for the detector of races: what routines of the library do to each other. */
#include "races.h"

static long here[WORDS];

#define ORDERING "Memory Ordering Routines"
#define MODEL "Memory Model, Atomicity Guarantees"
#define SIGNALING "Signaling Operations"
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

CASE(nbi_get_sync_put, RACY, COLLECTIVE, "a sync completes no non-blocking get")
{
    ON(0) shmem_getmem_nbi(here, m, 24, 2);
    shmem_sync_all();
    ON(1) shmem_putmem(m, here, 24, 2);
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

/* Flags, waits and tests. */

CASE(flag_behind_fence, CLEAN, WAITING, "a flag behind a fence says that the data is there")
{
    ON(0) {
        shmem_putmem(m, here, 24, 1);
        shmem_fence();
        TELL(1);
    }
    ON(1) {
        TOLD();
        shmem_putmem(&m[8], m, 24, 2);
    }
}

CASE(flag_without_fence, RACY, ORDERING, "a flag may overtake data that no fence is behind")
{
    ON(0) {
        shmem_putmem(m, here, 24, 1);
        TELL(1);
    }
    ON(1) {
        TOLD();
        shmem_putmem(&m[8], m, 24, 2);
    }
}

CASE(flag_elsewhere, RACY, ORDERING, "a fence orders what goes to one PE, not what goes to two")
{
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_fence();
        TELL(1);
    }
    ON(1) {
        TOLD();
        shmem_getmem(here, m, 24, 2);
    }
}

CASE(flag_handed_on, CLEAN, WAITING, "what was learned is handed on")
{
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_quiet();
        TELL(1);
    }
    ON(1) {
        TOLD();
        TELL(2);
    }
    ON(2) {
        TOLD();
        shmem_putmem(&m[8], m, 24, 0);
    }
}

CASE(tested, CLEAN, WAITING, "a test that holds is as good as a wait")
{
    ON(0) {
        shmem_putmem(m, here, 24, 1);
        shmem_fence();
        TELL(1);
    }
    ON(1) {
        while (!shmem_long_test(&flag[0], SHMEM_CMP_NE, 0))
            ;
        shmem_putmem(&m[8], m, 24, 2);
    }
}

CASE(all_of_some, CLEAN, WAITING, "shmem_wait_until_all learns from all elements")
{
    if (me < 2) {
        shmem_putmem(&m[4 * me], here, 24, 2);
        shmem_fence();
        shmem_long_p(&flag[me], 1, 2);
    } else {
        shmem_long_wait_until_all(flag, 2, NULL, SHMEM_CMP_EQ, 1);
        shmem_putmem(m, m, 56, 1);
    }
}

CASE(any_of_some, RACY, WAITING, "shmem_wait_until_any learns from one element")
{
    if (me < 2) {
        shmem_putmem(&m[4 * me], here, 24, 2);
        shmem_fence();
        shmem_long_p(&flag[me], 1, 2);
    } else {
        shmem_long_wait_until_any(flag, 2, NULL, SHMEM_CMP_EQ, 1);
        shmem_putmem(m, m, 56, 1);
    }
}

CASE(any_of_some_by_index, CLEAN, WAITING, "the element that was found says whose data is there")
{
    if (me < 2) {
        shmem_putmem(&m[4 * me], here, 24, 2);
        shmem_fence();
        shmem_long_p(&flag[me], 1, 2);
    } else {
        size_t found = shmem_long_wait_until_any(flag, 2, NULL, SHMEM_CMP_EQ, 1);
        shmem_putmem(&m[4 * found], &m[4 * found], 24, 1);
    }
}

CASE(some_by_vector, CLEAN, WAITING, "shmem_wait_until_some_vector learns from what it returns")
{
    if (me < 2) {
        shmem_putmem(&m[4 * me], here, 24, 2);
        shmem_fence();
        shmem_long_p(&flag[me], me + 1, 2);
    } else {
        long values[2] = {1, 2};
        size_t found[2];
        size_t n = shmem_long_wait_until_some_vector(flag, 2, found, NULL, SHMEM_CMP_EQ, values);
        for (size_t i = 0; i < n; i++)
            shmem_putmem(&m[4 * found[i]], &m[4 * found[i]], 24, 1);
    }
}

/* Signals. */

CASE(put_signal, CLEAN, SIGNALING, "a signal says that its data is there")
{
    ON(0) shmem_putmem_signal(m, here, 24, sig, 1, SHMEM_SIGNAL_SET, 1);
    ON(1) {
        shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 1);
        shmem_putmem(&m[8], m, 24, 2);
    }
}

CASE(put_before_put_signal, RACY, SIGNALING, "a signal says nothing of puts in front of its own")
{
    ON(0) {
        shmem_putmem(&m[4], here, 24, 1);
        shmem_putmem_signal(m, here, 24, sig, 1, SHMEM_SIGNAL_SET, 1);
    }
    ON(1) {
        shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 1);
        shmem_putmem(&m[8], &m[4], 24, 2);
    }
}

CASE(put_signals_in_a_row, CLEAN, SIGNALING, "each signal says so of its own data")
{
    ON(0) for (int i = 0; i < 4; i++)
        shmem_putmem_signal(&m[4 * i], here, 24, sig, 1, SHMEM_SIGNAL_ADD, 1);
    ON(1) {
        shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 4);
        shmem_putmem(&m[32], m, 120, 2);
    }
}

CASE(signal_fetched, CLEAN, SIGNALING, "who fetches a signal sees what it says")
{
    ON(0) shmem_putmem_signal_nbi(m, here, 24, sig, 1, SHMEM_SIGNAL_SET, 1);
    ON(1) {
        while (shmem_signal_fetch(sig) == 0)
            ;
        shmem_putmem(&m[8], m, 24, 2);
    }
}

CASE(signal_nbi_source, RACY, SIGNALING, "the source of a non-blocking put with signal is in use")
{
    ON(0) {
        shmem_putmem_signal_nbi(m, here, 24, sig, 1, SHMEM_SIGNAL_SET, 1);
        shmem_getmem(here, &m[8], 24, 2);
    }
}

CASE(signal_set_and_add, RACY, SIGNALING, "setting and adding are not atomic with each other")
{
    ON(0) shmem_signal_set(SHMEM_CTX_DEFAULT, sig, 1, 2);
    ON(1) shmem_signal_add(SHMEM_CTX_DEFAULT, sig, 1, 2);
}

CASE(signal_add_and_add, CLEAN, SIGNALING, "signals of the same operation are atomic")
{
    shmem_signal_add(SHMEM_CTX_DEFAULT, sig, 1, 2);
    ON(2) shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 3);
}

CASE(signal_and_atomic, RACY, SIGNALING, "a signal is not atomic with an atomic")
{
    ON(0) shmem_signal_add(SHMEM_CTX_DEFAULT, sig, 1, 2);
    ON(1) shmem_uint64_atomic_add(sig, 1, 2);
}

/* Locks. */

CASE(locked, CLEAN, "Distributed Locking Routines", "shmem_clear_lock completes what was done")
{
    shmem_set_lock(lock_word);
    shmem_putmem(m, here, 24, 2);
    shmem_clear_lock(lock_word);
}

CASE(locked_on_context, RACY, "Distributed Locking Routines",
     "shmem_clear_lock completes the default context only")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    shmem_set_lock(lock_word);
    shmem_ctx_putmem(ctx, m, here, 24, 2);
    shmem_clear_lock(lock_word);
    shmem_ctx_destroy(ctx);
}

CASE(lock_of_another, RACY, "Distributed Locking Routines", "two locks protect nothing together")
{
    shmem_set_lock(&lock_word[me]);
    shmem_putmem(m, here, 24, 2);
    shmem_clear_lock(&lock_word[me]);
}

CASE(lock_word_written, RACY, "Distributed Locking Routines",
     "the word of a lock belongs to the library")
{
    ON(0) {
        while (shmem_test_lock(lock_word))
            ;
        shmem_clear_lock(lock_word);
    }
    ON(1) here[0] = shmem_long_g(lock_word, 0);
}

/* Collective operations. */

CASE(broadcast_makes_known, CLEAN, COLLECTIVE, "who gets data of a broadcast knows what was before")
{
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_quiet();
    }
    shmem_long_broadcast(SHMEM_TEAM_WORLD, &m[8], &m[16], 4, 0);
    ON(1) shmem_getmem(here, m, 24, 2);
}

CASE(broadcast_tells_the_root_nothing, RACY, COLLECTIVE,
     "the root of a broadcast learns nothing of the others")
{
    ON(1) shmem_getmem(here, m, 24, 2);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, &m[8], &m[16], 4, 0);
    ON(0) shmem_putmem(m, here, 24, 2);
}

CASE(broadcast_tells_no_third, RACY, COLLECTIVE, "those who get a broadcast learn nothing of each other")
{
    ON(1) shmem_getmem(here, m, 24, 0);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, &m[8], &m[16], 4, 0);
    ON(2) shmem_putmem(m, here, 24, 0);
}

CASE(reduction_makes_known, CLEAN, COLLECTIVE, "a reduction has data of all for all")
{
    ON(1) shmem_getmem(here, m, 24, 2);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &m[8], &m[16], 4);
    ON(0) shmem_putmem(m, here, 24, 2);
}

CASE(reduction_completes_nothing, RACY, COLLECTIVE, "a reduction completes no put")
{
    ON(0) shmem_putmem(m, here, 24, 2);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &m[8], &m[16], 4);
    ON(1) shmem_getmem(here, m, 24, 2);
}

CASE(empty_reduction, RACY, COLLECTIVE, "a reduction of nothing has no data of anybody")
{
    ON(1) shmem_getmem(here, m, 24, 2);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &m[8], &m[16], 0);
    ON(0) shmem_putmem(m, here, 24, 2);
}

CASE(scan_goes_up, CLEAN, COLLECTIVE, "data of a scan flows to higher ranks")
{
    ON(0) shmem_getmem(here, m, 24, 2);
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, &m[8], &m[16], 4);
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(scan_goes_not_down, RACY, COLLECTIVE, "no data of a scan flows to lower ranks")
{
    ON(1) shmem_getmem(here, m, 24, 2);
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, &m[8], &m[16], 4);
    ON(0) shmem_putmem(m, here, 24, 2);
}

CASE(collected_destination, RACY, COLLECTIVE,
     "the destination has to be ready at all PEs before any of them calls")
{
    ON(1) shmem_getmem(here, &m[8], 24, 2);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, &m[8], &m[32], 4);
}

CASE(collected_destination_ready, CLEAN, COLLECTIVE, "a barrier makes the destination ready")
{
    ON(1) shmem_getmem(here, &m[8], 24, 2);
    shmem_barrier_all();
    shmem_long_fcollect(SHMEM_TEAM_WORLD, &m[8], &m[32], 4);
}

CASE(exchanged_and_put, RACY, COLLECTIVE,
     "the return from an all-to-all says nothing of the destinations of others")
{
    shmem_long_alltoall(SHMEM_TEAM_WORLD, &m[8], &m[32], 4);
    ON(0) shmem_putmem(&m[8], here, 96, 1);
}

CASE(exchanged_and_used, CLEAN, COLLECTIVE, "the own destination may be used on return")
{
    shmem_long_alltoall(SHMEM_TEAM_WORLD, &m[8], &m[32], 4);
    shmem_putmem(&m[60], &m[8], 24, me);
}

CASE(exchanged_with_strides, CLEAN, COLLECTIVE, "strided exchanges leave alone what is between")
{
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, &m[8], &m[32], 2, 2, 3);
    ON(0) shmem_long_iput(&m[9], here, 2, 1, 8, 1);
}

CASE(team_sync, CLEAN, COLLECTIVE, "members of a team meet")
{
    shmem_team_t team;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team) == 0);
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_quiet();
    }
    shmem_team_sync(team);
    ON(1) shmem_putmem(m, here, 24, 2);
    shmem_team_destroy(team);
}

CASE(team_sync_without_it, RACY, COLLECTIVE, "who is not in the team does not meet")
{
    shmem_team_t team;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team) == 0);
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_quiet();
    }
    shmem_team_sync(team);
    ON(2) shmem_putmem(m, here, 24, 2);
    shmem_team_destroy(team);
}

CASE(active_set_barrier, CLEAN, COLLECTIVE, "a barrier of an active set completes puts")
{
    static long psync[SHMEM_BARRIER_SYNC_SIZE];
    ON(0) shmem_putmem(m, here, 24, 2);
    if (me < 2)
        shmem_barrier(0, 0, 2, psync);
    ON(1) shmem_putmem(m, here, 24, 2);
}

CASE(active_set_broadcast, RACY, COLLECTIVE, "the old broadcast makes nothing known to its root")
{
    static long psync[SHMEM_BCAST_SYNC_SIZE];
    ON(1) shmem_getmem(here, m, 24, 2);
    shmem_broadcast64(&m[8], &m[16], 4, 0, 0, 0, 3, psync);
    ON(0) shmem_putmem(m, here, 24, 2);
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
