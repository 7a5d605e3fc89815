//! Whether this process is the one that joined the job, or a copy of it.
//!
//! `fork` and `clone` copy all of a process, keys and counters included, and a checkpoint
//! can be restored while the original process goes on. A copy is not a PE: its stores
//! would mix with the PE's own stores, and a frame that it seals would have the same number as another
//! frame of the PE.
//!
//! So everything that a copy must not use lies in [`ProcessWords`]: memory that the kernel
//! fills with zeros in a child (`MADV_WIPEONFORK`), whichever call made the child. No hook has to run and
//! no thread has to cooperate. Under an emulator that ignores this advice, a hook does it, for `fork` only
//! (`fork_guard/hooked.rs`). A child that shares the memory of its parent (`vfork`, `clone` with
//! `CLONE_VM`) is not a copy in this sense: it uses the same words, as a thread does.
//!
//! A checkpoint contains these words. So the code that seals frames looks for signs of a restored process,
//! and [reports it](ForkGuard::was_restored).
//!
//! Without Linux there is no wire between processes, so there is nothing to protect: the
//! words are ordinary memory then.

use crate::sync::{AtomicU64, Ordering};
use core::ops::Deref;
use std::sync::{Arc, OnceLock};
#[cfg(target_os = "linux")]
use std::thread::JoinHandle;

use crate::error::{PeId, TransportError};

/// Words of the process that made them. In a copy they are 0.
#[derive(Debug)]
pub struct ProcessWords(words::Words);

impl ProcessWords {
    /// `count` words, at least one, at first 0.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: no memory, or a kernel that cannot keep them from
    /// children (Linux before 4.14).
    pub fn new(count: usize) -> Result<Self, TransportError> {
        words::Words::new(count.max(1)).map(Self)
    }

    /// As [`new`](Self::new), under an emulator that ignores the advice.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(target_os = "linux")]
    #[doc(hidden)]
    pub fn new_hooked(count: usize) -> Result<Self, TransportError> {
        let mut words = words::Words::new(count.max(1))?;
        words.hook()?;
        Ok(Self(words))
    }

    /// The first of them.
    #[inline(always)]
    pub fn first(&self) -> &AtomicU64 {
        self.0.first()
    }

    /// Whether they are 0 in every copy. Under an emulator that ignores the advice they are 0 only in
    /// children that `fork` makes, not in those of a bare `clone`.
    pub fn are_wiped_by_kernel(&self) -> bool {
        self.0.are_wiped_by_kernel()
    }
}

impl Deref for ProcessWords {
    type Target = [AtomicU64];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU64] {
        self.0.words()
    }
}

#[cfg(target_os = "linux")]
#[path = "fork_guard/wiped.rs"]
mod words;
#[cfg(not(target_os = "linux"))]
#[path = "fork_guard/plain.rs"]
mod words;

/// This process joined the job.
const HERE: u64 = 1;
/// This process joined the job, and was then restored from a checkpoint.
const RESTORED: u64 = 2;

/// The process that joined a job. The check is one load and one compare.
#[derive(Debug, Clone)]
pub struct ForkGuard {
    words: Arc<ProcessWords>,
    pe: PeId,
    process: u32,
}

/// The first of a process.
static FIRST: OnceLock<ForkGuard> = OnceLock::new();

impl ForkGuard {
    /// This process, as PE `pe` of a job.
    ///
    /// # Errors
    /// As [`ProcessWords::new`].
    pub fn new(pe: PeId) -> Result<Self, TransportError> {
        let words = ProcessWords::new(1)?;
        words.first().store(HERE, Ordering::Relaxed);
        let fork_guard = Self {
            words: Arc::new(words),
            pe,
            process: std::process::id(),
        };
        Ok(fork_guard)
    }

    /// Remembers it for [`process_has_joined_none`](Self::process_has_joined_none).
    pub fn remember(&self) {
        let _ = FIRST.set(self.clone());
    }

    /// An error in a copy of a process that has [joined](Self::remember) a job: it has the
    /// descriptors of that process and would send in its name.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn process_has_joined_none() -> Result<(), TransportError> {
        FIRST.get().map_or(Ok(()), Self::check)
    }

    /// Whether this process is the one that joined.
    #[inline(always)]
    pub fn is_here(&self) -> bool {
        self.words.first().load(Ordering::Relaxed) == HERE
    }

    /// An error if it is not.
    ///
    /// # Errors
    /// [`TransportError::Forked`], [`TransportError::Restored`].
    #[inline(always)]
    pub fn check(&self) -> Result<(), TransportError> {
        match self.is_here() {
            true => Ok(()),
            false => Err(self.refusal()),
        }
    }

    /// The error that says why this process may not use the job.
    #[cold]
    #[inline(never)]
    pub fn refusal(&self) -> TransportError {
        let &Self { pe, process, .. } = self;
        match self.words.first().load(Ordering::Relaxed) {
            RESTORED => TransportError::Restored { pe },
            _ => TransportError::Forked { pe, process },
        }
    }

    /// Ends a thread that serves the wire of this PE: `stop` tells it to end. In a copy of the process
    /// this does nothing: the thread belongs to the original. Returns whether this is the original
    /// process.
    #[cfg(target_os = "linux")]
    pub fn end_thread(&self, thread: &mut Option<JoinHandle<()>>, stop: impl FnOnce()) -> bool {
        let thread = thread.take();
        if !self.is_here() {
            core::mem::forget(thread);
            return false;
        }
        stop();
        // The thread has no result.
        let _ = thread.map(JoinHandle::join);
        true
    }

    /// There are signs that this process was restored from a checkpoint: from now on it may
    /// not use the job either.
    pub fn was_restored(&self) {
        self.words.first().store(RESTORED, Ordering::Relaxed);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::conformance::copies::{Copying, in_copy};

    #[test]
    fn every_kind_of_copy_finds_zeros_and_the_first_its_words() {
        let words = ProcessWords::new(1000).unwrap();
        let fork_guard = ForkGuard::new(7).unwrap();
        words[999].store(5, Ordering::Relaxed);
        for &how in Copying::kinds() {
            let status = in_copy(how, || {
                let wiped = words.iter().all(|word| word.load(Ordering::Relaxed) == 0);
                let expected = TransportError::Forked {
                    pe: 7,
                    process: std::os::unix::process::parent_id(),
                };
                i32::from(!(wiped && fork_guard.check() == Err(expected)))
            });
            assert_eq!(status, Ok(0), "{how:?}");
            assert_eq!(words[999].load(Ordering::Relaxed), 5);
            assert_eq!(fork_guard.check(), Ok(()));
        }
    }

    #[test]
    fn a_child_of_a_child_finds_zeros_as_well() {
        let fork_guard = ForkGuard::new(0).unwrap();
        let status = in_copy(Copying::Fork, || {
            in_copy(Copying::Clone, || i32::from(fork_guard.is_here())).unwrap_or(9)
        });
        assert_eq!(status, Ok(0));
    }
}
