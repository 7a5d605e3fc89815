//! Locks of a job.

use super::{LockError, RawLock};
use crate::board::Activity;
use crate::error::{Error, Result};
use crate::inner::Watch;
use crate::symmetric::Symmetric;

/// A lock that one PE at a time holds. Made by [`Job::lock`](crate::Job::lock); PEs get it in
/// the order in which they ask.
///
/// ```
/// use hostwire::Job;
/// # fn main() -> hostwire::Result<()> {
/// let job = Job::attach()?;
/// let mut lock = job.lock()?;
/// let counts = job.alloc::<u64>(2)?;
/// job.barrier()?;
/// let guard = lock.acquire()?;
/// // One PE at a time is here, and sees what those before it have put.
/// let mut both = [0; 2];
/// counts.get(0, 0, &mut both)?;
/// counts.put(0, 0, &both.map(|count| count + 1))?;
/// guard.release()?;
/// job.finalize()
/// # }
/// ```
pub struct Lock {
    word: Symmetric<u64>,
}

impl Lock {
    pub(crate) fn new(word: Symmetric<u64>) -> Self {
        Self { word }
    }

    /// Waits until this PE has the lock. Puts that others made before they gave it back are then visible.
    ///
    /// # Errors
    /// [`Error::PeerLost`] or [`Error::PeerLeft`] if a PE that had the lock or waited for it has ended; all later
    /// calls give it too. [`Error::PeerMisbehaved`] if the word of the lock was overwritten.
    pub fn acquire(&mut self) -> Result<Guard<'_>> {
        let raw = self.raw();
        let taken = raw.acquire(&|watch, poll| self.wait(watch, poll));
        taken.map_err(|error| error.of_job(raw.home()))?;
        Ok(Guard { lock: self })
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub fn try_acquire(&mut self) -> Result<Option<Guard<'_>>> {
        let raw = self.raw();
        let taken = raw.try_acquire();
        match taken.map_err(|error| error.of_job(raw.home()))? {
            true => Ok(Some(Guard { lock: self })),
            false => Ok(None),
        }
    }

    pub(super) fn raw(&self) -> RawLock<'_> {
        self.word.inner.lock(self.word.offset_bytes)
    }

    fn wait(&self, watch: Watch<'_>, poll: &mut dyn FnMut() -> Result<Option<u32>>) -> Result<u32> {
        let inner = &self.word.inner;
        let _busy = inner.status.during(Activity::Waiting, None);
        inner.wait(watch, poll)
    }

    fn release(&self) -> Result<()> {
        // Stores made under the lock must be visible before the next PE has it.
        self.word.inner.quiet()?;
        let raw = self.raw();
        let released = raw.release(&|watch, poll| self.wait(watch, poll));
        released.map_err(|error: LockError| -> Error { error.of_job(raw.home()) })
    }
}

/// A lock that this PE holds. Dropping it gives the lock back. [`release`](Self::release) does the same and also
/// returns errors.
pub struct Guard<'a> {
    lock: &'a Lock,
}

impl Guard<'_> {
    /// Gives the lock back, when all that this PE has put is visible.
    ///
    /// # Errors
    /// As [`Job::quiet`](crate::Job::quiet) and [`Lock::acquire`].
    pub fn release(self) -> Result<()> {
        let released = self.lock.release();
        core::mem::forget(self);
        released
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // Callers that want the error call `release`.
        let _ = self.lock.release();
    }
}
