/* The functions that the compiler calls in a program that `oshcc --race` compiles: before each load and
 * store, and in place of each atomic, as for ThreadSanitizer. An access that can matter goes on to the
 * library; most cannot, and end here.
 *
 * The names are those of GCC (gcc/sanitizer.def) and Clang (ThreadSanitizer.cpp). */
#include <sched.h>

#include "race.h"

#define PC __builtin_return_address(0)
#define HOOK __attribute__((visibility("hidden"))) void

static inline __attribute__((always_inline)) void seen(const void *address, size_t len, int how,
                                                       const void *pc)
{
    if (!shmemx_race_1.is_on)
        return;
    uintptr_t at = (uintptr_t)address;
    for (int i = 0; i < 3; i++) {
        uintptr_t first = shmemx_race_1.ranges[i][0];
        if (at - first < shmemx_race_1.ranges[i][1] - first) {
            shmemx_race_access_1(address, len, how, pc);
            return;
        }
    }
    /* Private memory matters while an operation uses it as a buffer. */
    if (shmemx_race_1.open)
        shmemx_race_access_1(address, len, how, pc);
}

/* Runs before main, for each file that was compiled so. */
HOOK __tsan_init(void) { shmemx_race_1.is_instrumented = 1; }
HOOK __tsan_func_entry(void *pc) { (void)pc; }
HOOK __tsan_func_exit(void) {}
HOOK __tsan_ignore_thread_begin(void) {}
HOOK __tsan_ignore_thread_end(void) {}
HOOK __tsan_vptr_update(void **at, void *value)
{
    if (*at != value)
        seen(at, sizeof *at, STORE, PC);
}
HOOK __tsan_vptr_read(void **at) { seen(at, sizeof *at, LOAD, PC); }
HOOK __tsan_read_range(void *at, size_t len) { seen(at, len, LOAD, PC); }
HOOK __tsan_write_range(void *at, size_t len) { seen(at, len, STORE, PC); }

#define SIZE(n) \
    HOOK __tsan_read##n(void *at) { seen(at, n, LOAD, PC); } \
    HOOK __tsan_write##n(void *at) { seen(at, n, STORE, PC); } \
    HOOK __tsan_read_write##n(void *at) { seen(at, n, STORE, PC); } \
    HOOK __tsan_unaligned_read##n(void *at) { seen(at, n, LOAD, PC); } \
    HOOK __tsan_unaligned_write##n(void *at) { seen(at, n, STORE, PC); } \
    HOOK __tsan_unaligned_read_write##n(void *at) { seen(at, n, STORE, PC); } \
    HOOK __tsan_volatile_read##n(void *at) { seen(at, n, LOOK, PC); } \
    HOOK __tsan_volatile_write##n(void *at) { seen(at, n, STORE, PC); } \
    HOOK __tsan_unaligned_volatile_read##n(void *at) { seen(at, n, LOOK, PC); } \
    HOOK __tsan_unaligned_volatile_write##n(void *at) { seen(at, n, STORE, PC); }
SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)

/* Atomics of the language are done here, since the compiler leaves them to these functions: in the
 * strongest order, which satisfies every other. A program may wait for a value that is read. */
#define ORDER __ATOMIC_SEQ_CST
#define HIDDEN(type) __attribute__((visibility("hidden"))) type

/* The detector has to see atomics in the order in which threads do them. So atomics on addresses that
 * may be the same are done one at a time. */
enum { READS = 1, WRITES = 2 };
static volatile char busy[64];
/* A signal handler may come in between. */
static __thread int atomics;

static volatile char *begin(const volatile void *at)
{
    if (!shmemx_race_1.is_on || !shmemx_race_1.threads || atomics++ > 0)
        return NULL;
    volatile char *lock = &busy[(uintptr_t)at / 16 % sizeof busy];
    while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE))
        sched_yield();
    return lock;
}
static void end(const volatile void *at, volatile char *lock, int how, int order)
{
    if (!lock) {
        atomics -= atomics > 0;
        return;
    }
    shmemx_race_sync_1(ATOMIC, (uint64_t)(uintptr_t)at, (uint64_t)how << 8 | (order & 0xff));
    __atomic_clear(lock, __ATOMIC_RELEASE);
    atomics--;
}

#define FETCH(bits, type, name, operation) \
    HIDDEN(type) __tsan_atomic##bits##_##name(volatile type *at, type value, int order) \
    { \
        seen((const void *)at, sizeof *at, LANGUAGE, PC); \
        volatile char *lock = begin(at); \
        type old = operation(at, value, ORDER); \
        end(at, lock, READS | WRITES, order); \
        seen((const void *)at, sizeof *at, LOOK, PC); \
        return old; \
    }

