//! Which locks of the job threads of this PE hold.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use hostwire_transport::PeId;

/// Locks that this PE holds or waits for. The queue of a lock contains PEs, so one thread of the PE at a time has the
/// *turn*.
#[derive(Debug, Default)]
pub(crate) struct HeldLocks {
    /// By the lock's offset in the segment.
    turns: Mutex<HashMap<usize, Turn>>,
    returned: Condvar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// A thread holds the lock, or waits for it.
    Used,
    Left(Queued),
}

/// The place of this PE in the queue of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queued {
    /// In the queue; the PE in front does not know it yet.
    Behind(PeId),
    /// The PE in front knows, and will pass the lock on.
    Known(PeId),
    /// This PE has the lock: giving it back has failed.
    Held,
}

impl HeldLocks {
    /// Waits until no other thread of this PE has the turn, and takes it. Without `waits`, `None` if another thread has
    /// it. Returns the place of the PE in the queue, if a thread gave up while it waited there.
    pub(crate) fn take_turn(&self, offset_bytes: usize, waits: bool) -> Option<Option<Queued>> {
        let mut turns = self.turns();
        loop {
            match turns.get(&offset_bytes).copied() {
                Some(Turn::Used) if !waits => return None,
                Some(Turn::Used) => {
                    let woken = self.returned.wait(turns);
                    turns = woken.unwrap_or_else(PoisonError::into_inner);
                }
                free => {
                    turns.insert(offset_bytes, Turn::Used);
                    return Some(match free {
                        Some(Turn::Left(queued)) => Some(queued),
                        _ => None,
                    });
                }
            }
        }
    }

    /// Gives the turn to another thread; the PE stays in the queue.
    pub(crate) fn leave_turn(&self, offset_bytes: usize, queued: Queued) {
        self.turns().insert(offset_bytes, Turn::Left(queued));
        self.returned.notify_all();
    }

    /// Ends the turn: the PE is not in the queue any more.
    pub(crate) fn end_turn(&self, offset_bytes: usize) {
        self.turns().remove(&offset_bytes);
        self.returned.notify_all();
    }

    /// Whether a thread of this PE has it, or waits for it.
    pub(crate) fn contains(&self, offset_bytes: usize) -> bool {
        self.turns().get(&offset_bytes) == Some(&Turn::Used)
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<usize, Turn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
