//! The socket to the launcher, for both versions of PMI.

use std::io;
use std::os::fd::OwnedFd;

use hostwire_transport::os::process::inherited_socket;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use super::PmiError;
use crate::deadline::Deadline;

/// The most that is read at once.
const READ_BYTES: usize = 4096;

/// A stream to the launcher. No call waits for it beyond the deadline.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    pub(super) deadline: Deadline,
}

impl Connection {
    /// The socket that a launcher left open as `fd`.
    pub(super) fn inherited(fd: u32, deadline: Deadline) -> Result<Self, PmiError> {
        let failed = |e: io::Error| PmiError::Unreachable {
            place: format!("PMI_FD={fd}"),
            source: e.into(),
        };
        let n = i32::try_from(fd).map_err(|_| failed(io::ErrorKind::InvalidInput.into()))?;
        let socket = inherited_socket(n).map_err(failed)?;
        Ok(Self { socket, deadline })
    }

    /// The same time again, for calls after the job has been joined.
    pub(super) fn renew(&mut self) {
        self.deadline = self.deadline.renewed();
    }

    /// Waits until the socket can be read or written. It remains a blocking socket,
    /// because other libraries in this process may use it.
    fn wait(&self, asked: &'static str, flags: PollFlags) -> Result<(), PmiError> {
        match self.deadline.wait(&self.socket, flags) {
            Ok(true) => Ok(()),
            Ok(false) => Err(PmiError::Silent {
                asked,
                waited_s: self.deadline.patience_s(),
            }),
            Err(error) => Err(lost(asked, &error)),
        }
    }

    /// Sends all of it, as a part of the request `asked`.
    pub(super) fn write(&self, asked: &'static str, bytes: &[u8]) -> Result<(), PmiError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            // A launcher that has ended must be an error here, not a SIGPIPE.
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match rustix::net::send(&self.socket, rest, flags) {
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(asked, PollFlags::OUT)?,
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
            match rustix::net::recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(lost(asked, &"it closed the connection")),
                Ok((n, _)) => {
                    take(bytes.get(..n).unwrap_or_default());
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(asked, PollFlags::IN)?,
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
