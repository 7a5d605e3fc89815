//! The knowledge of a PE: the progress of every PE, and which of its operations are
//! complete.
//!
//! A PE counts *epochs*: every operation belongs to the present epoch. An event that makes
//! earlier operations known to others, or completes them, begins the next epoch. An operation
//! that is complete when its routine returns is known by its epoch. An operation that
//! continues belongs to a context (a *slot*), and is known to be complete when a quiet of
//! that context is, or when something that was ordered behind it has been seen at its target.
//!
//! The threads of a PE share the count, but each has knowledge of its own, and is known for itself.

use std::collections::BTreeMap;

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

/// Most threads of a PE that are told apart.
pub(super) const THREADS_MAX: u16 = 512;

/// A thread of a PE. Thread 0 is the first one, and also every thread that the detector does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Who {
    pub(super) pe: u32,
    pub(super) thread: u16,
}

impl Who {
    pub(super) fn first(pe: u32) -> Self {
        Self { pe, thread: 0 }
    }
}

/// The number of a thread in a message.
pub(super) fn read_thread(from: &mut Reader<'_>) -> Option<u16> {
    from.small().filter(|thread| *thread < THREADS_MAX)
}

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

/// The knowledge about one thread.
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
pub(super) struct Clock {
    /// About the first thread of each PE.
    first: Vec<Known>,
    /// About the other threads.
    others: BTreeMap<Who, Known>,
    /// By slot: what fences of the own PE have ordered. Other PEs learn what that delivers.
    fenced: Vec<Epoch>,
}

impl Clock {
    pub(super) fn new(pes: u32) -> Self {
        Self {
            first: vec![Known::default(); pes as usize],
            others: BTreeMap::new(),
            fenced: Vec::new(),
        }
    }

    pub(super) fn pes(&self) -> u32 {
        self.first.len() as u32
    }

    fn about(&self, who: Who) -> Option<&Known> {
        match who.thread {
            0 => self.first.get(who.pe as usize),
            _ => self.others.get(&who),
        }
    }

    fn about_mut(&mut self, who: Who) -> &mut Known {
        match who.thread {
            0 => &mut self.first[who.pe as usize],
            _ => self.others.entry(who).or_default(),
        }
    }

    pub(super) fn passed(&self, who: Who) -> Epoch {
        self.about(who).map_or(0, |known| known.passed)
    }

    /// The threads of the PE of `who`, each with its last epoch that comes before something that `who`
    /// does in `epoch` with this knowledge.
    pub(super) fn before(&self, who: Who, epoch: Epoch) -> impl Iterator<Item = (Who, Epoch)> {
        let of = |thread| Who { thread, ..who };
        let others = self.others.range(of(1)..=of(u16::MAX));
        let others = others.map(|(other, known)| (*other, known.passed));
        core::iter::once((of(0), self.passed(of(0))))
            .chain(others)
            .filter(move |(other, passed)| *other != who && *passed > 0)
            .chain(core::iter::once((who, epoch)))
    }

    pub(super) fn fenced(&self, slot: u16) -> Epoch {
        let fenced = self.fenced.get(usize::from(slot));
        fenced.copied().unwrap_or(0)
    }

    /// A fence of the own PE has ordered what was done in this context up to `epoch`.
    pub(super) fn fence(&mut self, slot: u16, epoch: Epoch) {
        let index = usize::from(slot);
        if self.fenced.len() <= index {
            self.fenced.resize(index + 1, 0);
        }
        self.fenced[index] = self.fenced[index].max(epoch);
    }

    /// Whether an operation of `who` on the memory of `to` is complete.
    pub(super) fn is_complete(&self, who: Who, slot: u16, epoch: Epoch, to: u32) -> bool {
        let Some(known) = self.about(who) else {
            return false;
        };
        let quiet = known.quiet.get(usize::from(slot));
        quiet.is_some_and(|quiet| *quiet >= epoch)
            || known.delivered.iter().any(|delivered| {
                (delivered.slot, delivered.to) == (slot, to) && delivered.epochs.contains(epoch)
            })
    }

    pub(super) fn pass(&mut self, who: Who, epoch: Epoch) -> bool {
        let known = self.about_mut(who);
        let is_new = known.passed < epoch;
        known.passed = known.passed.max(epoch);
        is_new
    }

