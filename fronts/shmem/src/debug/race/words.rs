//! Knowledge that words carry: flags, signals and atomics.
//!
//! Every small put, atomic and signal to a word is an event with the knowledge of its PE and
//! the new value. A PE that sees this value learns the knowledge behind it: that of all
//! events back to the last one that replaced the old value.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::clock::{Clock, Epoch, Who};

/// Events that are kept of a word; what is behind older ones is kept as one.
const EVENTS_MAX: usize = 32;

/// The knowledge that a thread of a PE makes known.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) who: Who,
    /// Its operations up to here are known.
    pub(super) passed: Epoch,
    /// Its knowledge about others, and which of its own operations were complete.
    pub(super) clock: Arc<Clock>,
    /// By context and epochs: further operations that are complete at the PE of the
    /// word.
    pub(super) delivered: Vec<(u16, Epoch, Epoch)>,
}

impl Release {
    /// Adds it to the knowledge of a PE; the word belongs to `owner`.
    pub(super) fn add_to(&self, known: &mut Clock, owner: u32) -> bool {
        let mut news = known.join(&self.clock);
        news |= known.pass(self.who, self.passed);
        for &(slot, first, last) in &self.delivered {
            for (who, passed) in self.clock.before(self.who, last) {
                news |= known.deliver(who, (slot, owner), (first, last.min(passed)));
            }
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
    /// Whether the knowledge behind the old value is also behind this one.
    inherits: bool,
}

#[derive(Debug, Default)]
struct Word {
    events: VecDeque<Event>,
    /// The knowledge behind the first of them, if it inherits.
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
            // Events before a value that all PEs know cannot be seen any more; the next
            // wait removes them.
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

    /// The knowledge behind the present value.
    pub(super) fn present(&self, offset: usize, known: &mut Clock, owner: u32) {
        if let Some(word) = self.0.get(&offset)
            && let Some(last) = word.events.len().checked_sub(1)
        {
            word.chain(last, known, owner);
        }
    }

    /// The knowledge behind the value that ended a wait by `who`, which has `known`: the
    /// first value that can have ended it. The value that the wait has really seen depends on
    /// timing.
    pub(super) fn seen(
        &self,
        (offset, size): (usize, u8),
        known: &mut Clock,
        who: Who,
        ends_it: &dyn Fn(u64) -> bool,
    ) {
        let Some(word) = self.0.get(&offset) else {
            return;
        };
        let is_old = |event: &Event| {
            let by = event.release.who;
            by == who || event.release.passed <= known.passed(by)
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
            word.chain(found, known, who.pe);
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

    const ME: Who = Who { pe: 0, thread: 0 };
    const ONE: Who = Who { pe: 1, thread: 0 };
    const TWO: Who = Who { pe: 2, thread: 0 };

    fn release(pe: u32, passed: Epoch) -> Release {
        Release {
            who: Who::first(pe),
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
        words.seen((8, 8), &mut known, ME, &|value| value >= 1);
        assert_eq!((known.passed(ONE), known.passed(TWO)), (5, 0));
        assert!(known.is_complete(ONE, 0, 5, 0) && !known.is_complete(ONE, 0, 5, 1));
        // The next wait asks for more, and gets the sum.
        let mut known = Clock::new(4);
        words.seen((8, 8), &mut known, ME, &|value| value >= 2);
        assert_eq!((known.passed(ONE), known.passed(TWO)), (5, 6));
    }

    #[test]
    fn a_value_that_is_set_hides_what_was_there() {
        let mut words = Words::default();
        put(&mut words, 1, 5, 1, true);
        put(&mut words, 2, 6, 9, false);
        let mut known = Clock::new(4);
        words.present(8, &mut known, 0);
        assert_eq!((known.passed(ONE), known.passed(TWO)), (0, 6));
    }

    #[test]
    fn a_flag_that_was_reset_in_between_is_a_new_one() {
        let mut words = Words::default();
        put(&mut words, 1, 5, 1, false);
        let mut known = Clock::new(4);
        words.seen((8, 8), &mut known, ME, &|value| value == 1);
        // The program stores 0, which no PE sees, and the flag is set once more.
        put(&mut words, 1, 9, 1, false);
        words.seen((8, 8), &mut known, ME, &|value| value == 1);
        assert_eq!(known.passed(ONE), 9);
        // Once more, with nothing new.
        words.seen((8, 8), &mut known, ME, &|value| value == 1);
        assert_eq!(known.passed(ONE), 9);
    }

    #[test]
    fn what_was_added_here_does_not_hide_what_others_added() {
        let mut words = Words::default();
        put(&mut words, 1, 5, 1, true);
        put(&mut words, 0, 3, 2, true);
        let mut known = Clock::new(4);
        words.seen((8, 8), &mut known, ME, &|value| value >= 2);
        assert_eq!(known.passed(ONE), 5);
    }

    #[test]
    fn a_thread_learns_of_what_another_thread_of_its_pe_put() {
        let mut words = Words::default();
        put(&mut words, 0, 5, 1, true);
        let mut known = Clock::new(4);
        let other = Who { thread: 2, ..ME };
        words.seen((8, 8), &mut known, other, &|value| value == 1);
        assert_eq!(known.passed(ME), 5);
    }

    #[test]
    fn many_events_are_kept_as_one() {
        let mut words = Words::default();
        for epoch in 1..=100 {
            put(&mut words, 1 + (epoch % 3) as u32, epoch, epoch, true);
        }
        let mut known = Clock::new(4);
        words.present(8, &mut known, 0);
        assert_eq!(
            [1, 2, 3].map(|pe| known.passed(Who::first(pe))),
            [99, 100, 98]
        );
        assert!(words.0[&8].events.len() <= EVENTS_MAX);
    }
}
