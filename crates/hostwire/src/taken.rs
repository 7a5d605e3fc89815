//! Which locks of the job threads of this PE hold.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// Locks that threads of this PE hold or wait for, because the queue has PEs only.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Where in the segment they are.
    offsets: Mutex<HashSet<usize>>,
    returned: Condvar,
}

impl Taken {
    /// Waits until no other thread of this PE has the lock, or returns whether that is so.
    pub(crate) fn take_turn(&self, offset_bytes: usize, waits: bool) -> bool {
        let mut taken = self.offsets.lock().unwrap_or_else(PoisonError::into_inner);
        while !taken.insert(offset_bytes) {
            if !waits {
                return false;
            }
            let woken = self.returned.wait(taken);
            taken = woken.unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// The lock is another thread's again.
    pub(crate) fn end_turn(&self, offset_bytes: usize) {
        let mut taken = self.offsets.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(&offset_bytes);
        self.returned.notify_all();
    }

    /// Whether a thread of this PE has it, or waits for it.
    pub(crate) fn contains(&self, offset_bytes: usize) -> bool {
        let taken = self.offsets.lock().unwrap_or_else(PoisonError::into_inner);
        taken.contains(&offset_bytes)
    }
}