    /// What `who` did up to `epoch` in this context is complete.
    pub(super) fn quiet(&mut self, who: Who, slot: u16, epoch: Epoch) -> bool {
        let known = self.about_mut(who);
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

    /// What `who` did in these epochs, in this context, to the memory of `to` is complete.
    pub(super) fn deliver(
        &mut self,
        who: Who,
        (slot, to): (u16, u32),
        (first, last): (Epoch, Epoch),
    ) -> bool {
        let known = self.about_mut(who);
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
        let first = (0u32..).map(Who::first).zip(&other.first);
        let others = other.others.iter().map(|(who, known)| (*who, known));
        for (who, theirs) in first.chain(others) {
            news |= self.pass(who, theirs.passed);
            for (slot, epoch) in (0u16..).zip(&theirs.quiet) {
                news |= *epoch > 0 && self.quiet(who, slot, *epoch);
            }
            for delivered in &theirs.delivered {
                for range in &delivered.epochs.0 {
                    news |= self.deliver(who, (delivered.slot, delivered.to), *range);
                }
            }
        }
        // It is no news for other PEs.
        for (slot, epoch) in (0u16..).zip(&other.fenced) {
            self.fence(slot, *epoch);
        }
        news
    }

    pub(super) fn write(&self, to: &mut Writer) {
        self.first.iter().for_each(|known| known.write(to));
        to.number(self.others.len() as u64);
        for (who, known) in &self.others {
            to.number(who.pe.into());
            to.number(who.thread.into());
            known.write(to);
        }
    }

    pub(super) fn read(from: &mut Reader<'_>, pes: u32) -> Option<Self> {
        let mut clock = Self::new(pes);
        for pe in 0..pes {
            clock.read_about(Who::first(pe), from)?;
        }
        for _ in 0..from.number()? {
            let pe = from.pe(pes)?;
            let thread = read_thread(from)?;
            clock.read_about(Who { pe, thread }, from)?;
        }
        Some(clock)
    }

    fn read_about(&mut self, who: Who, from: &mut Reader<'_>) -> Option<()> {
        self.pass(who, from.number()?);
        for slot in 0..from.number()? {
            self.quiet(who, u16::try_from(slot).ok()?, from.number()?);
        }
        for _ in 0..from.number()? {
            let slot = from.small()?;
            let to = from.pe(self.pes())?;
            for _ in 0..from.number()? {
                let range = (from.number()?, from.number()?);
                self.deliver(who, (slot, to), range);
            }
        }
        Some(())
    }
}

impl Known {
    fn write(&self, to: &mut Writer) {
        to.number(self.passed);
        to.number(self.quiet.len() as u64);
        self.quiet.iter().for_each(|epoch| to.number(*epoch));
        to.number(self.delivered.len() as u64);
        for delivered in &self.delivered {
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
        let one = Who::first(1);
        assert!(clock.quiet(one, DEFAULT, 4));
        assert!(clock.is_complete(one, DEFAULT, 4, 0) && !clock.is_complete(one, DEFAULT, 5, 0));
        assert!(!clock.is_complete(one, CREATED, 1, 0));
        assert!(clock.deliver(one, (DEFAULT, 2), (6, 6)));
        assert!(clock.is_complete(one, DEFAULT, 6, 2) && !clock.is_complete(one, DEFAULT, 6, 0));
        assert!(!clock.is_complete(one, DEFAULT, 5, 2));
        assert!(!clock.deliver(one, (DEFAULT, 2), (1, 4)));
        clock.quiet(one, DEFAULT, 7);
        assert!(clock.first[1].delivered.is_empty());
        let other = Who { thread: 3, ..one };
        assert!(!clock.is_complete(other, DEFAULT, 1, 0));
    }

    #[test]
    fn what_comes_before_is_of_all_threads_of_a_pe() {
        let mut clock = Clock::new(2);
        let who = |pe, thread| Who { pe, thread };
        clock.pass(who(1, 0), 5);
        clock.pass(who(1, 2), 7);
        clock.pass(who(1, 4), 3);
        clock.pass(who(0, 1), 9);
        let before: Vec<_> = clock.before(who(1, 4), 11).collect();
        assert_eq!(before, [(who(1, 0), 5), (who(1, 2), 7), (who(1, 4), 11)]);
        let before: Vec<_> = clock.before(who(0, 0), 1).collect();
        assert_eq!(before, [(who(0, 1), 9), (who(0, 0), 1)]);
    }

    #[test]
    fn joining_is_news_once() {
        let mut theirs = Clock::new(2);
        let [zero, one] = [0, 1].map(Who::first);
        theirs.pass(zero, 3);
        theirs.quiet(zero, CREATED, 2);
        theirs.deliver(zero, (DEFAULT, 1), (1, 3));
        let mut ours = Clock::new(2);
        ours.pass(one, 9);
        assert!(ours.join(&theirs) && !ours.join(&theirs));
        assert_eq!((ours.passed(zero), ours.passed(one)), (3, 9));
        assert!(ours.is_complete(zero, DEFAULT, 2, 1));
    }

    #[test]
    fn a_clock_is_bytes_and_back() {
        let mut clock = Clock::new(3);
        clock.pass(Who::first(2), 300);
        clock.quiet(Who::first(0), CREATED + 2, 70);
        clock.deliver(Who::first(1), (STORES, 2), (1, 1 << 40));
        clock.quiet(Who { pe: 1, thread: 7 }, DEFAULT, 5);
        let mut bytes = Writer::default();
        clock.write(&mut bytes);
        let bytes = bytes.done();
        let mut reader = Reader::new(&bytes);
        assert_eq!(Clock::read(&mut reader, 3), Some(clock));
        assert!(reader.is_empty());
        assert_eq!(Clock::read(&mut Reader::new(&bytes[..5]), 3), None);
    }
}
