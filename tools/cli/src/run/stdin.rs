//! Standard input for PE 0.
//!
//! A file or a pipe is inherited. A terminal cannot be inherited: PE 0 is in a process
//! group of its own, and the kernel stops such a process when it reads from the
//! terminal. So the launcher, which is in the foreground, reads and passes the input
//! on.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{isatty, tcgetpgrp};

/// The terminal to read from and the pipe into PE 0.
pub struct Pump {
    pipe: OwnedFd,
    pending: Vec<u8>,
    /// Whether nothing more comes.
    is_last: bool,
}

impl Pump {
    /// Passes the terminal on into `pipe`, which must be non-blocking.
    pub fn new(pipe: OwnedFd) -> Pump {
        Pump {
            pipe,
            pending: Vec::new(),
            is_last: false,
        }
    }

    /// Adds bytes from elsewhere than the terminal. [`write`](Self::write) passes them on.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Nothing more comes from there.
    pub fn finish(&mut self) {
        self.is_last = true;
    }

    /// Whether all has been passed on.
    pub fn is_finished(&self) -> bool {
        self.is_last && self.pending.is_empty()
    }

    /// How many bytes wait for PE 0.
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    /// Whether standard input is a terminal, so that a pump is needed.
    pub fn is_needed() -> bool {
        isatty(rustix::stdio::stdin())
    }

    /// Whether the terminal is ours to read from now; reading it from the
    /// background would stop the launcher.
    pub fn is_in_foreground() -> bool {
        tcgetpgrp(rustix::stdio::stdin()).is_ok_and(|group| group == getpgrp())
    }

    /// The pipe, while something waits to go into it.
    pub fn blocked_on(&self) -> Option<BorrowedFd<'_>> {
        (!self.pending.is_empty()).then(|| self.pipe.as_fd())
    }

    /// Reads what the terminal has. `false` at its end.
    pub fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
            Ok(0) => false,
            Ok(n) => {
                self.pending
                    .extend_from_slice(bytes.get(..n).unwrap_or_default());
                self.write()
            }
            Err(Errno::INTR | Errno::AGAIN) => true,
            Err(_) => false,
        }
    }

    /// Writes as much as PE 0 has room for. `false` if PE 0 reads no more.
    pub fn write(&mut self) -> bool {
        if self.pending.is_empty() {
            return true;
        }
        match rustix::io::write(&self.pipe, &self.pending) {
            Ok(n) => {
                self.pending.drain(..n);
                true
            }
            Err(Errno::INTR | Errno::AGAIN) => true,
            Err(_) => false,
        }
    }
}
