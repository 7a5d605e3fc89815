//! The symbols that programs compiled with `SHMEMX_INLINE` need besides the functions of
//! the table: `shmemx_reach_1`, which is in [`fast`](crate::fast), and what follows a
//! store.

use core::ffi::{CStr, c_char, c_int};

use crate::remote;

/// The doorbell of `pe` is not at rest after a store in reach by `routine`. Wakes the PE, or ends
/// the job if the PE is lost.
///
/// # Safety
/// `routine` is a string of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_ring_1(routine: *const c_char, pe: c_int) {
    // SAFETY: the caller promises that `routine` is a string of C.
    let routine = unsafe { CStr::from_ptr(routine) };
    remote::ring(&routine.to_string_lossy(), pe);
}
