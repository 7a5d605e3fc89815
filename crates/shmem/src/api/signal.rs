//! Puts with a signal, and signals alone.

use core::ffi::c_int;

use crate::copy;
use crate::element::Element;
use crate::fast;
use crate::handle::Ctx;
use crate::remote::{self, SIGNAL_ADD, SIGNAL_SET};
use crate::wait;

/// `shmem_put_signal`, of all types and sizes.
#[inline(always)]
pub unsafe fn put_signal<T: Element>(
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: c_int,
    pe: c_int,
) {
    let len = nelems.saturating_mul(size_of::<T>());
    if ctx.is_of_world()
        && (sig_op == SIGNAL_SET || sig_op == SIGNAL_ADD)
        && let Some(place) = fast::at(dest.cast(), len, pe)
        && let Some(word) = fast::word(sig_addr, pe)
    {
        // SAFETY: `len` bytes in reach; the caller has as many at `source`.
        unsafe { copy::to_peer(place.at, source.cast(), len) };
        word.signal(signal, sig_op == SIGNAL_ADD);
        place.stored(&"shmem_put_signal", pe);
    } else {
        let data = (dest.cast(), source.cast(), len);
        // SAFETY: as the caller promises.
        unsafe { remote::put_signal("shmem_put_signal", ctx, data, sig_addr, signal, sig_op, pe) };
    }
}

/// `shmem_put_signal_nbi`. Completes at once, as [`put_signal`] does.
#[inline(always)]
pub unsafe fn put_signal_nbi<T: Element>(
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: c_int,
    pe: c_int,
) {
    if fast::is_coherent() {
        // SAFETY: as the caller promises.
        unsafe { put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe) }
    } else {
        let data = (
            dest.cast(),
            source.cast(),
            nelems.saturating_mul(size_of::<T>()),
        );
        const WHAT: &str = "shmem_put_signal_nbi";
        // SAFETY: as the caller promises.
        unsafe { remote::put_signal(WHAT, ctx, data, sig_addr, signal, sig_op, pe) };
    }
}

/// `shmem_signal_add`.
#[inline(always)]
pub unsafe fn signal_add(ctx: Ctx, sig_addr: *mut u64, signal: u64, pe: c_int) {
    if fast::is_coherent() {
        // SAFETY: as the caller promises.
        unsafe { crate::api::atomic_add(ctx, sig_addr, signal, pe) }
    } else {
        // SAFETY: everything is checked there.
        unsafe { remote::signal("shmem_signal_add", ctx, sig_addr, signal, SIGNAL_ADD, pe) }
    }
}

/// `shmem_signal_set`.
#[inline(always)]
pub unsafe fn signal_set(ctx: Ctx, sig_addr: *mut u64, signal: u64, pe: c_int) {
    if fast::is_coherent() {
        // SAFETY: as the caller promises.
        unsafe { crate::api::atomic_set(ctx, sig_addr, signal, pe) }
    } else {
        // SAFETY: everything is checked there.
        unsafe { remote::signal("shmem_signal_set", ctx, sig_addr, signal, SIGNAL_SET, pe) }
    }
}

/// `shmem_signal_fetch`: of the own PE.
#[inline(always)]
pub unsafe fn signal_fetch(sig_addr: *const u64) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { wait::fetch("shmem_signal_fetch", sig_addr) }
}

/// `shmem_signal_wait_until`. Returns the value that ended the wait.
#[inline(always)]
pub unsafe fn signal_wait_until(sig_addr: *mut u64, cmp: c_int, cmp_value: u64) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { wait::until(wait::SIGNAL_WAIT_UNTIL, sig_addr, cmp, cmp_value) }
}
