//! Which PEs live: a lock per PE on one byte of a shared file.
//!
//! The kernel drops the lock with the process, however it dies, and a stopped process
//! keeps it. POSIX record locks are used because a forked child does not inherit them:
//! an orphan of a dead PE cannot make it look alive.

use core::fmt;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Loss, PeId, TransportError};

/// See the [module text](self).
#[derive(Debug)]
pub(super) enum Liveness {
    /// PEs are processes. The file must be the only descriptor of its inode that this
    /// process ever closes, or the lock goes with it.
    Locked { file: Arc<OwnedFd> },
    /// PEs are threads of one process.
    Flags { alive: Arc<[AtomicBool]>, pe: PeId },
    /// Another wire over the same kind of memory knows which PEs live.
    Other(Box<dyn Lives>),
}

/// Says which PEs live, where locks are not enough.
pub trait Lives: fmt::Debug + Send + Sync {
    /// Whether `pe` still lives.
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError>;

    /// How a PE that does not live was lost.
    fn loss(&self, pe: PeId) -> Loss;

    /// A watch for a process that is no PE of this kernel.
    fn watch(&self) -> LivenessWatch;
}

impl Liveness {
    /// Takes the lock of `pe`. A PE that has not done so yet looks dead.
    pub(super) fn lock(file: OwnedFd, pe: PeId) -> Result<Self, TransportError> {
        let file = Arc::new(file);
        LivenessWatch::locks_at(Arc::clone(&file), 0, 1).enter(pe)?;
        Ok(Self::Locked { file })
    }

    /// Whether `pe` still lives.
    pub(super) fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        match self {
            Self::Other(other) => other.is_alive(pe),
            Self::Locked { .. } | Self::Flags { .. } => self.watch().is_alive(pe),
        }
    }

    /// How a PE that does not live was lost.
    pub(super) fn loss(&self, pe: PeId) -> Loss {
        match self {
            Self::Other(other) => other.loss(pe),
            Self::Locked { .. } | Self::Flags { .. } => Loss::Ended,
        }
    }

    /// A watch for a process that is no PE of the host.
    pub(super) fn watch(&self) -> LivenessWatch {
        match self {
            Self::Locked { file } => LivenessWatch::locks_at(Arc::clone(file), 0, 1),
            Self::Flags { alive, .. } => LivenessWatch::Flags(Arc::clone(alive)),
            Self::Other(other) => other.watch(),
        }
    }
}

/// Checks which PEs of a host live. After the PEs there is room for one more, the
/// adapter.
#[derive(Debug, Clone)]
pub enum LivenessWatch {
    /// PEs are processes.
    #[doc(hidden)]
    Locks(Locks),
    /// PEs are threads.
    #[doc(hidden)]
    Flags(Arc<[AtomicBool]>),
}

/// A lock per PE on bytes of a file.
#[derive(Debug, Clone)]
pub struct Locks {
    file: Arc<OwnedFd>,
    /// The byte of the first PE.
    first_byte: u64,
    /// The distance from one PE's byte to the next.
    step_bytes: u64,
}

impl Locks {
    fn lock(&self, local: u32, kind: libc::c_int) -> libc::flock {
        let byte = self.first_byte + u64::from(local) * self.step_bytes;
        libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            // A file has fewer bytes.
            l_start: byte as libc::off_t,
            l_len: 1,
            l_pid: 0,
        }
    }

    /// Takes or drops the lock.
    fn set(&self, local: u32, kind: libc::c_int) -> std::io::Result<()> {
        let mut lock = self.lock(local, kind);
        // SAFETY: F_SETLK reads the `flock` behind the pointer, which outlives the call.
        let done = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETLK, &raw mut lock) };
        match done {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

impl LivenessWatch {
    /// Locks on bytes of `file`: the byte of the first PE, and then one every
    /// `step_bytes`.
    pub fn locks_at(file: Arc<OwnedFd>, first_byte: u64, step_bytes: u64) -> Self {
        Self::Locks(Locks {
            file,
            first_byte,
            step_bytes,
        })
    }

    /// From now on `local` counts as alive, until this process ends or
    /// [`leave`](Self::leave) is called.
    pub fn enter(&self, local: u32) -> Result<(), TransportError> {
        match self {
            Self::Flags(alive) => {
                if let Some(flag) = alive.get(local as usize) {
                    flag.store(true, Ordering::Release);
                }
            }
            Self::Locks(locks) => locks.set(local, libc::F_WRLCK).map_err(|e| {
                let what = format!("taking the liveness lock of number {local} of this host");
                TransportError::environment(what, e)
            })?,
        }
        Ok(())
    }

    /// From now on `local` counts as dead.
    pub fn leave(&self, local: u32) {
        match self {
            Self::Flags(alive) => {
                if let Some(flag) = alive.get(local as usize) {
                    flag.store(false, Ordering::Release);
                }
            }
            // The lock ends with the process anyway.
            Self::Locks(locks) => drop(locks.set(local, libc::F_UNLCK)),
        }
    }

    /// Whether `local` lives. A process does not see its own lock.
    pub fn is_alive(&self, local: u32) -> Result<bool, TransportError> {
        match self {
            Self::Flags(alive) => Ok(alive
                .get(local as usize)
                .is_some_and(|flag| flag.load(Ordering::Acquire))),
            Self::Locks(locks) => {
                let mut lock = locks.lock(local, libc::F_WRLCK);
                // SAFETY: F_GETLK reads and writes the `flock` behind the pointer,
                // which outlives the call.
                let done =
                    unsafe { libc::fcntl(locks.file.as_raw_fd(), libc::F_GETLK, &raw mut lock) };
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
    pub fn fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        match self {
            Self::Locks(locks) => Some(locks.file.as_fd()),
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
