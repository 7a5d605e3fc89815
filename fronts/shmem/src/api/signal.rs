//! Puts with a signal, and signals alone.

use core::ffi::c_int;

use crate::api::{atomic_add, atomic_set};
use crate::buffer::{self, Input};
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
    // SAFETY: C programs promise the elements at `source`.
    let source = unsafe { Input::new(source.cast(), len) };
    if ctx.is_of_world()
        && (sig_op == SIGNAL_SET || sig_op == SIGNAL_ADD)
        && let Some(place) = fast::at(dest.cast(), len, pe)
        && let Some(word) = fast::word(sig_addr, pe)
    {
        place.memory.put(source);
        word.signal(signal, sig_op == SIGNAL_ADD);
        place.stored(&"shmem_put_signal", pe);
    } else {
        const WHAT: &str = "shmem_put_signal";
        remote::put_signal(
            WHAT,
            ctx,
            (dest.cast(), source),
            sig_addr,
            signal,
            sig_op,
            pe,
        );
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
        // SAFETY: C programs promise the elements at `source`.
        unsafe { put_signal(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe) }
    } else {
        const WHAT: &str = "shmem_put_signal_nbi";
        let len = nelems.saturating_mul(size_of::<T>());
        // SAFETY: C programs promise the elements at `source`.
        let source = unsafe { Input::new(source.cast(), len) };
        remote::put_signal(
            WHAT,
            ctx,
            (dest.cast(), source),
            sig_addr,
            signal,
            sig_op,
            pe,
        );
    }
}

/// `shmem_signal_add`.
#[inline(always)]
pub fn signal_add(ctx: Ctx, sig_addr: *mut u64, signal: u64, pe: c_int) {
    if fast::is_coherent() {
        atomic_add(ctx, sig_addr, signal, pe);
    } else {
        remote::signal("shmem_signal_add", ctx, sig_addr, signal, SIGNAL_ADD, pe);
    }
}

/// `shmem_signal_set`.
#[inline(always)]
pub fn signal_set(ctx: Ctx, sig_addr: *mut u64, signal: u64, pe: c_int) {
    if fast::is_coherent() {
        atomic_set(ctx, sig_addr, signal, pe);
    } else {
        remote::signal("shmem_signal_set", ctx, sig_addr, signal, SIGNAL_SET, pe);
    }
}

/// `shmem_signal_fetch`: of the own PE.
#[inline(always)]
pub unsafe fn signal_fetch(sig_addr: *const u64) -> u64 {
    // SAFETY: C programs promise a valid signal object.
    let word = unsafe { buffer::word(sig_addr) };
    wait::fetch("shmem_signal_fetch", word)
}

/// `shmem_signal_wait_until`. Returns the value that ended the wait.
#[inline(always)]
pub unsafe fn signal_wait_until(sig_addr: *mut u64, cmp: c_int, cmp_value: u64) -> u64 {
    // SAFETY: C programs promise a valid signal object.
    let word = unsafe { buffer::word(sig_addr) };
    wait::until(wait::SIGNAL_WAIT_UNTIL, word, cmp, cmp_value)
}
