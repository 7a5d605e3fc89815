//! The event queue: a binary heap with a total order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::component::{ComponentId, Priority};
use super::time::Ps;

/// Order among events of one picosecond: priority, source, source sequence,
/// packed so that one comparison of integers decides.
///
/// | bits | field |
/// |---|---|
/// | 63:62 | priority |
/// | 61:44 | source component (262,143 is "injected") |
/// | 43:0 | sequence of that source |
///
/// 2^44 events of one component are six days of simulation at full speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tie(pub(super) u64);

impl Tie {
    const SEQUENCE_BITS: u32 = 44;
    const SOURCE_BITS: u32 = 18;
    pub(super) const SOURCE_MAX: u32 = (1 << Self::SOURCE_BITS) - 1;

    #[inline]
    pub(super) fn new(priority: Priority, source: ComponentId, sequence: u64) -> Tie {
        debug_assert!(sequence < 1 << Self::SEQUENCE_BITS);
        debug_assert!(source.0 <= Self::SOURCE_MAX);
        Tie((priority as u64) << 62 | u64::from(source.0) << Self::SEQUENCE_BITS | sequence)
    }

    #[inline]
    pub(super) fn source(self) -> ComponentId {
        ComponentId((self.0 >> Self::SEQUENCE_BITS) as u32 & Self::SOURCE_MAX)
    }
}

pub(super) struct Entry<M> {
    pub(super) time: Ps,
    pub(super) tie: Tie,
    pub(super) target: ComponentId,
    pub(super) event: M,
}

impl<M> Entry<M> {
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.time.0) << 64 | u128::from(self.tie.0)
    }
}

// Reversed: `BinaryHeap` gives the greatest first, the engine wants the earliest.
impl<M> Ord for Entry<M> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<M> PartialOrd for Entry<M> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> PartialEq for Entry<M> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<M> Eq for Entry<M> {}

pub(super) struct Queue<M> {
    heap: BinaryHeap<Entry<M>>,
}

impl<M> Queue<M> {
    pub(super) fn new() -> Self {
        Queue {
            heap: BinaryHeap::with_capacity(1024),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry<M>) {
        self.heap.push(entry);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<M>> {
        self.heap.pop()
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<Ps> {
        self.heap.peek().map(|entry| entry.time)
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }
}
