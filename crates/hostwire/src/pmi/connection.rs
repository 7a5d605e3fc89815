//! The socket to the launcher, as both versions of PMI use it.

use std::io;
use std::os::fd::OwnedFd;

use hostwire_transport::os::process::inherited_socket;
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::PmiError;

/// The most that is read at once.
const READ_BYTES: usize = 4096;

/// A stream to the launcher.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
}

impl Connection {
    /// The socket that a launcher left open as `fd`.
    pub(super) fn inherited(fd: u32) -> Result<Self, PmiError> {
        let failed = |source| PmiError::Unreachable {
            place: format!("PMI_FD={fd}"),
            source,
        };
        let n = i32::try_from(fd).map_err(|_| failed(io::ErrorKind::InvalidInput.into()))?;
        let socket = inherited_socket(n).map_err(failed)?;
        Ok(Self { socket })
    }

    /// Sends all of it, while asking for `asked`.
    pub(super) fn write(&self, asked: &'static str, bytes: &[u8]) -> Result<(), PmiError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            // A launcher that is gone must be an error here, not a SIGPIPE.
            match rustix::net::send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(lost(asked, &io::Error::from(errno))),
            }
        }
        Ok(())
    }

    /// Waits for more, and gives it to `take`.
    pub(super) fn read(
        &self,
        asked: &'static str,
        take: impl FnOnce(&[u8]),
    ) -> Result<(), PmiError> {
        let mut bytes = [0; READ_BYTES];
        loop {
            match rustix::io::read(&self.socket, &mut bytes) {
                Ok(0) => return Err(lost(asked, &"it closed the connection")),
                Ok(n) => {
                    take(bytes.get(..n).unwrap_or_default());
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(lost(asked, &io::Error::from(errno))),
            }
        }
    }
}

fn lost(asked: &'static str, reason: &dyn std::fmt::Display) -> PmiError {
    PmiError::Lost {
        asked,
        reason: reason.to_string(),
    }
}
