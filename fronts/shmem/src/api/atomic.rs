//! Atomics, fetching or not, waiting or not.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use hostwire::attachment::Operation;

use crate::element::{Atomic, AtomicInteger};
use crate::fast::{self, What};
use crate::handle::Ctx;
use crate::remote;

/// Does an operation, by its name, to `dest` at `pe` and returns the old value.
macro_rules! fetching {
    ($what:literal, $operation:ident, $type:ty, $ctx:expr, $dest:expr, $operand:expr, $pe:expr) => {{
        const HOW: &(What, Operation) = &(&$what, Operation::$operation);
        fetching::<$type>(HOW, $ctx, $dest, $operand, $pe)
    }};
}

#[inline(always)]
fn fetching<T: Atomic>(
    how: &'static (What, Operation),
    ctx: Ctx,
    dest: *const T,
    operand: u64,
    pe: c_int,
) -> T {
    let old = match fast::atomic(*how, ctx, dest, operand, 0, pe) {
        Some(old) => old,
        None => remote::atomic_out_of_reach::<T>(dest, operand, pe, ctx, how),
    };
    T::from_bits(old)
}

/// The result of a non-blocking atomic: the program may use it when the context is quiet.
///
/// # Safety
/// `fetch` can be written.
#[inline(always)]
unsafe fn give<T: Atomic>(ctx: Ctx, fetch: *mut T, old: T, pe: c_int) {
    // SAFETY: the caller promises that it can be written.
    unsafe { fetch.write(old) };
    if !fast::is_coherent() {
        remote::gave(ctx, fetch.cast(), size_of::<T>(), pe);
    }
}

/// `shmem_atomic_fetch`.
#[inline(always)]
pub fn atomic_fetch<T: Atomic>(ctx: Ctx, source: *const T, pe: c_int) -> T {
    let operand = 0;
    fetching!("shmem_atomic_fetch", Fetch, T, ctx, source, operand, pe)
}

/// `shmem_atomic_fetch_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_fetch_nbi<T: Atomic>(ctx: Ctx, fetch: *mut T, source: *const T, pe: c_int) {
    let old = fetching!("shmem_atomic_fetch_nbi", Fetch, T, ctx, source, 0, pe);
    // SAFETY: C programs promise that `fetch` can be written.
    unsafe { give(ctx, fetch, old, pe) }
}

/// `shmem_atomic_swap`.
#[inline(always)]
pub fn atomic_swap<T: Atomic>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let operand = value.to_bits();
    fetching!("shmem_atomic_swap", Swap, T, ctx, dest, operand, pe)
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
    let operand = value.to_bits();
    let old = fetching!("shmem_atomic_swap_nbi", Swap, T, ctx, dest, operand, pe);
    // SAFETY: C programs promise that `fetch` can be written.
    unsafe { give(ctx, fetch, old, pe) }
}

/// `shmem_atomic_compare_swap`.
#[inline(always)]
pub fn atomic_compare_swap<T: AtomicInteger>(
    ctx: Ctx,
    dest: *mut T,
    cond: T,
    value: T,
    pe: c_int,
) -> T {
    compare_swap::<T, false>(ctx, dest, cond, value, pe)
}

#[inline(always)]
fn compare_swap<T: AtomicInteger, const IS_NBI: bool>(
    ctx: Ctx,
    dest: *mut T,
    cond: T,
    value: T,
    pe: c_int,
) -> T {
    const HOW: (What, Operation) = (&"shmem_atomic_compare_swap", Operation::CompareSwap);
    let (operand, compare) = (value.to_bits(), cond.to_bits());
    let old = match fast::atomic(HOW, ctx, dest, operand, compare, pe) {
        Some(old) => old,
        None => remote::compare_swap_out_of_reach::<T, IS_NBI>(dest, compare, operand, pe, ctx),
    };
    T::from_bits(old)
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
    let old = compare_swap::<T, true>(ctx, dest, cond, value, pe);
    // SAFETY: C programs promise that `fetch` can be written.
    unsafe { give(ctx, fetch, old, pe) }
}

/// `shmem_atomic_fetch_inc`.
#[inline(always)]
pub fn atomic_fetch_inc<T: AtomicInteger>(ctx: Ctx, dest: *mut T, pe: c_int) -> T {
    let operand = T::ONE.to_bits();
    fetching!("shmem_atomic_fetch_inc", Add, T, ctx, dest, operand, pe)
}

