/* Labelled programs for the detector of races: flags, signals, locks and collective operations,
 * with which PEs order their operations. */
#include "races.h"

static long here[WORDS];

#define ORDERING "Memory Ordering Routines"
#define SIGNALING "Signaling Operations"
#define COLLECTIVE "Collective Routines"
#define WAITING "Point-To-Point Synchronization Routines"

/* Put data to PE 1 and tell it so. */
static void put_and_tell(void)
{
    shmem_putmem(m, here, 24, 1);
    shmem_fence();
    TELL(1);
}

/* Put data to PE 2, where each PE has a place and a flag of its own. */
static void put_and_flag(void)
{
    shmem_putmem(&m[4 * me], here, 24, 2);
    shmem_fence();
    shmem_long_p(&flag[me], 1, 2);
}

/* Flags, waits and tests. */

CASE(flag_behind_fence, CLEAN, WAITING, "a flag behind a fence says that the data is there")
{
    ON(0) put_and_tell();
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
    ON(0) put_and_tell();
    ON(1) {
        while (!shmem_long_test(&flag[0], SHMEM_CMP_NE, 0))
            ;
        shmem_putmem(&m[8], m, 24, 2);
    }
}

CASE(all_of_some, CLEAN, WAITING, "shmem_wait_until_all learns from all elements")
{
    if (me < 2) {
        put_and_flag();
    } else {
        shmem_long_wait_until_all(flag, 2, NULL, SHMEM_CMP_EQ, 1);
        shmem_putmem(m, m, 56, 1);
    }
}

CASE(any_of_some, RACY, WAITING, "shmem_wait_until_any learns from one element")
{
    if (me < 2) {
        put_and_flag();
    } else {
        shmem_long_wait_until_any(flag, 2, NULL, SHMEM_CMP_EQ, 1);
        shmem_putmem(m, m, 56, 1);
    }
}

CASE(any_of_some_by_index, CLEAN, WAITING, "the element that was found says whose data is there")
{
    if (me < 2) {
        put_and_flag();
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

/* PE 0 puts to PE 2, PEs 0 and 1 meet as a team, and PE `second` puts to the same place. */
static void put_around_team_sync(int second)
{
    shmem_team_t team;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team) == 0);
    ON(0) {
        shmem_putmem(m, here, 24, 2);
        shmem_quiet();
    }
    shmem_team_sync(team);
    ON(second) shmem_putmem(m, here, 24, 2);
    shmem_team_destroy(team);
}

CASE(team_sync, CLEAN, COLLECTIVE, "members of a team meet")
{
    put_around_team_sync(1);
}

CASE(team_sync_without_it, RACY, COLLECTIVE, "who is not in the team does not meet")
{
    put_around_team_sync(2);
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