#define ATOMIC_OF(bits, type) \
    HIDDEN(type) __tsan_atomic##bits##_load(const volatile type *at, int order) \
    { \
        volatile char *lock = begin(at); \
        type value = __atomic_load_n(at, ORDER); \
        end(at, lock, READS, order); \
        seen((const void *)at, sizeof *at, LOOK, PC); \
        return value; \
    } \
    HOOK __tsan_atomic##bits##_store(volatile type *at, type value, int order) \
    { \
        seen((const void *)at, sizeof *at, LANGUAGE, PC); \
        volatile char *lock = begin(at); \
        __atomic_store_n(at, value, ORDER); \
        end(at, lock, WRITES, order); \
    } \
    FETCH(bits, type, exchange, __atomic_exchange_n) \
    FETCH(bits, type, fetch_add, __atomic_fetch_add) \
    FETCH(bits, type, fetch_sub, __atomic_fetch_sub) \
    FETCH(bits, type, fetch_and, __atomic_fetch_and) \
    FETCH(bits, type, fetch_or, __atomic_fetch_or) \
    FETCH(bits, type, fetch_xor, __atomic_fetch_xor) \
    FETCH(bits, type, fetch_nand, __atomic_fetch_nand) \
    HIDDEN(int) __tsan_atomic##bits##_compare_exchange_strong( \
        volatile type *at, type *expected, type value, int order, int failure) \
    { \
        seen((const void *)at, sizeof *at, LANGUAGE, PC); \
        volatile char *lock = begin(at); \
        int is_done = __atomic_compare_exchange_n(at, expected, value, 0, ORDER, ORDER); \
        end(at, lock, is_done ? READS | WRITES : READS, is_done ? order : failure); \
        seen((const void *)at, sizeof *at, LOOK, PC); \
        return is_done; \
    } \
    HIDDEN(int) __tsan_atomic##bits##_compare_exchange_weak( \
        volatile type *at, type *expected, type value, int order, int failure) \
    { \
        return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, order, failure); \
    } \
    HIDDEN(type) __tsan_atomic##bits##_compare_exchange_val( \
        volatile type *at, type expected, type value, int order, int failure) \
    { \
        __tsan_atomic##bits##_compare_exchange_strong(at, &expected, value, order, failure); \
        return expected; \
    }

ATOMIC_OF(8, uint8_t)
ATOMIC_OF(16, uint16_t)
ATOMIC_OF(32, uint32_t)
ATOMIC_OF(64, uint64_t)
#if defined(__x86_64__) || defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
/* By the instruction itself, since not every machine has libatomic. */
typedef unsigned __int128 wide;
#if defined(__x86_64__)
#define CX16 __attribute__((target("cx16")))
#else
#define CX16
#endif

static CX16 wide swap_wide(volatile wide *at, wide expected, wide value)
{
    return __sync_val_compare_and_swap(at, expected, value);
}

#define WIDE(name, result) \
    HIDDEN(wide) __tsan_atomic128_##name(volatile wide *at, wide value, int order) \
    { \
        seen((const void *)at, sizeof *at, LANGUAGE, PC); \
        volatile char *lock = begin(at); \
        wide old = swap_wide(at, 0, 0), before; \
        do { \
            before = old; \
            old = swap_wide(at, before, result); \
        } while (old != before); \
        end(at, lock, READS | WRITES, order); \
        seen((const void *)at, sizeof *at, LOOK, PC); \
        return old; \
    }
WIDE(exchange, value)
WIDE(fetch_add, before + value)
WIDE(fetch_sub, before - value)
WIDE(fetch_and, before & value)
WIDE(fetch_or, before | value)
WIDE(fetch_xor, before ^ value)
WIDE(fetch_nand, ~(before & value))

HIDDEN(wide) __tsan_atomic128_load(const volatile wide *at, int order)
{
    volatile char *lock = begin(at);
    wide value = swap_wide((volatile wide *)at, 0, 0);
    end(at, lock, READS, order);
    seen((const void *)at, sizeof *at, LOOK, PC);
    return value;
}
HOOK __tsan_atomic128_store(volatile wide *at, wide value, int order)
{
    __tsan_atomic128_exchange(at, value, order);
}
HIDDEN(wide) __tsan_atomic128_compare_exchange_val(volatile wide *at, wide expected, wide value,
                                                   int order, int failure)
{
    seen((const void *)at, sizeof *at, LANGUAGE, PC);
    volatile char *lock = begin(at);
    wide old = swap_wide(at, expected, value);
    end(at, lock, old == expected ? READS | WRITES : READS, old == expected ? order : failure);
    seen((const void *)at, sizeof *at, LOOK, PC);
    return old;
}
HIDDEN(int) __tsan_atomic128_compare_exchange_strong(volatile wide *at, wide *expected, wide value,
                                                     int order, int failure)
{
    wide old = __tsan_atomic128_compare_exchange_val(at, *expected, value, order, failure);
    int is_done = old == *expected;
    *expected = old;
    return is_done;
}
HIDDEN(int) __tsan_atomic128_compare_exchange_weak(volatile wide *at, wide *expected, wide value,
                                                   int order, int failure)
{
    return __tsan_atomic128_compare_exchange_strong(at, expected, value, order, failure);
}
#endif

HOOK __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(ORDER);
    if (shmemx_race_1.is_on && shmemx_race_1.threads)
        shmemx_race_sync_1(FENCE, 0, (uint64_t)order & 0xff);
}
HOOK __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(ORDER);
}

/* Copies by the C library: shmemx_race.h gives them these names, and Clang calls them so by itself. */
extern void *memcpy(void *to, const void *from, size_t len);
extern void *memmove(void *to, const void *from, size_t len);
extern void *memset(void *to, int value, size_t len);

HIDDEN(void *) __tsan_memcpy(void *to, const void *from, size_t len)
{
    if (len > 0) {
        seen(from, len, LOAD, PC);
        seen(to, len, STORE, PC);
    }
    return memcpy(to, from, len);
}
HIDDEN(void *) __tsan_memmove(void *to, const void *from, size_t len)
{
    if (len > 0) {
        seen(from, len, LOAD, PC);
        seen(to, len, STORE, PC);
    }
    return memmove(to, from, len);
}
HIDDEN(void *) __tsan_memset(void *to, int value, size_t len)
{
    if (len > 0)
        seen(to, len, STORE, PC);
    return memset(to, value, len);
}
