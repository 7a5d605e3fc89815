//! Who still lives: a lock per PE on one byte of a shared file.
//!
//! The kernel drops the lock with the process, however it dies, and a stopped process
//! keeps it. POSIX record locks are used because a forked child does not inherit them:
//! an orphan of a dead PE cannot make it look alive.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{PeId, TransportError};

/// See the [module text](self).
#[derive(Debug)]
pub(super) enum Liveness {
    /// PEs are processes. The file must be the only descriptor of its inode that this
    /// process ever closes, or the lock goes with it.
    Locked { file: Arc<OwnedFd> },
    /// PEs are threads of one process.
    Flags { alive: Arc<[AtomicBool]>, pe: PeId },
}

impl Liveness {
    /// Takes the lock of `pe`. A PE that has not done so yet looks dead.
    pub(super) fn lock(file: OwnedFd, pe: PeId) -> Result<Self, TransportError> {
        let file = Arc::new(file);
        let watch = Watch::Locks(Arc::clone(&file));
        watch.enter(pe)?;
        Ok(Self::Locked { file })
    }

    /// Whether `pe` still lives.
    pub(super) fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.watch().is_alive(pe)
    }

    /// For those who watch the PEs of a host and are none of them.
    pub(super) fn watch(&self) -> Watch {
        match self {
            Self::Locked { file } => Watch::Locks(Arc::clone(file)),
            Self::Flags { alive, .. } => Watch::Flags(Arc::clone(alive)),
        }
    }
}

/// Looks who of a host still lives. Behind the PEs there is room for one more, the
/// [adapter](crate::ether::adapter).
#[derive(Debug, Clone)]
pub enum Watch {
    /// PEs are processes.
    #[doc(hidden)]
    Locks(Arc<OwnedFd>),
    /// PEs are threads.
    #[doc(hidden)]
    Flags(Arc<[AtomicBool]>),
}

impl Watch {
    /// From now on the number `local` lives, until this process, or what it is in it, ends.
    pub(crate) fn enter(&self, local: u32) -> Result<(), TransportError> {
        match self {
            Self::Flags(alive) => {
                if let Some(flag) = alive.get(local as usize) {
                    flag.store(true, Ordering::Release);
                }
            }
            Self::Locks(file) => {
                let mut lock = byte_lock(local);
                // SAFETY: F_SETLK reads the `flock` behind the pointer, which outlives the call.
                let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw mut lock) };
                if done == -1 {
                    return Err(TransportError::environment(
                        format!("taking the liveness lock of number {local} of this host"),
                        std::io::Error::last_os_error(),
                    ));
                }
            }
        }
        Ok(())
    }

    /// From now on it does not, where it is a part of this process.
    pub(crate) fn leave(&self, local: u32) {
        if let Self::Flags(alive) = self
            && let Some(flag) = alive.get(local as usize)
        {
            flag.store(false, Ordering::Release);
        }
    }

    /// Whether it lives. A process does not see itself.
    pub(crate) fn is_alive(&self, local: u32) -> Result<bool, TransportError> {
        match self {
            Self::Flags(alive) => Ok(alive
                .get(local as usize)
                .is_some_and(|flag| flag.load(Ordering::Acquire))),
            Self::Locks(file) => {
                let mut lock = byte_lock(local);
                // SAFETY: F_GETLK reads and writes the `flock` behind the pointer,
                // which outlives the call.
                let done =
                    unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_GETLK, &raw mut lock) };
                if done == -1 {
                    return Err(TransportError::environment(
                        format!("looking whether number {local} of this host lives"),
                        std::io::Error::last_os_error(),
                    ));
                }
                Ok(i32::from(lock.l_type) != libc::F_UNLCK)
            }
        }
    }

    /// The descriptor that it needs.
    pub(crate) fn fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        match self {
            Self::Locks(file) => Some(file.as_fd()),
            Self::Flags(_) => None,
        }
    }
}

impl Drop for Liveness {
    fn drop(&mut self) {
        if let Self::Flags { alive, pe } = self
            && let Some(flag) = alive.get(*pe as usize)
        {
            flag.store(false, Ordering::Release);
        }
    }
}

fn byte_lock(pe: PeId) -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: libc::off_t::from(pe),
        l_len: 1,
        l_pid: 0,
    }
}
