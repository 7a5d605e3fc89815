//! Strided and block-strided puts and gets.

use core::ffi::c_int;

use crate::buffer::{Blocks, InputBlocks, OutputBlocks};
use crate::element::Element;
use crate::handle::Ctx;
use crate::remote;

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
    let to = Blocks::of::<T>(dst, 1, nelems);
    let from = Blocks::of::<T>(sst, 1, nelems);
    // SAFETY: C programs promise all blocks of the source.
    let source = unsafe { InputBlocks::new(source.cast(), from) };
    remote::put_strided(&"shmem_iput", ctx, (dest.cast(), to), source, pe);
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
    let to = Blocks::of::<T>(dst, 1, nelems);
    let from = Blocks::of::<T>(sst, 1, nelems);
    // SAFETY: C programs promise room for all blocks.
    let dest = unsafe { OutputBlocks::new(dest.cast(), to) };
    remote::get_strided(&"shmem_iget", ctx, dest, (source.cast(), from), pe);
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
    let to = Blocks::of::<T>(dst, bsize, nblocks);
    let from = Blocks::of::<T>(sst, bsize, nblocks);
    // SAFETY: C programs promise all blocks of the source.
    let source = unsafe { InputBlocks::new(source.cast(), from) };
    remote::put_strided(&"shmem_ibput", ctx, (dest.cast(), to), source, pe);
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
    let to = Blocks::of::<T>(dst, bsize, nblocks);
    let from = Blocks::of::<T>(sst, bsize, nblocks);
    // SAFETY: C programs promise room for all blocks.
    let dest = unsafe { OutputBlocks::new(dest.cast(), to) };
    remote::get_strided(&"shmem_ibget", ctx, dest, (source.cast(), from), pe);
}
