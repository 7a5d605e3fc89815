//! Finds members that would wait for each other for ever because they called different operations: one is
//! in a barrier and the other in a reduction, or each takes the other for the root.
//!
//! A member that has waited long stores one word at the others that says where it is, and reads their
//! words. In a correct program all members go through the same operations and barriers in the same order.
//! So if one of two members is ahead in operations and the other in barriers, they have called different
//! things, however slow one of them is. It is also an error if all awaited members have completed the
//! operation: their stores in it came before their words, so nothing more will come. A member is never
//! suspected only because it is late, and a short wait stores and reads nothing.

use core::cell::Cell;
use std::sync::atomic::Ordering;

use hostwire_transport::PeId;

use super::line::{Label, Tag};
use super::team::LEAVING;
use super::{Caller, Team};
use crate::error::{Error, Result};

/// Up to so many members, each tells all others. In a larger team, it tells only those that it waits for, or
/// so many after it where they are not known: a member that has called something else is told by one before it.
const TOLD_MEMBERS_MAX: usize = 64;

/// Up to so many members, each looks at the words of all others. Each word that is looked at needs memory.
const LOOKED_AT_MEMBERS_MAX: usize = 4096;

/// In so many consecutive looks all awaited members must be through: assembling a message may take some
/// looks. They are at least 100 ms apart, except on modelled memory, where no time passes.
const LOOKS: u32 = if cfg!(memory_model) { 1000 } else { 10 };

/// A wait of a member.
pub(super) struct Step<'a> {
    pub(super) team: &'a Team,
    /// The operation by lines and its number. Without one, it is a barrier.
    pub(super) line: Option<(u64, Tag)>,
    /// The awaited ranks; none, if they are not known.
    pub(super) next: &'a [usize],
}

/// What a wait has done so far.
#[derive(Default)]
pub(super) struct Looks {
    told: Cell<bool>,
    /// Consecutive looks in which all awaited members were through.
    through: Cell<u32>,
}

/// Bits of a count.
const COUNT_BITS: u32 = 14;

/// Where a member is: what it waits in, and what it has done before. Counts are the low [`COUNT_BITS`] bits of
/// stamps. No earlier team with this slot has used these stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    /// Operations by lines that it has begun.
    operations: u16,
    /// Barriers that it has passed.
    barriers: u16,
    /// The operation, unless it is in a barrier.
    label: Option<Label>,
}

impl Point {
    const LABEL: u64 = (1 << Label::BITS) - 1;

    /// Never 0.
    fn word(self) -> u64 {
        let doing = match self.label {
            Some(label) => 1 << Label::BITS | label.bits(),
            None => 2 << Label::BITS,
        };
        let counts = u64::from(self.operations) << COUNT_BITS | u64::from(self.barriers);
        doing << (2 * COUNT_BITS) | counts
    }

    fn from_word(word: u64) -> Option<Self> {
        let doing = word >> (2 * COUNT_BITS);
        let label = match doing >> Label::BITS {
            1 => Some(Label::from_bits(doing & Self::LABEL)),
            2 => None,
            _ => return None,
        };
        Some(Self {
            operations: count(word >> COUNT_BITS),
            barriers: count(word),
            label,
        })
    }

    /// How far it is ahead of the other, in halves of an operation and of a barrier. What it waits in
    /// counts as half done.
    fn ahead_of(self, other: Self) -> (i32, i32) {
        // Counts wrap, so their difference has a sign.
        let spare = u16::BITS - COUNT_BITS;
        let more = |one: u16, other: u16| {
            2 * i32::from((one.wrapping_sub(other) << spare) as i16 >> spare)
        };
        let half = |is_half: bool| i32::from(is_half);
        let of_lines = half(other.label.is_some()) - half(self.label.is_some());
        let of_barriers = half(self.label.is_none()) - half(other.label.is_none());
        (
            more(self.operations, other.operations) + of_lines,
            more(self.barriers, other.barriers) + of_barriers,
        )
    }

    /// Whether these two points cannot occur in a program in which all members call the same.
    fn contradicts(self, other: Self) -> bool {
        let (operations, barriers) = self.ahead_of(other);
        match (self.label, other.label) {
            (Some(own), Some(theirs)) if operations == 0 => barriers != 0 || !own.fits(theirs),
            _ => operations.signum() * barriers.signum() < 0,
        }
    }

    /// Whether it is through with what the other waits in, if they do not contradict each other.
    fn is_beyond(self, other: Self) -> bool {
        let (operations, barriers) = self.ahead_of(other);
        operations > 0 || barriers > 0
    }

    fn operation(self) -> &'static str {
        self.label.map_or("a barrier", Label::operation)
    }

    fn text(self) -> String {
        self.label
            .map_or_else(|| "a barrier".into(), |label| label.to_string())
    }

    #[cold]
    fn mismatch(self, pe: PeId, theirs: Self) -> Error {
        let says = |point: Self| match self.text() == theirs.text() {
            true => {
                let (operations, barriers) = (point.operations, point.barriers);
                format!(
                    "{} after {operations} operations and {barriers} barriers",
                    point.text()
                )
            }
            false => point.text(),
        };
        Error::CollectiveMismatch {
            operation: self.operation(),
            pe,
            theirs: says(theirs),
            ours: says(self),
        }
    }
}

/// A stamp as a count.
fn count(stamp: u64) -> u16 {
    (stamp & ((1 << COUNT_BITS) - 1)) as u16
}

