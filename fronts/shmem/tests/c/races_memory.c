/* Labelled programs for the detector of races: the program's own loads and stores against
 * operations. For `oshcc --race`. C and C++. */
#include "races.h"

#define ORDERING "Memory Ordering Routines"
#define MODEL "Memory Model"
#define RMA "Remote Memory Access Routines"
#define SIGNALING "Signaling Operations"
#define COLLECTIVE "Collective Routines"
#define WAITING "Point-To-Point Synchronization Routines"

/* Not symmetric. Allocated, so that it is far from the stack and not in registers. */
#define PRIVATE(name) long *name = (long *)malloc(WORDS * sizeof(long))
/* Without a use of their values, the compiler would remove loads. */
static volatile long sink;

CASE(load_and_put, RACY, MODEL, "a load and a put of another PE have no order")
{
    ON(0) shmem_putmem(m, &m[8], 24, 1);
    ON(1) sink = m[1];
}

CASE(store_and_put, RACY, MODEL, "a store and a put of another PE have no order")
{
    ON(0) shmem_putmem(m, &m[8], 24, 1);
    ON(1) m[1] = 1;
}

CASE(store_and_get, RACY, MODEL, "a store and a get of another PE have no order")
{
    ON(0) shmem_getmem(&m[8], m, 24, 1);
    ON(1) m[1] = 1;
}

CASE(load_and_get, CLEAN, MODEL, "reads do not conflict")
{
    ON(0) shmem_getmem(&m[8], m, 24, 1);
    ON(1) sink = m[1];
}

CASE(store_beside_put, CLEAN, MODEL, "bytes of one word are apart")
{
    ON(0) shmem_putmem(m, &m[8], 3, 1);
    ON(1)((char *)m)[3] = 1;
}

CASE(load_and_atomic, RACY, MODEL, "a load is not atomic with an atomic")
{
    ON(0) shmem_long_atomic_add(m, 1, 1);
    ON(1) sink = m[0];
}

CASE(load_and_atomic_read, CLEAN, MODEL, "a load does not conflict with an atomic that reads")
{
    ON(0) sink = shmem_long_atomic_fetch(m, 1);
    ON(1) sink = m[0];
}

CASE(store_and_signal, RACY, SIGNALING, "a store is not atomic with a signal")
{
    ON(0) shmem_signal_set(SHMEM_CTX_DEFAULT, sig, 1, 1);
    ON(1) sig[0] = 0;
}

CASE(put_barrier_load, CLEAN, ORDERING, "a barrier completes the put")
{
    ON(0) shmem_putmem(m, &m[8], 24, 1);
    shmem_barrier_all();
    ON(1) sink = m[1];
}

CASE(put_sync_load, RACY, COLLECTIVE, "a sync does not complete the put")
{
    ON(0) shmem_putmem(m, &m[8], 24, 1);
    shmem_sync_all();
    ON(1) sink = m[1];
}

CASE(store_sync_get, CLEAN, COLLECTIVE, "a sync makes stores visible")
{
    ON(0) m[1] = 1;
    shmem_sync_all();
    ON(1) shmem_getmem(&m[8], m, 24, 0);
}

CASE(load_sync_put, CLEAN, COLLECTIVE, "a load is over before a sync")
{
    ON(1) sink = m[1];
    shmem_sync_all();
    ON(0) shmem_putmem(m, &m[8], 24, 1);
}

CASE(barrier_then_load_and_put, RACY, MODEL, "a barrier in front orders nothing behind it")
{
    ON(1) sink = m[1];
    shmem_barrier_all();
    ON(0) shmem_putmem(m, &m[8], 24, 1);
    ON(1) sink = m[2];
}

CASE(flag_then_load, CLEAN, WAITING, "a flag behind a fence says that the data is there")
{
    ON(0) {
        shmem_putmem(m, &m[8], 24, 1);
        shmem_fence();
        TELL(1);
    }
    ON(1) {
        TOLD();
        sink = m[1] + flag[0];
    }
}

CASE(flag_too_early, RACY, WAITING, "a flag without a fence does not")
{
    ON(0) {
        shmem_putmem(m, &m[8], 24, 1);
        TELL(1);
    }
    ON(1) {
        TOLD();
        sink = m[1];
    }
}

CASE(load_before_wait, RACY, WAITING, "what is loaded in front of the wait is not protected by it")
{
    ON(0) {
        shmem_putmem(m, &m[8], 24, 1);
        shmem_fence();
        TELL(1);
    }
    ON(1) {
        sink = m[1];
        TOLD();
    }
}

