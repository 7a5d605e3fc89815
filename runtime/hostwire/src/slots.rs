//! The slots for teams that this PE has in use: see [`core`](crate::core).

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::layout::SLOTS;

/// The slot of the team of all PEs.
pub const WORLD: usize = 0;
/// The slot of the PEs that share memory.
pub const SHARED: usize = 1;
/// The slot of all PEs for leaving the job. It is not that of the world: a PE that is still
/// in a barrier of the world must not mistake the last barrier for it, but must see that a
/// member is leaving.
pub const LEAVING: usize = 2;
const RESERVED: u64 = 1 << WORLD | 1 << SHARED | 1 << LEAVING;

/// What flags hold before the first barrier of the first team that uses them.
pub(crate) const UNUSED: u64 = 1;

/// Which slots this PE has in use.
#[derive(Debug)]
pub struct Slots(Mutex<Used>);

/// What of them is in use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    /// A bit each.
    pub(crate) slots: [u64; SLOTS / 64],
    /// The highest stamp of all teams that were given up.
    pub(crate) newest: u64,
}

impl Default for Slots {
    fn default() -> Self {
        let mut slots = [0; SLOTS / 64];
        slots[0] = RESERVED;
        Self(Mutex::new(Used {
            slots,
            newest: UNUSED,
        }))
    }
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `slot` was free; it no longer is.
    pub(crate) fn take(&self, slot: usize) -> bool {
        let used = &mut *self.lock();
        let (word, bit) = (&mut used.slots[slot / 64], 1 << (slot % 64));
        let was_free = *word & bit == 0;
        *word |= bit;
        was_free
    }

    /// `newest` is the highest stamp that a team with it has used.
    pub(crate) fn give_back(&self, slot: usize, newest: u64) {
        let used = &mut *self.lock();
        used.slots[slot / 64] &= !(1 << (slot % 64));
        used.newest = used.newest.max(newest);
    }

    /// A copy of what is in use.
    pub(crate) fn used(&self) -> Used {
        *self.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_taken_once_and_come_back() {
        let slots = Slots::default();
        assert!(!slots.take(LEAVING) && slots.take(3) && !slots.take(3) && slots.take(255));
        slots.give_back(3, 70);
        slots.give_back(255, 50);
        assert_eq!(slots.used().newest, 70);
        assert!(slots.take(3) && slots.take(255));
    }
}
