//! Atomics, fetching or not, waiting or not.

use core::ffi::c_int;

use hostwire::attachment::Operation;

use crate::element::{Atomic, AtomicInteger};
use crate::fast;
use crate::handle::{CTX_DEFAULT, Ctx};
use crate::remote;

/// Does `operation` to `dest` at `pe` and returns the old value.
#[inline(always)]
unsafe fn fetching<T: Atomic>(
    what: &'static str,
    ctx: Ctx,
    operation: Operation,
    dest: *const T,
    operand: u64,
    compare: u64,
    pe: c_int,
) -> T {
    let old = if ctx == CTX_DEFAULT && size_of::<T>() == 8 {
        match fast::word(dest.cast_mut().cast(), pe) {
            Some(word) => {
                let old = operation.apply_64(word.at, operand, compare);
                word.changed(operation, what, pe);
                old
            }
            // SAFETY: as the caller promises; the address is checked there.
            None => unsafe {
                remote::atomic::<T>(what, ctx, operation, dest, operand, compare, pe)
            },
        }
    } else if ctx == CTX_DEFAULT && size_of::<T>() == 4 {
        match fast::half(dest.cast_mut().cast(), pe) {
            Some(half) => {
                let old = operation.apply_32(half.at, operand as u32, compare as u32);
                half.changed(operation, what, pe);
                old.into()
            }
            // SAFETY: as the caller promises; the address is checked there.
            None => unsafe {
                remote::atomic::<T>(what, ctx, operation, dest, operand, compare, pe)
            },
        }
    } else {
        // SAFETY: as the caller promises; the address is checked there.
        unsafe { remote::atomic::<T>(what, ctx, operation, dest, operand, compare, pe) }
    };
    T::from_bits(old)
}

/// `shmem_atomic_fetch`.
#[inline(always)]
pub unsafe fn atomic_fetch<T: Atomic>(ctx: Ctx, source: *const T, pe: c_int) -> T {
    let (operand, compare) = (0, 0);
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_fetch",
            ctx,
            Operation::Fetch,
            source,
            operand,
            compare,
            pe,
        )
    }
}

/// `shmem_atomic_fetch_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_fetch_nbi<T: Atomic>(ctx: Ctx, fetch: *mut T, source: *const T, pe: c_int) {
    // SAFETY: as the caller promises.
    let old = unsafe { atomic_fetch(ctx, source, pe) };
    // SAFETY: as the caller promises.
    unsafe { fetch.write(old) }
}

/// `shmem_atomic_swap`.
#[inline(always)]
pub unsafe fn atomic_swap<T: Atomic>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let (operand, compare) = (value.to_bits(), 0);
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_swap",
            ctx,
            Operation::Swap,
            dest,
            operand,
            compare,
            pe,
        )
    }
}

/// `shmem_atomic_swap_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_swap_nbi<T: Atomic>(
    ctx: Ctx,
    fetch: *mut T,
    dest: *mut T,
    value: T,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    let old = unsafe { atomic_swap(ctx, dest, value, pe) };
    // SAFETY: as the caller promises.
    unsafe { fetch.write(old) }
}

/// `shmem_atomic_compare_swap`.
#[inline(always)]
pub unsafe fn atomic_compare_swap<T: AtomicInteger>(
    ctx: Ctx,
    dest: *mut T,
    cond: T,
    value: T,
    pe: c_int,
) -> T {
    let (operand, compare) = (value.to_bits(), cond.to_bits());
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_compare_swap",
            ctx,
            Operation::CompareSwap,
            dest,
            operand,
            compare,
            pe,
        )
    }
}

/// `shmem_atomic_compare_swap_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_compare_swap_nbi<T: AtomicInteger>(
    ctx: Ctx,
    fetch: *mut T,
    dest: *mut T,
    cond: T,
    value: T,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    let old = unsafe { atomic_compare_swap(ctx, dest, cond, value, pe) };
    // SAFETY: as the caller promises.
    unsafe { fetch.write(old) }
}

/// `shmem_atomic_fetch_inc`.
#[inline(always)]
pub unsafe fn atomic_fetch_inc<T: AtomicInteger>(ctx: Ctx, dest: *mut T, pe: c_int) -> T {
    let (operand, compare) = (T::ONE.to_bits(), 0);
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_fetch_inc",
            ctx,
            Operation::Add,
            dest,
            operand,
            compare,
            pe,
        )
    }
}

