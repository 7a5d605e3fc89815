//! The knowledge of a PE: the progress of every PE, and which of its operations are
//! complete.
//!
//! A PE counts *epochs*: every operation belongs to the present epoch. An event that makes
//! earlier operations known to others, or completes them, begins the next epoch. An operation
//! that is complete when its routine returns is known by its epoch. An operation that
//! continues belongs to a context (a *slot*), and is known to be complete when a quiet of
//! that context is, or when something that was ordered behind it has been seen at its target.

use super::bytes::{Reader, Writer};

pub(super) type Epoch = u64;

/// The default context.
pub(super) const DEFAULT: u16 = 0;
/// Stores of the program itself: as one more context.
pub(super) const STORES: u16 = 1;
/// Stores of collective operations at other PEs.
pub(super) const COLLECTIVES: u16 = 2;
/// The first context that a program makes.
pub(super) const CREATED: u16 = 3;

/// A set of epochs: inclusive ranges, in order and apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(Epoch, Epoch)>);

impl Ranges {
    /// Returns whether this changes anything.
    pub(super) fn insert(&mut self, first: Epoch, last: Epoch) -> bool {
        if first > last
            || self
                .0
                .iter()
                .any(|(from, to)| *from <= first && last <= *to)
        {
            return false;
        }
        let (mut first, mut last) = (first, last);
        self.0.retain(|&(from, to)| {
            let joins = from <= last.saturating_add(1) && first <= to.saturating_add(1);
            if joins {
                (first, last) = (first.min(from), last.max(to));
            }
            !joins
        });
        let at = self.0.partition_point(|(from, _)| *from < first);
        self.0.insert(at, (first, last));
        true
    }

    pub(super) fn contains(&self, epoch: Epoch) -> bool {
        let after = self.0.partition_point(|(from, _)| *from <= epoch);
        after > 0 && epoch <= self.0[after - 1].1
    }

    /// Drops what is not above `epoch`.
    fn forget_to(&mut self, epoch: Epoch) {
        self.0.retain(|(_, to)| *to > epoch);
    }
}

/// Operations of a context on the memory of one PE that are complete.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Delivered {
    slot: u16,
    to: u32,
    epochs: Ranges,
}

/// The knowledge about one PE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Known {
    /// Operations that were complete at that time are known.
    passed: Epoch,
    /// By slot: what was complete everywhere.
    quiet: Vec<Epoch>,
    delivered: Vec<Delivered>,
}

/// See the [module text](self).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<Known>);

impl Clock {
    pub(super) fn new(pes: u32) -> Self {
        Self(vec![Known::default(); pes as usize])
    }

    pub(super) fn pes(&self) -> u32 {
        self.0.len() as u32
    }

    pub(super) fn passed(&self, pe: u32) -> Epoch {
        self.0[pe as usize].passed
    }

    /// Whether an operation of `pe` on the memory of `to` is complete.
    pub(super) fn is_complete(&self, pe: u32, slot: u16, epoch: Epoch, to: u32) -> bool {
        let known = &self.0[pe as usize];
        let quiet = known.quiet.get(usize::from(slot));
        quiet.is_some_and(|quiet| *quiet >= epoch)
            || known.delivered.iter().any(|delivered| {
                (delivered.slot, delivered.to) == (slot, to) && delivered.epochs.contains(epoch)
            })
    }

    pub(super) fn pass(&mut self, pe: u32, epoch: Epoch) -> bool {
        let known = &mut self.0[pe as usize];
        let is_new = known.passed < epoch;
        known.passed = known.passed.max(epoch);
        is_new
    }

    /// What `pe` did up to `epoch` in this context is complete.
    pub(super) fn quiet(&mut self, pe: u32, slot: u16, epoch: Epoch) -> bool {
        let known = &mut self.0[pe as usize];
        let index = usize::from(slot);
        if known.quiet.len() <= index {
            known.quiet.resize(index + 1, 0);
        }
        if known.quiet[index] >= epoch {
            return false;
        }
        known.quiet[index] = epoch;
        for delivered in known.delivered.iter_mut().filter(|it| it.slot == slot) {
            delivered.epochs.forget_to(epoch);
        }
        known
            .delivered
            .retain(|delivered| !delivered.epochs.0.is_empty());
        true
    }

    /// What `pe` did in these epochs, in this context, to the memory of `to` is complete.
    pub(super) fn deliver(
        &mut self,
        pe: u32,
        (slot, to): (u16, u32),
        (first, last): (Epoch, Epoch),
    ) -> bool {
        let known = &mut self.0[pe as usize];
        let quiet = known.quiet.get(usize::from(slot)).copied().unwrap_or(0);
        if last <= quiet || first > last {
            return false;
        }
        let old = (known.delivered.iter_mut()).find(|it| (it.slot, it.to) == (slot, to));
        match old {
            Some(old) => old.epochs.insert(first, last),
            None => {
                let epochs = Ranges(vec![(first, last)]);
                known.delivered.push(Delivered { slot, to, epochs });
                true
            }
        }
    }

