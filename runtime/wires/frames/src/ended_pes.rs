//! Which PEs have ended: a table that each host has, and that the others write.
//!
//! | word | |
//! |---|---|
//! | 0 | the PE that ended last, plus 1: a reader that has seen this value need not check the
//! others |
//! | 1 + PE | 0, [`FINISHED`] or [`DIED`] |
//!
//! A host whose PEs share one endpoint tells in this way that one of them has ended. The endpoint
//! of a single PE ends with the PE, which its links show. The words come after all stores of the
//! PE.

use std::collections::HashSet;

use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::memory::Memory;
use hostwire_transport::sync::Ordering;
use hostwire_transport::window::Window;

const WORD_BYTES: usize = 8;
/// In good order.
pub(crate) const FINISHED: u64 = 1;
/// It has not said farewell.
pub(crate) const DIED: u64 = 2;

/// See the [module text](self).
#[derive(Debug, Clone)]
pub(crate) struct EndedPes {
    window: Window,
    pes: u32,
}

/// How a PE has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// In good order.
    Finished,
    /// Otherwise.
    Died,
    /// The word is none that a host writes: it is unknown whether and how the PE has ended.
    Unclear,
}

impl End {
    pub(super) const fn to_word(self) -> u64 {
        match self {
            Self::Finished => FINISHED,
            Self::Died => DIED,
            Self::Unclear => u64::MAX,
        }
    }
}

impl EndedPes {
    /// Bytes of the table of a job.
    pub(crate) const fn bytes(pes: u32) -> usize {
        (pes as usize + 1) * WORD_BYTES
    }

    /// The table in `memory`, as long as [`bytes`](Self::bytes) says.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if that is too short.
    pub(crate) fn new(memory: Memory, pes: u32) -> Result<Self, TransportError> {
        memory.range(0, Self::bytes(pes))?;
        // No PE sleeps on it.
        let window = Window::registered(memory);
        Ok(Self { window, pes })
    }

    /// A table of this process alone.
    ///
    /// # Errors
    /// None: it is long enough.
    pub fn alone(pes: u32) -> Result<Self, TransportError> {
        Self::new(Memory::anonymous(Self::bytes(pes)), pes)
    }

    /// The window for stores of the other hosts.
    pub(crate) const fn window(&self) -> &Window {
        &self.window
    }

    /// Where the word of a PE lies.
    pub(super) const fn offset_of(pe: PeId) -> usize {
        (pe as usize + 1) * WORD_BYTES
    }

    #[inline]
    fn load(&self, at: usize) -> u64 {
        let word = self.window.word(at);
        word.map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// How a PE has ended, if its host or a process here says so.
    #[inline]
    pub(crate) fn end_of(&self, pe: PeId) -> Option<End> {
        match self.load(Self::offset_of(pe)) {
            0 => None,
            FINISHED => Some(End::Finished),
            DIED => Some(End::Died),
            _ => Some(End::Unclear),
        }
    }

    /// A value that changes when a PE ends.
    #[inline]
    pub(crate) fn last(&self) -> u64 {
        self.load(0)
    }

    /// The PEs that have died.
    pub(crate) fn died(&self) -> impl Iterator<Item = PeId> + '_ {
        (0..self.pes).filter(|pe| self.end_of(*pe) == Some(End::Died))
    }

    /// Notes that a PE of another host has ended, as this host has found out.
    pub(crate) fn note(&self, pe: PeId, end: End) {
        if pe >= self.pes || self.end_of(pe).is_some() {
            return;
        }
        for (at, value) in [(Self::offset_of(pe), end.to_word()), (0, u64::from(pe) + 1)] {
            let stored = self.window.put_word_unannounced(at, value);
            debug_assert_eq!(stored, Ok(()));
        }
    }
}

/// The PEs whose death has been reported to waiting threads.
#[derive(Debug, Default)]
pub(super) struct Told {
    pes: HashSet<PeId>,
    /// The last value of [`EndedPes::last`].
    seen_last: u64,
}

impl Told {
    /// The PEs that have died since the last call.
    pub(super) fn news(&mut self, ended: &EndedPes) -> Vec<PeId> {
        let last = ended.last();
        if last == self.seen_last {
            return Vec::new();
        }
        self.seen_last = last;
        ended.died().filter(|pe| self.pes.insert(*pe)).collect()
    }

    /// Whether a PE has died and this has not been reported.
    pub(super) fn is_news(&mut self, ended: &EndedPes, pe: PeId) -> bool {
        ended.end_of(pe) == Some(End::Died) && self.pes.insert(pe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_ended_is_noted() {
        let ended = EndedPes::alone(3).unwrap();
        assert_eq!((ended.last(), ended.end_of(2)), (0, None));
        ended.note(2, End::Died);
        ended.note(0, End::Finished);
        ended.note(3, End::Died);
        assert_eq!(ended.last(), 1);
        assert_eq!(ended.died().collect::<Vec<_>>(), [2]);
        assert_eq!(ended.end_of(0), Some(End::Finished));
        assert_eq!(ended.end_of(3), None, "there is none");
    }

    /// As `docs/link.md` says.
    #[test]
    fn literal_words() {
        let ended = EndedPes::alone(2).unwrap();
        ended.note(1, End::Died);
        let mut bytes = [0; 24];
        ended.window().get(0, &mut bytes).unwrap();
        let words: Vec<u64> = bytes
            .chunks(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words, [2, 0, 2]);
        ended.window().put_word_unannounced(8, 77).unwrap();
        assert_eq!(ended.end_of(0), Some(End::Unclear), "no host says 77");
    }
}