CASE(flag_polled, CLEAN, WAITING, "a volatile load that polls a flag is let pass, and orders")
{
    ON(0) {
        shmem_putmem(m, &m[8], 24, 1);
        shmem_fence();
        TELL(1);
    }
    ON(1) {
        while (*(volatile long *)flag == 0)
            shmem_quiet();
        sink = m[1];
    }
}

CASE(flag_in_turns, CLEAN, WAITING, "a flag that is reset before its writer is told may be set again")
{
    for (int round = 0; round < 3; round++) {
        ON(0) {
            shmem_putmem(m, &m[8], 24, 1);
            shmem_quiet();
            TELL(1);
            TOLD();
            flag[0] = 0;
        }
        ON(1) {
            TOLD();
            flag[0] = 0;
            sink = m[1];
            shmem_quiet();
            TELL(0);
        }
    }
}

CASE(store_then_flag, RACY, ORDERING, "a flag does not complete a store in front of it")
{
    ON(0) {
        m[1] = 1;
        TELL(1);
    }
    ON(1) {
        TOLD();
        shmem_getmem(&m[8], m, 24, 0);
    }
}

CASE(store_quiet_flag, CLEAN, ORDERING, "a quiet completes stores")
{
    ON(0) {
        m[1] = 1;
        shmem_quiet();
        TELL(1);
    }
    ON(1) {
        TOLD();
        shmem_getmem(&m[8], m, 24, 0);
    }
}

CASE(store_quiet_without_stores, RACY, "Communication Management Routines",
     "a quiet of a context made with SHMEM_CTX_NOSTORE completes no store")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(SHMEM_CTX_NOSTORE, &ctx) == 0);
    ON(0) {
        m[1] = 1;
        shmem_ctx_quiet(ctx);
        TELL(1);
    }
    ON(1) {
        TOLD();
        shmem_getmem(&m[8], m, 24, 0);
    }
    shmem_ctx_destroy(ctx);
}

CASE(signal_then_load, CLEAN, SIGNALING, "a signal says that its data is there")
{
    ON(0) shmem_putmem_signal(m, &m[8], 24, sig, 1, SHMEM_SIGNAL_SET, 1);
    ON(1) {
        shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 1);
        sink = m[1];
    }
}

CASE(put_to_oneself, RACY, ORDERING, "a put to the own PE is under way until a quiet")
{
    shmem_putmem(m, &m[8], 24, me);
    sink = m[1];
}

CASE(put_to_oneself_quiet, CLEAN, ORDERING, "a quiet completes a put to the own PE")
{
    shmem_putmem(m, &m[8], 24, me);
    shmem_quiet();
    sink = m[1];
}

/* Buffers of operations. */

CASE(source_after_put, CLEAN, RMA, "the source of a blocking put is free when it returns")
{
    ON(0) {
        shmem_putmem(m, &m[8], 24, 1);
        m[8] = 1;
    }
}

CASE(nbi_source_stored, RACY, RMA, "the source of a non-blocking put must not be stored to")
{
    ON(0) {
        shmem_putmem_nbi(m, &m[8], 24, 1);
        m[8] = 1;
        shmem_quiet();
    }
}

CASE(nbi_source_loaded, CLEAN, RMA, "the source of a non-blocking put may be loaded")
{
    ON(0) {
        shmem_putmem_nbi(m, &m[8], 24, 1);
        sink = m[8];
        shmem_quiet();
        m[8] = 1;
    }
}

CASE(nbi_private_source, RACY, RMA, "also if it is not symmetric")
{
    PRIVATE(mine);
    ON(0) {
        mine[1] = 1;
        shmem_putmem_nbi(m, mine, 24, 1);
        mine[1] = 2;
        shmem_quiet();
    }
    free(mine);
}

CASE(nbi_private_source_quiet, CLEAN, RMA, "a quiet ends its use")
{
    PRIVATE(mine);
    ON(0) {
        mine[1] = 1;
        shmem_putmem_nbi(m, mine, 24, 1);
        mine[3] = 2;
        shmem_quiet();
        mine[1] = 2;
    }
    free(mine);
}

CASE(nbi_private_source_set, RACY, RMA, "memset is a store, too")
{
    PRIVATE(mine);
    ON(0) {
        shmem_putmem_nbi(m, mine, 24, 1);
        memset(mine, 0, 8);
        shmem_quiet();
    }
    free(mine);
}

CASE(nbi_source_other_quiet, RACY, RMA, "a quiet of another context does not end its use")
{
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    PRIVATE(mine);
    ON(0) {
        shmem_ctx_putmem_nbi(ctx, m, mine, 24, 1);
        shmem_quiet();
        mine[0] = 1;
    }
    shmem_ctx_destroy(ctx);
    free(mine);
}