    /// Adds the knowledge of `other`, and returns whether any of it was new.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let mut news = false;
        for (pe, theirs) in (0u32..).zip(&other.0) {
            news |= self.pass(pe, theirs.passed);
            for (slot, epoch) in (0u16..).zip(&theirs.quiet) {
                news |= *epoch > 0 && self.quiet(pe, slot, *epoch);
            }
            for delivered in &theirs.delivered {
                for range in &delivered.epochs.0 {
                    news |= self.deliver(pe, (delivered.slot, delivered.to), *range);
                }
            }
        }
        news
    }

    pub(super) fn write(&self, to: &mut Writer) {
        for known in &self.0 {
            to.number(known.passed);
            to.number(known.quiet.len() as u64);
            known.quiet.iter().for_each(|epoch| to.number(*epoch));
            to.number(known.delivered.len() as u64);
            for delivered in &known.delivered {
                to.number(delivered.slot.into());
                to.number(delivered.to.into());
                to.number(delivered.epochs.0.len() as u64);
                for (first, last) in &delivered.epochs.0 {
                    to.number(*first);
                    to.number(*last);
                }
            }
        }
    }

    pub(super) fn read(from: &mut Reader<'_>, pes: u32) -> Option<Self> {
        let mut clock = Self::new(pes);
        for pe in 0..pes {
            clock.pass(pe, from.number()?);
            for slot in 0..from.number()? {
                clock.quiet(pe, u16::try_from(slot).ok()?, from.number()?);
            }
            for _ in 0..from.number()? {
                let slot = from.small()?;
                let to = from.pe(pes)?;
                for _ in 0..from.number()? {
                    let range = (from.number()?, from.number()?);
                    clock.deliver(pe, (slot, to), range);
                }
            }
        }
        Some(clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_when_they_touch() {
        let mut ranges = Ranges::default();
        assert!(ranges.insert(5, 6) && ranges.insert(1, 2) && ranges.insert(9, 9));
        assert!(!ranges.insert(5, 5));
        assert!(ranges.insert(3, 4));
        assert_eq!(ranges.0, [(1, 6), (9, 9)]);
        assert!(ranges.contains(9) && !ranges.contains(7) && !ranges.contains(10));
        assert!(ranges.contains(1) && ranges.contains(6) && !ranges.contains(0));
        let mut over = ranges.clone();
        assert!(over.insert(6, 12) && !over.insert(2, 12) && !over.insert(3, 2));
        assert_eq!(over.0, [(1, 12)]);
        ranges.forget_to(6);
        assert_eq!(ranges.0, [(9, 9)]);
    }

    #[test]
    fn completion_is_of_a_context_or_of_a_target() {
        let mut clock = Clock::new(3);
        assert!(clock.quiet(1, DEFAULT, 4));
        assert!(clock.is_complete(1, DEFAULT, 4, 0) && !clock.is_complete(1, DEFAULT, 5, 0));
        assert!(!clock.is_complete(1, CREATED, 1, 0));
        assert!(clock.deliver(1, (DEFAULT, 2), (6, 6)));
        assert!(clock.is_complete(1, DEFAULT, 6, 2) && !clock.is_complete(1, DEFAULT, 6, 0));
        assert!(!clock.is_complete(1, DEFAULT, 5, 2));
        assert!(!clock.deliver(1, (DEFAULT, 2), (1, 4)));
        clock.quiet(1, DEFAULT, 7);
        assert!(clock.0[1].delivered.is_empty());
    }

    #[test]
    fn joining_is_news_once() {
        let mut theirs = Clock::new(2);
        theirs.pass(0, 3);
        theirs.quiet(0, CREATED, 2);
        theirs.deliver(0, (DEFAULT, 1), (1, 3));
        let mut ours = Clock::new(2);
        ours.pass(1, 9);
        assert!(ours.join(&theirs) && !ours.join(&theirs));
        assert_eq!((ours.passed(0), ours.passed(1)), (3, 9));
        assert!(ours.is_complete(0, DEFAULT, 2, 1));
    }

    #[test]
    fn a_clock_is_bytes_and_back() {
        let mut clock = Clock::new(3);
        clock.pass(2, 300);
        clock.quiet(0, CREATED + 2, 70);
        clock.deliver(1, (STORES, 2), (1, 1 << 40));
        let mut bytes = Writer::default();
        clock.write(&mut bytes);
        let bytes = bytes.done();
        let mut reader = Reader::new(&bytes);
        assert_eq!(Clock::read(&mut reader, 3), Some(clock));
        assert!(reader.is_empty());
        assert_eq!(Clock::read(&mut Reader::new(&bytes[..5]), 3), None);
    }
}
