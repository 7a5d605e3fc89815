//! Public facts about all PEs of a host: a few words per PE in memory that all share.
//!
//! If each of a thousand PEs stores a fact into the segments of all others, this takes a
//! million stores, and as many pages that have to be mapped. Here each PE stores it once,
//! and others read it when they need it.

use crate::error::{PeId, TransportError};
use crate::memory::Memory;
use crate::sync::{AtomicU64, Ordering};

/// Bytes of the membership per PE.
pub const RECORD_BYTES: usize = 16;

/// A fact about a PE. The caller chooses the values; 0 means that none was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Said by the PE itself.
    Own = 0,
    /// Said by others.
    Others = 8,
}

/// A few words per PE that all PEs of a host may read. See the [module text](self).
#[derive(Debug, Clone)]
pub struct Membership {
    memory: Memory,
}

impl Membership {
    /// The membership of `pes` PEs, zeroed, at the front of `memory`.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if there is not so much.
    pub fn new(memory: Memory, pes: u32) -> Result<Self, TransportError> {
        memory.range(0, pes as usize * RECORD_BYTES)?;
        Ok(Self { memory })
    }

    /// Stores `value` for `pe`. A PE that sees it sees all earlier stores of this PE.
    pub fn say(&self, pe: PeId, entry: Entry, value: u64) {
        if let Some(word) = self.word(pe, entry) {
            word.store(value, Ordering::Release);
        }
    }

    /// The value that was stored for `pe`: 0 if there is no such PE.
    #[inline]
    pub fn said(&self, pe: PeId, entry: Entry) -> u64 {
        self.word(pe, entry)
            .map_or(0, |word| word.load(Ordering::Acquire))
    }

    #[inline]
    fn word(&self, pe: PeId, entry: Entry) -> Option<&AtomicU64> {
        let at = pe as usize * RECORD_BYTES + entry as usize;
        self.memory.word(at).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_one_pe_is_said_of_no_other() {
        let membership = Membership::new(Memory::anonymous(3 * RECORD_BYTES), 3).unwrap();
        membership.say(1, Entry::Own, 7);
        membership.say(2, Entry::Others, 9);
        membership.say(3, Entry::Own, 1);
        let said = |entry| [0, 1, 2, 3, u32::MAX].map(|pe| membership.said(pe, entry));
        assert_eq!(said(Entry::Own), [0, 7, 0, 0, 0]);
        assert_eq!(said(Entry::Others), [0, 0, 9, 0, 0]);
    }

    #[test]
    fn a_roll_that_is_too_short_is_refused() {
        assert!(Membership::new(Memory::anonymous(3 * RECORD_BYTES - 8), 3).is_err());
    }
}
