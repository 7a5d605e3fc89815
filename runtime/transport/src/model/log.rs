//! What was where when: loads that are done early find what was there earlier.

use std::collections::VecDeque;

/// As far back as a load can be early.
const ENTRIES_MAX: usize = 24;

/// The values of one thing, each with the step from which on it holds.
#[derive(Debug, Clone)]
pub(super) struct Log<T>(VecDeque<(u64, T)>);

impl<T: Clone> Log<T> {
    /// It has been `before` from the beginning.
    pub(super) fn new(before: T) -> Self {
        Self(VecDeque::from([(0, before)]))
    }

    /// It is `value` from step `time` on, which is not before the last.
    pub(super) fn push(&mut self, time: u64, value: T) {
        self.0.push_back((time, value));
        if self.0.len() > ENTRIES_MAX {
            self.0.pop_front();
        }
    }

    /// What it was at `time`. If that has been forgotten, the oldest that has not.
    pub(super) fn at(&self, time: u64) -> &T {
        let entry = self.0.iter().rev().find(|(from, _)| *from <= time);
        &entry.unwrap_or(&self.0[0]).1
    }

    /// The earliest step of which it is known.
    pub(super) fn begin(&self) -> u64 {
        self.0[0].0
    }
}
