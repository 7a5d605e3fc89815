//! The history of a value: a load that is executed early finds an earlier value.

use std::collections::VecDeque;

/// How far back an early load can reach.
const ENTRIES_MAX: usize = 24;

/// The values of one location, each with the step from which it holds.
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

    /// The value at `time`; if that has been forgotten, the oldest known value.
    pub(super) fn at(&self, time: u64) -> &T {
        let entry = self.0.iter().rev().find(|(from, _)| *from <= time);
        &entry.unwrap_or(&self.0[0]).1
    }

    /// The earliest step at which it is known.
    pub(super) fn begin(&self) -> u64 {
        self.0[0].0
    }
}