/// `shmem_atomic_fetch_inc_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_fetch_inc_nbi<T: AtomicInteger>(
    ctx: Ctx,
    fetch: *mut T,
    dest: *mut T,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    let old = unsafe { atomic_fetch_inc(ctx, dest, pe) };
    // SAFETY: as the caller promises.
    unsafe { fetch.write(old) }
}

/// `shmem_atomic_fetch_add`.
#[inline(always)]
pub unsafe fn atomic_fetch_add<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let (operand, compare) = (value.to_bits(), 0);
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_fetch_add",
            ctx,
            Operation::Add,
            dest,
            operand,
            compare,
            pe,
        )
    }
}

/// `shmem_atomic_fetch_add_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_fetch_add_nbi<T: AtomicInteger>(
    ctx: Ctx,
    fetch: *mut T,
    dest: *mut T,
    value: T,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    let old = unsafe { atomic_fetch_add(ctx, dest, value, pe) };
    // SAFETY: as the caller promises.
    unsafe { fetch.write(old) }
}

/// `shmem_atomic_fetch_and`.
#[inline(always)]
pub unsafe fn atomic_fetch_and<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let (operand, compare) = (value.to_bits(), 0);
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_fetch_and",
            ctx,
            Operation::And,
            dest,
            operand,
            compare,
            pe,
        )
    }
}

/// `shmem_atomic_fetch_and_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_fetch_and_nbi<T: AtomicInteger>(
    ctx: Ctx,
    fetch: *mut T,
    dest: *mut T,
    value: T,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    let old = unsafe { atomic_fetch_and(ctx, dest, value, pe) };
    // SAFETY: as the caller promises.
    unsafe { fetch.write(old) }
}

/// `shmem_atomic_fetch_or`.
#[inline(always)]
pub unsafe fn atomic_fetch_or<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let (operand, compare) = (value.to_bits(), 0);
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_fetch_or",
            ctx,
            Operation::Or,
            dest,
            operand,
            compare,
            pe,
        )
    }
}

/// `shmem_atomic_fetch_or_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_fetch_or_nbi<T: AtomicInteger>(
    ctx: Ctx,
    fetch: *mut T,
    dest: *mut T,
    value: T,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    let old = unsafe { atomic_fetch_or(ctx, dest, value, pe) };
    // SAFETY: as the caller promises.
    unsafe { fetch.write(old) }
}

/// `shmem_atomic_fetch_xor`.
#[inline(always)]
pub unsafe fn atomic_fetch_xor<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let (operand, compare) = (value.to_bits(), 0);
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_fetch_xor",
            ctx,
            Operation::Xor,
            dest,
            operand,
            compare,
            pe,
        )
    }
}

/// `shmem_atomic_fetch_xor_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_fetch_xor_nbi<T: AtomicInteger>(
    ctx: Ctx,
    fetch: *mut T,
    dest: *mut T,
    value: T,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    let old = unsafe { atomic_fetch_xor(ctx, dest, value, pe) };
    // SAFETY: as the caller promises.
    unsafe { fetch.write(old) }
}

/// `shmem_atomic_set`.
#[inline(always)]
pub unsafe fn atomic_set<T: Atomic>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_set",
            ctx,
            Operation::Swap,
            dest.cast_const(),
            operand,
            0,
            pe,
        )
    };
}

/// `shmem_atomic_inc`.
#[inline(always)]
pub unsafe fn atomic_inc<T: AtomicInteger>(ctx: Ctx, dest: *mut T, pe: c_int) {
    let operand = T::ONE.to_bits();
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_inc",
            ctx,
            Operation::Add,
            dest.cast_const(),
            operand,
            0,
            pe,
        )
    };
}

/// `shmem_atomic_add`.
#[inline(always)]
pub unsafe fn atomic_add<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_add",
            ctx,
            Operation::Add,
            dest.cast_const(),
            operand,
            0,
            pe,
        )
    };
}

/// `shmem_atomic_and`.
#[inline(always)]
pub unsafe fn atomic_and<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_and",
            ctx,
            Operation::And,
            dest.cast_const(),
            operand,
            0,
            pe,
        )
    };
}

/// `shmem_atomic_or`.
#[inline(always)]
pub unsafe fn atomic_or<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_or",
            ctx,
            Operation::Or,
            dest.cast_const(),
            operand,
            0,
            pe,
        )
    };
}

/// `shmem_atomic_xor`.
#[inline(always)]
pub unsafe fn atomic_xor<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    // SAFETY: as the caller promises.
    unsafe {
        fetching(
            "shmem_atomic_xor",
            ctx,
            Operation::Xor,
            dest.cast_const(),
            operand,
            0,
            pe,
        )
    };
}