CASE(nbi_destination_loaded, RACY, RMA, "the destination of a non-blocking get must not be loaded")
{
    PRIVATE(mine);
    ON(0) {
        shmem_getmem_nbi(mine, m, 24, 1);
        sink = mine[1];
        shmem_quiet();
    }
    free(mine);
}

CASE(nbi_destination_quiet, CLEAN, RMA, "a quiet completes a non-blocking get")
{
    PRIVATE(mine);
    ON(0) {
        shmem_getmem_nbi(mine, m, 24, 1);
        shmem_quiet();
        sink = mine[1];
    }
    free(mine);
}

CASE(nbi_fetch_loaded, RACY, "Atomic Memory Operations",
     "what a non-blocking atomic fetches is there behind a quiet")
{
    PRIVATE(mine);
    ON(0) {
        shmem_long_atomic_fetch_add_nbi(mine, m, 1, 1);
        sink = mine[0];
        shmem_quiet();
    }
    free(mine);
}

CASE(get_destination_loaded, CLEAN, RMA, "the destination of a blocking get is there on return")
{
    ON(0) {
        shmem_getmem(&m[8], m, 24, 1);
        sink = m[8];
    }
}

CASE(copied_and_put, RACY, MODEL, "memcpy loads and stores")
{
    ON(0) shmem_putmem(m, &m[8], 24, 1);
    ON(1) memcpy(&m[16], m, 24);
}

/* Collective operations. */

CASE(broadcast_then_load, CLEAN, COLLECTIVE, "the destination may be used on return")
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, m, &m[8], 4, 0);
    sink = m[1];
}

CASE(broadcast_into_use, RACY, COLLECTIVE, "the destination has to be ready at all PEs before")
{
    ON(1) sink = m[1];
    shmem_long_broadcast(SHMEM_TEAM_WORLD, m, &m[8], 4, 0);
}

CASE(broadcast_into_ready, CLEAN, COLLECTIVE, "a sync is enough where nothing is under way")
{
    ON(1) sink = m[1];
    shmem_sync_all();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, m, &m[8], 4, 0);
}

CASE(reduction_source_stored, CLEAN, COLLECTIVE, "the source may be changed on return")
{
    m[8] = me;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, m, &m[8], 1);
    m[8] = 0;
    sink = m[0];
}

CASE(reduction_in_a_row, RACY, COLLECTIVE, "the result is used while another PE begins the next")
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, m, &m[8], 1);
    sink = m[0];
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, m, &m[8], 1);
}

CASE(reduction_after_sync, CLEAN, COLLECTIVE, "a sync between makes the destination ready again")
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, m, &m[8], 1);
    sink = m[0];
    shmem_sync_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, m, &m[8], 1);
}

/* Locks. */

CASE(locked_loads, CLEAN, "Distributed Locking Routines", "who has the lock is alone")
{
    shmem_set_lock(lock_word);
    ON(1) m[0]++;
    else shmem_long_p(m, shmem_long_g(m, 1) + 1, 1);
    shmem_clear_lock(lock_word);
}

CASE(loads_without_lock, RACY, "Distributed Locking Routines", "a load without the lock")
{
    ON(1) sink = m[0];
    else {
        shmem_set_lock(lock_word);
        shmem_long_p(m, 1, 1);
        shmem_clear_lock(lock_word);
    }
}

/* Through shmem_ptr. */

CASE(stores_by_pointer, RACY, MODEL, "two PEs store to one word, one of them through shmem_ptr")
{
    long *theirs = (long *)shmem_ptr(m, 1);
    ON(0) {
        if (theirs)
            theirs[0] = 1;
        else /* No store is possible there: make another race. */
            shmem_long_p(m, 1, 1);
    }
    ON(1) m[0] = 2;
}

CASE(stores_by_pointer_sync, CLEAN, MODEL, "a sync orders stores through shmem_ptr")
{
    long *theirs = (long *)shmem_ptr(m, 1);
    ON(0) if (theirs) theirs[0] = 1;
    shmem_sync_all();
    ON(1) m[0] = 2;
}

CASE(flag_by_pointer, CLEAN, WAITING, "a flag that is stored through shmem_ptr is one, too")
{
    long *theirs = (long *)shmem_ptr(flag, 1);
    ON(0) {
        shmem_putmem(m, &m[8], 24, 1);
        shmem_quiet();
        if (theirs)
            theirs[0] = 1;
        else
            TELL(1);
    }
    ON(1) {
        TOLD();
        sink = m[1];
    }
}

CASE(sizes_of_loads, RACY, MODEL, "a byte of a larger put")
{
    ON(0) shmem_putmem(m, &m[8], 24, 1);
    ON(1) sink = ((volatile unsigned char *)m)[23] + ((short *)m)[9];
}
