//! The symmetric heap.

use core::ffi::{c_long, c_void};

use crate::heap;

/// `shmem_malloc`, `shmalloc`.
pub unsafe fn malloc(size: usize) -> *mut c_void {
    heap::malloc("shmem_malloc", size).cast()
}

/// `shmem_malloc_with_hints`. The hints change nothing: all symmetric memory is good for
/// atomics and signals of remote PEs.
pub unsafe fn malloc_with_hints(size: usize, _hints: c_long) -> *mut c_void {
    heap::malloc("shmem_malloc_with_hints", size).cast()
}

/// `shmem_align`, `shmemalign`.
pub unsafe fn align(alignment: usize, size: usize) -> *mut c_void {
    heap::align(alignment, size).cast()
}

/// `shmem_calloc`.
pub unsafe fn calloc(count: usize, size: usize) -> *mut c_void {
    heap::calloc(count, size).cast()
}

/// `shmem_realloc`, `shrealloc`.
pub unsafe fn realloc(ptr: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the heap checks `ptr`; C programs promise that no other thread uses the block.
    unsafe { heap::realloc(ptr.cast(), size).cast() }
}

/// `shmem_free`, `shfree`.
pub unsafe fn free(ptr: *mut c_void) {
    heap::free(ptr.cast());
}
