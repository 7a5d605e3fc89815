//! Whether bytes that another core takes out soon are [staged](crate::Memory::copy_in_staged), or copied as others are.
//!
//! Which is faster depends on the processor, and on how far the two cores are from each other, which a hypervisor may change
//! at any time. On one processor, messages of 64 KiB between far cores took 0.6 of the time when they were staged; on
//! another one those of 16 KiB between near cores took three times as long. A copy into the memory takes the same time in both
//! ways, so its sender cannot know. The copy out of it does not. So now and then the sender copies one message the other way, and
//! the receiver measures how long it takes to copy out that one and the next. `docs/decisions/2026-11-29-copies-by-measurement.md`
//! has figures.

use std::time::{Duration, Instant};

/// One message in so many is copied the other way. A power of two. Fitted.
const TRIED_EVERY: u32 = 128;
/// The first one that is, and one more at the beginning.
const TRIED_FIRST: u32 = 8;
const TRIED_SECOND: u32 = 16;

/// Of the side that says how bytes are copied: which messages are copied the other way.
#[derive(Debug, Default)]
pub struct Trials {
    messages: u32,
}

impl Trials {
    /// Whether the next message is staged. `wanted`: whether messages are, but for trials.
    #[inline(always)]
    pub fn next(&mut self, wanted: bool) -> bool {
        self.messages = self.messages.wrapping_add(1);
        let is_trial = self.messages % TRIED_EVERY == TRIED_FIRST;
        wanted ^ (is_trial | (self.messages == TRIED_SECOND))
    }
}

/// Of the side that copies out: what it has measured.
#[derive(Debug)]
pub struct Choice {
    wanted: bool,
    /// Whether the last message was staged.
    last: bool,
    /// Picoseconds of a byte: ordinary, staged. 0 until it is known.
    seen: [u64; 2],
    /// The other way was faster when it was last tried.
    is_doubted: bool,
}

impl Choice {
    /// `wanted`: which way is taken until both were measured.
    pub fn new(wanted: bool) -> Self {
        Self {
            wanted,
            last: wanted,
            seen: [0; 2],
            is_doubted: false,
        }
    }

    /// Whether messages are to be staged.
    #[inline(always)]
    pub fn is_staged(&self) -> bool {
        self.wanted
    }

    /// Whether this message is to be measured: it goes another way than the last one, or the first of its way.
    #[inline(always)]
    pub fn is_new(&self, is_staged: bool) -> bool {
        is_staged != self.last
    }

    /// Does `copy`, which copies out `bytes` bytes of a message, and notes how long it took if the message is [new](Self::is_new).
    #[inline(always)]
    pub fn watch<R>(&mut self, is_staged: bool, bytes: usize, copy: impl FnOnce() -> R) -> R {
        let since = self.is_new(is_staged).then(Instant::now);
        let done = copy();
        if let Some(since) = since {
            // Always the same where tests repeat what they have done.
            let took = match cfg!(any(loom, miri, memory_model)) {
                true => Duration::ZERO,
                false => since.elapsed(),
            };
            self.note(is_staged, bytes, took);
        }
        done
    }

    /// Copying out `bytes` bytes of a message that is [new](Self::is_new) took so long.
    pub fn note(&mut self, is_staged: bool, bytes: usize, took: Duration) {
        self.last = is_staged;
        let picoseconds = took.as_nanos() as u64 * 1000;
        self.seen[usize::from(is_staged)] = (picoseconds / bytes.max(1) as u64).max(1);
        let [ordinary, staged] = self.seen;
        let (now, other) = match self.wanted {
            true => (staged, ordinary),
            false => (ordinary, staged),
        };
        // A trial is over when the wanted way is back. Not for a little, and not for one trial, which may have been disturbed.
        if is_staged == self.wanted && other > 0 {
            let is_slower = other + other / 8 < now;
            self.wanted ^= is_slower & self.is_doubted;
            self.is_doubted = is_slower & !self.is_doubted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Duration = Duration::from_micros(1);

    #[test]
    fn one_message_in_many_goes_the_other_way() {
        for wanted in [false, true] {
            let mut trials = Trials::default();
            let others = (1..=1024).filter(|_| trials.next(wanted) != wanted);
            assert_eq!(others.count(), 9);
        }
    }

    #[test]
    fn the_faster_way_is_wanted_when_both_are_known() {
        let mut choice = Choice::new(false);
        assert!(!choice.is_new(false) && choice.is_new(true));
        for is_wanted in [false, true] {
            choice.note(true, 1000, US);
            assert!(!choice.is_staged() && choice.is_new(false));
            choice.note(false, 1000, 2 * US);
            assert_eq!(choice.is_staged(), is_wanted);
        }
        // Per byte.
        for is_wanted in [true, false] {
            choice.note(false, 2000, US);
            assert!(choice.is_staged());
            choice.note(true, 4000, 3 * US);
            assert_eq!(choice.is_staged(), is_wanted);
        }
    }

    #[test]
    fn a_little_faster_is_not_enough() {
        let mut choice = Choice::new(true);
        for _ in 0..4 {
            choice.note(false, 1000, 9 * US);
            choice.note(true, 1000, 10 * US);
            assert!(choice.is_staged());
        }
    }

    #[test]
    fn one_trial_that_was_disturbed_changes_nothing() {
        let mut choice = Choice::new(false);
        for took_us in [9, 1, 9, 1] {
            choice.note(true, 1000, 3 * US);
            choice.note(false, 1000, took_us * US);
            assert!(!choice.is_staged());
        }
    }
}
