//! The event queue: a total order, and a cost that hardly grows with the events that wait.
//!
//! A heap of all events is slow once it outgrows the caches: a machine of 512 nodes has tens of thousands of events
//! under way. So events lie unsorted in slots of half a nanosecond each, and a slot is sorted when it is its turn (a
//! calendar queue). One heap holds events that come into the slot at work, and all events while there are few. A second
//! heap holds events beyond all slots.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::id::{ComponentId, Priority};
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

    #[inline]
    pub(super) fn new(priority: Priority, source: ComponentId, sequence: u64) -> Tie {
        debug_assert!(sequence < 1 << Self::SEQUENCE_BITS);
        debug_assert!(source.0 <= ComponentId::EXTERNAL.0);
        Tie((priority as u64) << 62 | u64::from(source.0) << Self::SEQUENCE_BITS | sequence)
    }

    #[inline]
    pub(super) fn source(self) -> ComponentId {
        ComponentId((self.0 >> Self::SEQUENCE_BITS) as u32 & ComponentId::EXTERNAL.0)
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

    #[inline]
    fn slot(&self) -> u64 {
        self.time.0 >> SLOT_BITS
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

/// A slot holds 2^9 ps: of events that come some 50 ns later, a hundredth.
const SLOT_BITS: u32 = 9;
/// Slots, a power of two: half a microsecond.
const SLOTS: u64 = 1024;
/// With fewer events than this, all are in the heap, which is then faster.
const FEW: usize = 64;
/// No slot.
const NEVER: u64 = u64::MAX;

pub(super) struct Queue<M> {
    /// The slot at work, sorted; its first event is the last element.
    run: Vec<Entry<M>>,
    /// Events that came when their slot was at work or before it, or while there were few.
    near: BinaryHeap<Entry<M>>,
    /// Slot number modulo [`SLOTS`] to the events in it.
    slots: Vec<Vec<Entry<M>>>,
    /// A bit for each slot that holds events.
    occupied: [u64; (SLOTS / 64) as usize],
    /// Buffers of slots that are empty; the one used last is likely still in a cache.
    buffers: Vec<Vec<Entry<M>>>,
    /// Events beyond the slots.
    far: BinaryHeap<Entry<M>>,
    /// Events in all.
    len: usize,
    /// Slot of the event that was taken last: no earlier one comes.
    current: u64,
    /// First slot with events in `slots` or `far`, or [`NEVER`]. An event of `run` or `near`
    /// comes before it, if there are events at all.
    next: u64,
}

impl<M> Queue<M> {
    pub(super) fn new() -> Self {
        Queue {
            run: Vec::new(),
            near: BinaryHeap::with_capacity(1024),
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            occupied: [0; (SLOTS / 64) as usize],
            buffers: Vec::new(),
            far: BinaryHeap::new(),
            len: 0,
            current: 0,
            next: NEVER,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry<M>) {
        self.len += 1;
        if self.len <= FEW || entry.slot() <= self.first().map_or(NEVER, Entry::slot) {
            self.near.push(entry);
        } else {
            self.push_later(entry);
        }
    }

    fn push_later(&mut self, entry: Entry<M>) {
        let slot = entry.slot();
        self.next = self.next.min(slot);
        if slot - self.current >= SLOTS {
            self.far.push(entry);
            return;
        }
        let at = (slot % SLOTS) as usize;
        let bit = 1 << (at % 64);
        if self.occupied[at / 64] & bit == 0 {
            self.occupied[at / 64] |= bit;
            self.slots[at] = self.buffers.pop().unwrap_or_default();
        }
        self.slots[at].push(entry);
    }

    /// The first of all.
    #[inline]
    fn first(&self) -> Option<&Entry<M>> {
        match (self.run.last(), self.near.peek()) {
            (Some(run), Some(near)) if near.key() < run.key() => Some(near),
            (None, near) => near,
            (run, _) => run,
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<M>> {
        let entry = match (self.run.last(), self.near.peek()) {
            (Some(run), Some(near)) if near.key() < run.key() => self.near.pop()?,
            (None, _) => self.near.pop()?,
            _ => self.run.pop()?,
        };
        self.len -= 1;
        self.current = entry.slot();
        if self.next != NEVER && self.first().is_none_or(|first| first.slot() >= self.next) {
            self.fill();
        }
        Some(entry)
    }

    /// Takes the events of the next slot into `run`.
    fn fill(&mut self) {
        let slot = self.next;
        let at = (slot % SLOTS) as usize;
        let bit = 1 << (at % 64);
        if slot - self.current < SLOTS && self.occupied[at / 64] & bit != 0 {
            self.occupied[at / 64] &= !bit;
            let mut buffer = std::mem::take(&mut self.slots[at]);
            if self.run.is_empty() {
                std::mem::swap(&mut self.run, &mut buffer);
            }
            self.run.append(&mut buffer);
            self.buffers.push(buffer);
        }
        while let Some(first) = self.far.peek()
            && first.slot() == slot
        {
            self.run.extend(self.far.pop());
        }
        // As entries are ordered, the earliest is the greatest. No two are equal.
        self.run.sort_unstable();
        let far = self.far.peek().map_or(NEVER, Entry::slot);
        self.next = self.next_occupied().min(far);
    }

    /// The first slot from `current` on that holds events.
    fn next_occupied(&self) -> u64 {
        let words = self.occupied.len();
        let from = (self.current % SLOTS) as usize;
        // The word of `current` comes first without the bits before it and last with only them.
        for step in 0..=words {
            let word = (from / 64 + step) % words;
            let before = (1_u64 << (from % 64)) - 1;
            let bits = match step {
                0 => self.occupied[word] & !before,
                _ if step == words => self.occupied[word] & before,
                _ => self.occupied[word],
            };
            if bits != 0 {
                let at = (word * 64) as u64 + u64::from(bits.trailing_zeros());
                return self.current + (at + SLOTS - from as u64) % SLOTS;
            }
        }
        NEVER
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<Ps> {
        self.first().map(|entry| entry.time)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(time: u64, number: u64) -> Entry<u64> {
        Entry {
            time: Ps(time),
            tie: Tie::new(Priority::Normal, ComponentId(number as u32 % 5), number),
            target: ComponentId(0),
            event: number,
        }
    }

    fn delay() -> impl Strategy<Value = u64> {
        prop_oneof![
            3 => Just(0u64),
            6 => 1u64..60_000,
            1 => 500_000u64..3_000_000,
            1 => 1_000_000_000u64..100_000_000_000,
        ]
    }

    proptest! {
        /// Against a sorted list: many events under way, at all distances, in any mixture of
        /// pushes and pops, across the end of the slots and over long pauses.
        #[test]
        fn pops_in_order(steps in prop::collection::vec((delay(), 0u8..4), 1..1000)) {
            let mut queue = Queue::new();
            let mut oracle = std::collections::BTreeSet::new();
            let mut now = 0;
            for (number, (delay, pops)) in steps.into_iter().enumerate() {
                let new = entry(now + delay, number as u64);
                oracle.insert((new.time, new.tie, new.event));
                queue.push(new);
                // Fewer pops than pushes for a while: the queue grows, then it is emptied.
                let pops = if number % 500 < 400 { pops / 3 } else { 5 };
                for _ in 0..pops {
                    prop_assert_eq!(queue.peek(), oracle.first().map(|(time, ..)| *time));
                    let got = queue.pop().map(|got| (got.time, got.tie, got.event));
                    prop_assert_eq!(got, oracle.pop_first());
                    now = got.map_or(now, |(time, ..)| time.0);
                }
                prop_assert_eq!(queue.len(), oracle.len());
            }
            while let Some(want) = oracle.pop_first() {
                let got = queue.pop().map(|got| (got.time, got.tie, got.event));
                prop_assert_eq!(got, Some(want));
            }
            prop_assert!(queue.pop().is_none());
        }
    }
}
