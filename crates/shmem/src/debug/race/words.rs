//! What becomes known by words: flags, signals and atomics.
//!
//! Every small put, atomic and signal that a word gets is an event with what its PE knew and
//! the value that it left. Who sees that value learns what is behind it: all events down to
//! the last one that put a value in the place of the old one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::clock::{Clock, Epoch};

/// Events that are kept of a word; what is behind older ones is kept as one.
const EVENTS_MAX: usize = 32;

/// What a PE makes known.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) pe: u32,
    /// What it did up to here is known.
    pub(super) passed: Epoch,
    /// What it knew of others, and which of its own operations were complete.
    pub(super) clock: Arc<Clock>,
    /// By context and epochs: what else is complete at the PE of the word.
    pub(super) delivered: Vec<(u16, Epoch, Epoch)>,
}

impl Release {
    /// Adds it to what somebody knows; the word is of `owner`.
    pub(super) fn add_to(&self, known: &mut Clock, owner: u32) -> bool {
        let mut news = known.join(&self.clock);
        news |= known.pass(self.pe, self.passed);
        for &(slot, first, last) in &self.delivered {
            news |= known.deliver(self.pe, (slot, owner), (first, last));
        }
        news
    }
}

#[derive(Debug)]
struct Event {
    release: Release,
    /// `None` if it is not known.
    value: Option<u64>,
    size: u8,
    /// Whether what was behind the old value is behind this one, too.
    inherits: bool,
}

#[derive(Debug, Default)]
struct Word {
    events: VecDeque<Event>,
    /// What is behind the first of them, if that inherits.
    base: Option<Box<Clock>>,
}

impl Word {
    fn chain(&self, from: usize, known: &mut Clock, owner: u32) {
        for event in self.events.range(..=from).rev() {
            event.release.add_to(known, owner);
            if !event.inherits {
                return;
            }
        }
        if let Some(base) = &self.base {
            known.join(base);
        }
    }
}

/// The words of the memory of one PE, by offset.
#[derive(Debug, Default)]
pub(super) struct Words(BTreeMap<usize, Word>);

impl Words {
    /// `size` bytes at `offset` are `value` now.
    pub(super) fn event(
        &mut self,
        offset: usize,
        size: u8,
        (value, inherits): (Option<u64>, bool),
        release: Release,
        owner: u32,
    ) {
        let word = self.0.entry(offset).or_default();
        if !inherits {
            word.base = None;
            // Nobody can see any more what is in front of a value that everybody knows of:
            // but that is for the next wait to find out.
        }
        if word.events.len() == EVENTS_MAX {
            let cut = EVENTS_MAX / 2;
            let mut base = Clock::new(release.clock.pes());
            word.chain(cut - 1, &mut base, owner);
            word.base = Some(Box::new(base));
            word.events.drain(..cut);
        }
        word.events.push_back(Event {
            release,
            value,
            size,
            inherits,
        });
    }

    /// What is behind the present value.
    pub(super) fn present(&self, offset: usize, known: &mut Clock, owner: u32) {
        if let Some(word) = self.0.get(&offset)
            && let Some(last) = word.events.len().checked_sub(1)
        {
            word.chain(last, known, owner);
        }
    }

    /// What is behind the value that ended a wait by `owner`, who knows `known`: the first one
    /// that can have done so. Which one the wait has really seen depends on who was late.
    pub(super) fn seen(
        &self,
        (offset, size): (usize, u8),
        known: &mut Clock,
        owner: u32,
        ends_it: &dyn Fn(u64) -> bool,
    ) {
        let Some(word) = self.0.get(&offset) else {
            return;
        };
        let is_old = |event: &Event| {
            event.release.pe == owner || event.release.passed <= known.passed(event.release.pe)
        };
        let first = word
            .events
            .iter()
            .rposition(is_old)
            .map_or(0, |old| old + 1);
        let fits = |index: &usize| {
            let event = &word.events[*index];
            event.size != size || event.value.is_none_or(ends_it)
        };
        let all = word.events.len();
        let found = (first..all)
            .find(fits)
            .or_else(|| (0..first).rev().find(fits));
        if let Some(found) = found {
            word.chain(found, known, owner);
        }
    }

    pub(super) fn forget(&mut self, start: usize, len: usize) {
        let offsets: Vec<usize> = self
            .0
            .range(start..start + len)
            .map(|(at, _)| *at)
            .collect();
        for offset in offsets {
            self.0.remove(&offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(pe: u32, passed: Epoch) -> Release {
        Release {
            pe,
            passed,
            clock: Arc::new(Clock::new(4)),
            delivered: vec![(0, passed, passed)],
        }
    }

    fn put(words: &mut Words, pe: u32, passed: Epoch, value: u64, inherits: bool) {
        words.event(8, 8, (Some(value), inherits), release(pe, passed), 0);
    }

    #[test]
    fn a_wait_learns_of_the_first_value_that_ends_it() {
        let mut words = Words::default();
        put(&mut words, 1, 5, 1, true);
        put(&mut words, 2, 6, 2, true);
        let mut known = Clock::new(4);
        words.seen((8, 8), &mut known, 0, &|value| value >= 1);
        assert_eq!((known.passed(1), known.passed(2)), (5, 0));
        assert!(known.is_complete(1, 0, 5, 0) && !known.is_complete(1, 0, 5, 1));
        // The next one asks for more, and gets all that was added up.
        let mut known = Clock::new(4);
        words.seen((8, 8), &mut known, 0, &|value| value >= 2);
        assert_eq!((known.passed(1), known.passed(2)), (5, 6));
    }

    #[test]
    fn a_value_that_is_set_hides_what_was_there() {
        let mut words = Words::default();
        put(&mut words, 1, 5, 1, true);
        put(&mut words, 2, 6, 9, false);
        let mut known = Clock::new(4);
        words.present(8, &mut known, 0);
        assert_eq!((known.passed(1), known.passed(2)), (0, 6));
    }

    #[test]
    fn a_flag_that_was_reset_in_between_is_a_new_one() {
        let mut words = Words::default();
        put(&mut words, 1, 5, 1, false);
        let mut known = Clock::new(4);
        words.seen((8, 8), &mut known, 0, &|value| value == 1);
        // The program stores 0, which nobody sees, and the flag is set once more.
        put(&mut words, 1, 9, 1, false);
        words.seen((8, 8), &mut known, 0, &|value| value == 1);
        assert_eq!(known.passed(1), 9);
        // Once more, with nothing new.
        words.seen((8, 8), &mut known, 0, &|value| value == 1);
        assert_eq!(known.passed(1), 9);
    }

    #[test]
    fn what_was_added_here_does_not_hide_what_others_added() {
        let mut words = Words::default();
        put(&mut words, 1, 5, 1, true);
        put(&mut words, 0, 3, 2, true);
        let mut known = Clock::new(4);
        words.seen((8, 8), &mut known, 0, &|value| value >= 2);
        assert_eq!(known.passed(1), 5);
    }

    #[test]
    fn many_events_are_kept_as_one() {
        let mut words = Words::default();
        for epoch in 1..=100 {
            put(&mut words, 1 + (epoch % 3) as u32, epoch, epoch, true);
        }
        let mut known = Clock::new(4);
        words.present(8, &mut known, 0);
        assert_eq!([1, 2, 3].map(|pe| known.passed(pe)), [99, 100, 98]);
        assert!(words.0[&8].events.len() <= EVENTS_MAX);
    }
}