/// `shmem_atomic_fetch_inc_nbi`. Completes at once.
#[inline(always)]
pub unsafe fn atomic_fetch_inc_nbi<T: AtomicInteger>(
    ctx: Ctx,
    fetch: *mut T,
    dest: *mut T,
    pe: c_int,
) {
    let operand = T::ONE.to_bits();
    let old = fetching!("shmem_atomic_fetch_inc_nbi", Add, T, ctx, dest, operand, pe);
    // SAFETY: C programs promise that `fetch` can be written.
    unsafe { give(ctx, fetch, old, pe) }
}

/// `shmem_atomic_fetch_add`.
#[inline(always)]
pub fn atomic_fetch_add<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let operand = value.to_bits();
    fetching!("shmem_atomic_fetch_add", Add, T, ctx, dest, operand, pe)
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
    let operand = value.to_bits();
    let old = fetching!("shmem_atomic_fetch_add_nbi", Add, T, ctx, dest, operand, pe);
    // SAFETY: C programs promise that `fetch` can be written.
    unsafe { give(ctx, fetch, old, pe) }
}

/// `shmem_atomic_fetch_and`.
#[inline(always)]
pub fn atomic_fetch_and<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let operand = value.to_bits();
    fetching!("shmem_atomic_fetch_and", And, T, ctx, dest, operand, pe)
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
    let operand = value.to_bits();
    let old = fetching!("shmem_atomic_fetch_and_nbi", And, T, ctx, dest, operand, pe);
    // SAFETY: C programs promise that `fetch` can be written.
    unsafe { give(ctx, fetch, old, pe) }
}

/// `shmem_atomic_fetch_or`.
#[inline(always)]
pub fn atomic_fetch_or<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let operand = value.to_bits();
    fetching!("shmem_atomic_fetch_or", Or, T, ctx, dest, operand, pe)
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
    let operand = value.to_bits();
    let old = fetching!("shmem_atomic_fetch_or_nbi", Or, T, ctx, dest, operand, pe);
    // SAFETY: C programs promise that `fetch` can be written.
    unsafe { give(ctx, fetch, old, pe) }
}

/// `shmem_atomic_fetch_xor`.
#[inline(always)]
pub fn atomic_fetch_xor<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) -> T {
    let operand = value.to_bits();
    fetching!("shmem_atomic_fetch_xor", Xor, T, ctx, dest, operand, pe)
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
    let operand = value.to_bits();
    let old = fetching!("shmem_atomic_fetch_xor_nbi", Xor, T, ctx, dest, operand, pe);
    // SAFETY: C programs promise that `fetch` can be written.
    unsafe { give(ctx, fetch, old, pe) }
}

/// `shmem_atomic_set`. A store in one piece; nothing is read.
#[inline(always)]
pub fn atomic_set<T: Atomic>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    const HOW: &(What, Operation) = &(&"shmem_atomic_set", Operation::Swap);
    let operand = value.to_bits();
    if ctx.is_of_world()
        && size_of::<T>() == 8
        && let Some(word) = fast::word(dest.cast(), pe)
    {
        word.at.store(operand, Ordering::Release);
        word.place.stored(HOW.0, pe);
    } else if ctx.is_of_world()
        && size_of::<T>() == 4
        && let Some(half) = fast::half(dest.cast(), pe)
    {
        half.at.store(operand as u32, Ordering::Release);
        half.place.stored(HOW.0, pe);
    } else {
        remote::atomic_out_of_reach::<T>(dest, operand, pe, ctx, HOW);
    }
}

/// `shmem_atomic_inc`.
#[inline(always)]
pub fn atomic_inc<T: AtomicInteger>(ctx: Ctx, dest: *mut T, pe: c_int) {
    let operand = T::ONE.to_bits();
    fetching!("shmem_atomic_inc", Add, T, ctx, dest, operand, pe);
}

/// `shmem_atomic_add`.
#[inline(always)]
pub fn atomic_add<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    fetching!("shmem_atomic_add", Add, T, ctx, dest, operand, pe);
}

/// `shmem_atomic_and`.
#[inline(always)]
pub fn atomic_and<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    fetching!("shmem_atomic_and", And, T, ctx, dest, operand, pe);
}

/// `shmem_atomic_or`.
#[inline(always)]
pub fn atomic_or<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    fetching!("shmem_atomic_or", Or, T, ctx, dest, operand, pe);
}

/// `shmem_atomic_xor`.
#[inline(always)]
pub fn atomic_xor<T: AtomicInteger>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    let operand = value.to_bits();
    fetching!("shmem_atomic_xor", Xor, T, ctx, dest, operand, pe);
}
