//! Strided and block-strided puts and gets.

use core::ffi::c_int;

use crate::element::Element;
use crate::handle::Ctx;
use crate::remote::{self, Strides};

fn strides<T>(dst: isize, sst: isize, bsize: usize, nblocks: usize) -> Strides {
    Strides {
        dst,
        sst,
        block_elements: bsize,
        blocks: nblocks,
        element_bytes: size_of::<T>(),
    }
}

/// `shmem_iput`, of all types and sizes.
#[inline]
pub unsafe fn iput<T: Element>(
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: c_int,
) {
    let how = strides::<T>(dst, sst, 1, nelems);
    // SAFETY: as the caller promises.
    unsafe { remote::put_strided("shmem_iput", ctx, dest.cast(), source.cast(), how, pe) }
}

/// `shmem_iget`, of all types and sizes.
#[inline]
pub unsafe fn iget<T: Element>(
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe: c_int,
) {
    let how = strides::<T>(dst, sst, 1, nelems);
    // SAFETY: as the caller promises.
    unsafe { remote::get_strided("shmem_iget", ctx, dest.cast(), source.cast(), how, pe) }
}

/// `shmem_ibput`, of all types and sizes.
#[inline]
pub unsafe fn ibput<T: Element>(
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: c_int,
) {
    let how = strides::<T>(dst, sst, bsize, nblocks);
    // SAFETY: as the caller promises.
    unsafe { remote::put_strided("shmem_ibput", ctx, dest.cast(), source.cast(), how, pe) }
}

/// `shmem_ibget`, of all types and sizes.
#[inline]
pub unsafe fn ibget<T: Element>(
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    bsize: usize,
    nblocks: usize,
    pe: c_int,
) {
    let how = strides::<T>(dst, sst, bsize, nblocks);
    // SAFETY: as the caller promises.
    unsafe { remote::get_strided("shmem_ibget", ctx, dest.cast(), source.cast(), how, pe) }
}
