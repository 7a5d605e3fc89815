//! The pipes that a PE writes to.

use std::os::fd::AsFd;

use rustix::io::Errno;

/// One of the two outputs of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Stdout,
    Stderr,
}

/// One read. Drops `fd` at its end.
pub fn read_some(fd: &mut Option<impl AsFd>) -> Vec<u8> {
    let Some(open) = fd else { return Vec::new() };
    let mut bytes = vec![0; 64 << 10];
    match rustix::io::read(open.as_fd(), &mut bytes) {
        Ok(n) if n > 0 => {
            bytes.truncate(n);
            return bytes;
        }
        Err(Errno::AGAIN | Errno::INTR) => {}
        Ok(_) | Err(_) => *fd = None,
    }
    Vec::new()
}