impl Step<'_> {
    fn point(&self) -> Point {
        let team = self.team;
        let operations = match self.line {
            Some((number, _)) => number,
            None => team.operations.load(Ordering::Relaxed),
        };
        Point {
            operations: count(team.stamp(operations)),
            barriers: count(team.stamp(team.barriers.load(Ordering::Relaxed))),
            label: self.line.map(|(_, tag)| tag.label()),
        }
    }

    /// Called when a wait is long.
    ///
    /// # Errors
    /// [`Error::CollectiveMismatch`] if it cannot end.
    #[cold]
    pub(super) fn look<C: Caller>(&self, caller: &C, looks: &Looks) -> Result<()> {
        let (team, attachment) = (self.team, caller.attachment());
        // In virtual time the model sees a deadlock itself. In the slot for leaving, each pair of members
        // has numbers of its own.
        if team.slot() == LEAVING || attachment.wire().is_in_virtual_time() {
            return Ok(());
        }
        let own = self.point();
        if !looks.told.replace(true) {
            self.tell(caller, own.word())?;
        }
        let told = |rank| -> Result<Option<Point>> {
            let word = attachment.segment().load_word(team.slot.wait(rank))?;
            Ok(Point::from_word(word))
        };
        let check = |rank| match told(rank)?.filter(|theirs| own.contradicts(*theirs)) {
            Some(theirs) => Err(own.mismatch(team.members[rank], theirs)),
            None => Ok(()),
        };
        match team.size() <= LOOKED_AT_MEMBERS_MAX {
            true => team.others().try_for_each(check)?,
            false => self.next.iter().copied().try_for_each(check)?,
        }
        // One of several may well be through while another is late.
        let mut through = None;
        for rank in self.next.iter().copied() {
            through = told(rank)?
                .filter(|theirs| theirs.is_beyond(own))
                .map(|theirs| (rank, theirs));
            if through.is_none() {
                break;
            }
        }
        let looks_before = looks.through.get();
        if let Some((rank, theirs)) = through.filter(|_| looks_before >= LOOKS) {
            return Err(own.mismatch(team.members[rank], theirs));
        }
        looks.through.set(match through {
            Some(_) => looks_before + 1,
            None => 0,
        });
        Ok(())
    }

    /// The wait ended as it should. Takes back what this member told.
    pub(super) fn ended<C: Caller>(&self, caller: &C, looks: &Looks) -> Result<()> {
        match looks.told.get() {
            true => self.tell(caller, 0),
            false => Ok(()),
        }
    }

    #[cold]
    fn tell<C: Caller>(&self, caller: &C, word: u64) -> Result<()> {
        let (team, offset) = (self.team, self.team.slot.wait(self.team.rank));
        let put = |rank| team.put_word(caller, rank, offset, word);
        match self.next.is_empty() || team.size() <= TOLD_MEMBERS_MAX {
            true => team.others().take(TOLD_MEMBERS_MAX).try_for_each(put),
            false => self.next.iter().try_for_each(|rank| put(*rank)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Operands, Operator};
    use super::*;

    fn line(operations: u16, barriers: u16, tag: Tag) -> Point {
        Point {
            operations,
            barriers,
            label: Some(tag.label()),
        }
    }

    fn barrier(operations: u16, barriers: u16) -> Point {
        Point {
            operations,
            barriers,
            label: None,
        }
    }

    /// Compares all pairs of steps of one program, also where counts wrap.
    #[test]
    fn steps_of_one_program_contradict_no_other() {
        let reduction = Tag::new(Kind::Reduce, 8);
        let mut steps = Vec::new();
        let (mut operations, mut barriers) = (count(u64::MAX - 3), count(u64::MAX - 2));
        for is_barrier in [false, true, true, false, false, false, true, false, true] {
            steps.push(match is_barrier {
                true => barrier(operations, barriers),
                false => {
                    operations = count(u64::from(operations) + 1);
                    line(operations, barriers, reduction)
                }
            });
            barriers = count(u64::from(barriers) + u64::from(is_barrier));
        }
        for one in &steps {
            assert_eq!(Point::from_word(one.word()), Some(*one));
            for other in &steps {
                assert!(!one.contradicts(*other), "{one:?} {other:?}");
            }
        }
        for (at, one) in steps.iter().enumerate() {
            for (other_at, other) in steps.iter().enumerate() {
                assert_eq!(one.is_beyond(*other), at > other_at, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn different_calls_contradict_each_other() {
        let sum = |name| {
            let operands = Operands::named(name).by(Operator::Sum);
            Tag::new(Kind::Reduce, 8).on(operands)
        };
        let broadcast = |root| Tag::new(Kind::Broadcast, 8).with_root(root);
        for (one, other) in [
            // A barrier and an operation, both after the same steps.
            (barrier(4, 2), line(5, 2, sum("int64"))),
            // One member left out an earlier barrier.
            (barrier(5, 2), line(7, 2, sum("int64"))),
            (line(5, 2, sum("int64")), line(5, 3, sum("int64"))),
            (line(5, 2, sum("int64")), line(5, 2, sum("float64"))),
            (line(5, 2, broadcast(0)), line(5, 2, broadcast(1))),
        ] {
            assert!(
                one.contradicts(other) && other.contradicts(one),
                "{one:?} {other:?}"
            );
        }
        let Error::CollectiveMismatch {
            operation,
            pe: 1,
            theirs,
            ours,
        } = barrier(4, 2).mismatch(1, line(5, 2, sum("int64")))
        else {
            panic!("another error");
        };
        let expected = ("a barrier", "a reduction, sum of int64", "a barrier");
        assert_eq!((operation, &*theirs, &*ours), expected);
        assert_eq!(Point::from_word(0), None);
    }

    #[test]
    fn the_end_of_a_broadcast_is_a_part_of_it() {
        let tag = |kind| Tag::new(kind, 8).with_root(2);
        let (begin, end) = (tag(Kind::Broadcast), tag(Kind::Answer));
        assert!(!line(5, 2, begin).contradicts(line(5, 2, end)));
    }
}
