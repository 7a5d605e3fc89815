//! `close` and its family. A program that closes all descriptors that it may have, as services do, does not close those
//! of its borrowed memory: without them its pages could not come back.

use core::ffi::{c_int, c_uint};

use crate::allocation::set_errno;
use crate::region;

fn call(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    if first > last {
        return 0;
    }
    // SAFETY: the call takes numbers only; what the caller closes is its business.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    done as c_int
}

/// `close(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn close(fd: c_int) -> c_int {
    if region::is_own(fd) {
        set_errno(libc::EBADF);
        return -1;
    }
    // SAFETY: the call takes a number only; what the caller closes is its business.
    let done = unsafe { libc::syscall(libc::SYS_close, fd) };
    done as c_int
}

/// `close_range(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    let mut own = region::own_fds().map(|fd| c_uint::try_from(fd).unwrap_or(c_uint::MAX));
    own.sort_unstable();
    let mut from = first;
    for fd in own.into_iter().filter(|fd| (first..=last).contains(fd)) {
        if let Some(before) = fd.checked_sub(1)
            && call(from, before, flags) != 0
        {
            return -1;
        }
        from = fd.saturating_add(1);
    }
    call(from, last, flags)
}

/// `closefrom(3)`.
#[unsafe(no_mangle)]
pub extern "C" fn closefrom(first: c_int) {
    close_range(c_uint::try_from(first).unwrap_or(0), c_uint::MAX, 0);
}
