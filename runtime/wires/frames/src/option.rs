//! Options of sockets that no library has by name.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Sets an option.
///
/// # Errors
/// The error of the system.
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

/// An option that is an int.
///
/// # Errors
/// The error of the system; [`io::ErrorKind::InvalidData`] for one that is something else.
pub(super) fn int(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
) -> io::Result<libc::c_int> {
    bytes(socket, level, name).map(libc::c_int::from_ne_bytes)
}

/// The first bytes of an option, as many as are asked for.
///
/// # Errors
/// The error of the system; [`io::ErrorKind::InvalidData`] for one that has fewer.
pub(super) fn bytes<const LEN: usize>(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
) -> io::Result<[u8; LEN]> {
    let mut value = [0_u8; LEN];
    let mut len = LEN as libc::socklen_t;
    // SAFETY: writes at most `len` bytes to `value`, and how many to `len`, both of which
    // outlive the call.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            value.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    match done {
        0 if len as usize == LEN => Ok(value),
        0 => Err(io::ErrorKind::InvalidData.into()),
        _ => Err(io::Error::last_os_error()),
    }
}
