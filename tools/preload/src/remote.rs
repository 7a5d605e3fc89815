//! The functions of `include/hostwire_remote.h`.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

use hostwire_borrow::client::BorrowError;

use crate::allocation::set_errno;
use crate::region;

fn errno_of(error: &BorrowError) -> c_int {
    match error {
        BorrowError::NoPager => libc::ENXIO,
        BorrowError::Full { .. } => libc::ENOMEM,
        BorrowError::Unusable(_) => libc::EPERM,
        BorrowError::Lost { .. } | BorrowError::System { .. } => libc::EIO,
    }
}

/// Borrowed memory, zeroed. Null with `errno` if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn hostwire_remote_alloc(bytes: usize) -> *mut c_void {
    match region::take(bytes, true) {
        Ok(address) => core::ptr::with_exposed_provenance_mut(address),
        Err(error) => {
            set_errno(errno_of(&error));
            null_mut()
        }
    }
}

/// Gives it back. Null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn hostwire_remote_free(memory: *mut c_void) {
    region::free(memory.addr());
}
