//! Locks between PEs.

use core::ffi::{c_int, c_long};

use crate::lock;

/// `shmem_set_lock`.
pub unsafe fn set_lock(lock: *mut c_long) {
    lock::set(lock.cast());
}

/// `shmem_test_lock`. 0 if this PE has set it now, 1 if another one has it.
pub unsafe fn test_lock(lock: *mut c_long) -> c_int {
    (!lock::test(lock.cast())).into()
}

/// `shmem_clear_lock`.
pub unsafe fn clear_lock(lock: *mut c_long) {
    lock::clear(lock.cast());
}
