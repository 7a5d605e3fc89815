//! Which PEs begin to use something of a PE that each of many might use: its ring, or its agent.
//!
//! A PE of a large job cannot look at something of all others each time that it waits. So a PE that begins says so, once, by three words
//! in the memory of the other one:
//!
//! | word | how many | |
//! |---|---|---|
//! | of the PE | one each | never taken back |
//! | of its group | one for 256 PEs | taken back by the owner, before it looks at the words of the group |
//! | of all | one | taken back by the owner, before it looks at the words of groups |
//!
//! The owner looks at one word while nobody begins, however many PEs there are.
//!
//! All who store the word of a group, or that of all, store the same value; so it does not matter that they are several. The owner may store
//! its 0 over such a value that it has not seen. Then that PE has stored the word before it, on the level below, and the owner looks there
//! afterwards: each side has a fence between its two steps, and on a wire a word is never seen before an earlier one of the same PE.

use crate::error::PeId;
use crate::sync::{Ordering, fence};

/// PEs of a group: a look at the words of a group is about as long as one at those of all groups of the largest job.
const GROUP: usize = 256;
const WORD_BYTES: usize = 8;
/// What is stored.
const HERE: u64 = 1;

/// Where in a segment these words are. See the [module text](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Newcomers {
    offset_bytes: usize,
    pes: usize,
}

impl Newcomers {
    /// Those of `pes` PEs, [`bytes`](Self::bytes) bytes from `offset_bytes` on, which are 0 at first.
    pub fn new(offset_bytes: usize, pes: u32) -> Self {
        Self {
            offset_bytes,
            pes: pes as usize,
        }
    }

    /// Bytes of all words.
    pub fn bytes(pes: u32) -> usize {
        let pes = pes as usize;
        (1 + pes.div_ceil(GROUP) + pes) * WORD_BYTES
    }

    fn of_group(&self, group: usize) -> usize {
        self.offset_bytes + (1 + group) * WORD_BYTES
    }

    fn of_pe(&self, pe: usize) -> usize {
        self.of_group(self.pes.div_ceil(GROUP) + pe)
    }

    /// Says that `pe` begins: `store` stores a value in the word at an offset of the segment, after all that was stored there before.
    ///
    /// # Errors
    /// Those of `store`.
    pub fn say<E>(
        &self,
        pe: PeId,
        mut store: impl FnMut(usize, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let pe = pe as usize;
        store(self.of_pe(pe), HERE)?;
        fence(Ordering::SeqCst);
        store(self.of_group(pe / GROUP), HERE)?;
        fence(Ordering::SeqCst);
        store(self.offset_bytes, HERE)
    }

    /// Looks who has begun: `load` and `store` reach words of the own segment. `found` is called for PEs that have begun, for some of them
    /// again.
    ///
    /// # Errors
    /// Those of `load` and `store`.
    #[inline]
    pub fn look<E>(
        &self,
        load: impl Fn(usize) -> Result<u64, E>,
        store: impl Fn(usize, u64) -> Result<(), E>,
        found: impl FnMut(PeId),
    ) -> Result<(), E> {
        match load(self.offset_bytes)? {
            0 => Ok(()),
            _ => self.look_at_all(&load, &store, found),
        }
    }

    #[cold]
    fn look_at_all<E>(
        &self,
        load: &dyn Fn(usize) -> Result<u64, E>,
        store: &dyn Fn(usize, u64) -> Result<(), E>,
        mut found: impl FnMut(PeId),
    ) -> Result<(), E> {
        store(self.offset_bytes, 0)?;
        fence(Ordering::SeqCst);
        let mut groups = Vec::new();
        for group in 0..self.pes.div_ceil(GROUP) {
            if load(self.of_group(group))? != 0 {
                store(self.of_group(group), 0)?;
                groups.push(group);
            }
        }
        fence(Ordering::SeqCst);
        for group in groups {
            for pe in (group * GROUP..self.pes).take(GROUP) {
                if load(self.of_pe(pe))? != 0 {
                    found(pe as PeId);
                }
            }
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::convert::Infallible;

    use super::*;

    /// The words of an owner, and how many were looked at.
    struct Words {
        words: RefCell<Vec<u64>>,
        loads: Cell<usize>,
    }

    impl Words {
        fn of(pes: u32) -> (Self, Newcomers) {
            let words = vec![0; Newcomers::bytes(pes) / WORD_BYTES];
            let words = Self {
                words: RefCell::new(words),
                loads: Cell::new(0),
            };
            (words, Newcomers::new(0, pes))
        }

        fn store(&self, at: usize, value: u64) -> Result<(), Infallible> {
            self.words.borrow_mut()[at / WORD_BYTES] = value;
            Ok(())
        }

        fn found(&self, newcomers: Newcomers) -> Vec<PeId> {
            let mut all = Vec::new();
            let load = |at: usize| {
                self.loads.set(self.loads.get() + 1);
                Ok(self.words.borrow()[at / WORD_BYTES])
            };
            let store = |at, value| self.store(at, value);
            let Ok(()) = newcomers.look(load, store, |pe| all.push(pe));
            all
        }
    }

    #[test]
    fn each_who_begins_is_found() {
        for pes in [1, 65, 256, 257, 4096, 1 << 16] {
            let (words, newcomers) = Words::of(pes);
            assert_eq!(words.found(newcomers), []);
            for pe in [0, pes / 2, pes - 1] {
                let Ok(()) = newcomers.say(pe, |at, value| words.store(at, value));
                assert!(words.found(newcomers).contains(&pe), "{pe} of {pes}");
                assert_eq!(words.found(newcomers), []);
            }
        }
    }

    #[test]
    fn a_look_costs_the_same_however_many_are_silent() {
        for pes in [65, 1024, 1 << 16] {
            let (words, newcomers) = Words::of(pes);
            let Ok(()) = newcomers.say(7, |at, value| words.store(at, value));
            assert_eq!(words.found(newcomers), [7]);
            words.loads.set(0);
            assert_eq!(words.found(newcomers), []);
            assert_eq!(words.loads.get(), 1, "{pes}");
        }
    }
}

#[cfg(all(test, loom))]
mod model;
