//! Wakes the acceptor thread.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hostwire_transport::error::TransportError;
use rustix::event::{EventfdFlags, eventfd};

/// An event descriptor. Code that changes the thread's list of descriptors rings it.
pub(super) struct Bell(OwnedFd);

impl Bell {
    pub(super) fn new() -> Result<Self, TransportError> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let made = eventfd(0, flags);
        made.map(Self)
            .map_err(|e| TransportError::environment("making what wakes a thread", e))
    }

    pub(super) fn ring(&self) {
        // A full counter also wakes.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    pub(super) fn fall_silent(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

/// Readable after it was rung.
impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
