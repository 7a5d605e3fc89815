//! Order and completion of memory operations.

use core::ffi::c_int;
use core::sync::atomic::{Ordering, fence as cpu_fence};

use crate::buffer::Array;
use crate::fast;
use crate::handle::Ctx;
use crate::remote;

/// `shmem_fence`.
#[inline]
pub unsafe fn fence(ctx: Ctx) {
    if ctx.is_of_world() && fast::is_coherent() {
        cpu_fence(Ordering::Release);
    } else {
        remote::fence("shmem_fence", ctx);
    }
}

/// `shmem_quiet`.
#[inline]
pub unsafe fn quiet(ctx: Ctx) {
    if ctx.is_of_world() && fast::is_coherent() {
        cpu_fence(Ordering::SeqCst);
    } else {
        remote::quiet("shmem_quiet", ctx);
    }
}

/// `shmem_pe_quiet`.
#[inline]
pub unsafe fn pe_quiet(ctx: Ctx, target_pes: *const c_int, npes: usize) {
    // SAFETY: C programs promise `npes` numbers at `target_pes`.
    let target_pes = unsafe { Array::new(target_pes, npes) };
    remote::pe_quiet(ctx, target_pes);
}
