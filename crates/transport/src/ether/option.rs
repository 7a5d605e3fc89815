//! Options of sockets that no library has by name.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Sets an option.
///
/// # Errors
/// As the system refuses.
///
/// # Safety
/// The option reads a `T`, and memory that addresses in it name is what the option wants
/// there, for as long as it wants it.
pub(super) unsafe fn set<T>(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: reads `value`, which outlives the call, with its length; what lies behind
    // addresses in it, the caller promises.
    let done = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const *value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
