//! Collective operations of active sets (deprecated). All take the name of the C routine.

use core::ffi::{c_int, c_long};

use crate::active::{self as inner, ActiveSet};
use crate::buffer::Input;
use crate::element::Element;
use crate::fast::What;
use crate::reduction::Reduce;

/// `shmem_barrier`.
pub unsafe fn active_barrier(
    what: What,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    let set = ActiveSet::new(what, pe_start, log_pe_stride, pe_size, psync);
    set.barrier_all();
}

/// `shmem_sync`.
pub unsafe fn active_sync(
    what: What,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    let set = ActiveSet::new(what, pe_start, log_pe_stride, pe_size, psync);
    set.sync_all();
}

/// `shmem_broadcast32`, `shmem_broadcast64`.
pub unsafe fn active_broadcast<T: Element>(
    what: What,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe_root: c_int,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    let set = ActiveSet::new(what, pe_start, log_pe_stride, pe_size, psync);
    let len = nelems.saturating_mul(size_of::<T>());
    // SAFETY: C programs promise the elements at `source`.
    let source = unsafe { Input::new(source.cast(), len) };
    inner::broadcast(&set, dest.cast(), source, pe_root);
}

/// `shmem_collect32`, `shmem_collect64`.
pub unsafe fn active_collect<T: Element>(
    what: What,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    let set = ActiveSet::new(what, pe_start, log_pe_stride, pe_size, psync);
    let len = nelems.saturating_mul(size_of::<T>());
    // SAFETY: C programs promise the elements at `source`.
    let source = unsafe { Input::new(source.cast(), len) };
    inner::collect(&set, dest.cast(), source);
}

/// `shmem_fcollect32`, `shmem_fcollect64`.
pub unsafe fn active_fcollect<T: Element>(
    what: What,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    let set = ActiveSet::new(what, pe_start, log_pe_stride, pe_size, psync);
    let len = nelems.saturating_mul(size_of::<T>());
    // SAFETY: C programs promise the elements at `source`.
    let source = unsafe { Input::new(source.cast(), len) };
    inner::fcollect(&set, dest.cast(), source);
}

/// `shmem_alltoall32`, `shmem_alltoall64`.
pub unsafe fn active_alltoall<T: Element>(
    what: What,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    let set = ActiveSet::new(what, pe_start, log_pe_stride, pe_size, psync);
    let len = nelems.saturating_mul(size_of::<T>());
    let all = len.saturating_mul(set.size());
    // SAFETY: C programs promise so many elements for each member at `source`.
    let source = unsafe { Input::new(source.cast(), all) };
    inner::alltoall(&set, dest.cast(), source, len);
}

/// `shmem_alltoalls32`, `shmem_alltoalls64`.
pub unsafe fn active_alltoalls<T: Element>(
    what: What,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    let set = ActiveSet::new(what, pe_start, log_pe_stride, pe_size, psync);
    let strides = (dst, sst, size_of::<T>());
    // SAFETY: C programs promise so many elements for each member at `source`.
    unsafe { inner::alltoalls(&set, dest.cast(), source.cast(), strides, nelems) }
}

/// `shmem_and_to_all` and similar routines.
pub unsafe fn to_all<Op: 'static, T: Reduce<Op>>(
    what: What,
    dest: *mut T,
    source: *const T,
    nreduce: c_int,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    _pwrk: *mut T,
    psync: *mut c_long,
) {
    let set = ActiveSet::new(what, pe_start, log_pe_stride, pe_size, psync);
    inner::to_all::<Op, T>(&set, dest, source, nreduce)
}
