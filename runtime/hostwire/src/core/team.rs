//! Who is in a team, and how PEs agree on a new one.
//!
//! A team has a *slot*, the same number at all its members: a part of each segment through which
//! they meet. Teams without a common member may have the same slot.

use std::sync::atomic::AtomicU64;

use hostwire_transport::{PeId, Visibility};

use super::tree::Tree;
use super::{Caller, Kind, Tag};
use crate::attachment::Attachment;
use crate::error::{Error, Result};
use crate::layout::{SLOTS, Slot, TEAMS_MAX};
pub use crate::slots::{LEAVING, SHARED, Slots, WORLD};
use crate::slots::{UNUSED, Used};

/// Up to so many members, each marks the lines of the others as unused before the team begins. So
/// a line that was wiped out is not mistaken for one that has not arrived. In larger teams this
/// would touch too much memory that most teams never use.
const MARKED_MEMBERS_MAX: usize = 64;
/// Most members of a team in which each speaks to each.
const NEIGHBOURS_MAX: usize = 64;

/// Some PEs, in an order: each has a *rank*.
#[derive(Debug)]
pub struct Team {
    number: usize,
    pub(super) slot: Slot,
    pub(super) has_stages: bool,
    /// How the members of a large team speak to each other.
    pub(super) tree: Option<Box<Tree>>,
    /// See `are_mapped`.
    pub(super) is_mapped: bool,
    /// No line of the others holds 0: see [`MARKED_MEMBERS_MAX`].
    pub(super) marks_lines: bool,
    /// Stamps begin behind this value: earlier teams with this slot used no higher one.
    base: u64,
    pub(super) rank: usize,
    pub(super) members: Box<[PeId]>,
    /// Operations by lines that have begun here.
    pub(super) operations: AtomicU64,
    /// An operation that all members are known to have begun.
    pub(super) known: AtomicU64,
    pub(super) barriers: AtomicU64,
    /// A hash of the roots of all operations so far: see [`Team::with_roots`].
    pub(super) roots: AtomicU64,
}

impl Team {
    fn new(
        attachment: &Attachment,
        number: usize,
        base: u64,
        members: Box<[PeId]>,
        rank: usize,
    ) -> Result<Self> {
        let tree = match members.len() > NEIGHBOURS_MAX {
            true => Tree::of(&members, rank, |pe| attachment.nodes().node_of(pe)),
            false => None,
        };
        let marks_lines = attachment.marks_words() && members.len() <= MARKED_MEMBERS_MAX;
        let team = Self {
            number,
            marks_lines,
            slot: attachment.layout().slot(number),
            tree: tree.map(Box::new),
            has_stages: Slot::has_stages(attachment.pes()),
            is_mapped: are_mapped(attachment, &members),
            base,
            rank,
            members,
            operations: AtomicU64::new(0),
            known: AtomicU64::new(1),
            barriers: AtomicU64::new(0),
            roots: AtomicU64::new(0),
        };
        team.mark_words(attachment)?;
        Ok(team)
    }

    /// A team that no PE has to agree on, with one of the slots [`WORLD`], [`SHARED`] and
    /// [`LEAVING`]. This PE is one of the members.
    pub fn predefined(
        attachment: &Attachment,
        number: usize,
        members: Box<[PeId]>,
    ) -> Result<Self> {
        let own = members.iter().position(|pe| *pe == attachment.pe());
        Self::new(attachment, number, UNUSED, members, own.unwrap_or(0))
    }

    /// How many members there are.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// The rank of this PE.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The PEs, by rank.
    #[inline(always)]
    pub fn members(&self) -> &[PeId] {
        &self.members
    }

    /// The rank of a PE, if it is a member.
    pub fn rank_of(&self, pe: PeId) -> Option<usize> {
        match self.number {
            WORLD => (pe < self.size() as u32).then_some(pe as usize),
            _ => self.members.iter().position(|member| *member == pe),
        }
    }

    /// Two numbers which no other team of these members has.
    pub fn identity(&self) -> [u64; 2] {
        [self.number as u64, self.base]
    }

    /// The number of its slot.
    pub fn slot(&self) -> usize {
        self.number
    }

    /// The stamp of the operation with this number.
    #[inline(always)]
    pub(super) fn stamp(&self, number: u64) -> u64 {
        self.base + number
    }

    /// The highest stamp that it has used.
    fn newest(&self) -> u64 {
        let count = |counter: &AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed);
        self.stamp(count(&self.barriers).max(count(&self.operations)))
    }

    /// Makes a team of these ranks. All members of this team call it. Members of the same new
    /// team pass the same ranks. A member that is not in its own list gets no team.
    /// `has_threads`: threads of this PE may make other teams at the same time.
    ///
    /// # Errors
    /// [`Error::TooManyTeams`] at all members alike.
    pub fn split<C: Caller>(
        &self,
        caller: &C,
        ranks: &[usize],
        has_threads: bool,
    ) -> Result<Option<Self>> {
        let rank = ranks.iter().position(|rank| *rank == self.rank);
        let (number, base) = self.agree_on_slot(caller, rank.is_some(), has_threads)?;
        let Some(rank) = rank else {
            return Ok(None);
        };
        let members = ranks.iter().map(|rank| self.members[*rank]).collect();
        Self::new(caller.attachment(), number, base, members, rank).map(Some)
    }

    /// Agrees on a slot that is free at all members. From now on it is in use at members that are
    /// `inside` a new team. Returns the slot, and the value after which its stamps begin.
    fn agree_on_slot<C: Caller>(
        &self,
        caller: &C,
        inside: bool,
        has_threads: bool,
    ) -> Result<(usize, u64)> {
        let slots = &caller.attachment().slots;
        let mut start = 0;
        loop {
            let known = Knowledge::of(slots, has_threads);
            let agreed = known.exchange(caller, self)?;
            let free = agreed.free_from(start);
            let taken = !inside || free.is_some_and(|slot| slots.take(slot));
            let free = free.ok_or(Error::TooManyTeams { max: TEAMS_MAX })?;
            if !agreed.is_contended {
                return Ok((free, agreed.newest));
            }
            // Another thread of some member may have taken it for another team meanwhile, or
            // even have given it back again.
            let lost = Knowledge::of(slots, !taken).exchange(caller, self)?;
            if !lost.is_contended {
                return Ok((free, lost.newest));
            }
            if inside && taken {
                slots.give_back(free, 0);
            }
            // Starts at another place than members that split other teams.
            start = (start + 1 + self.number * 5) % SLOTS;
        }
    }

    /// The slot may be used for another team, when all members have said so. They have no
    /// operation under way.
    pub fn give_up(&self, attachment: &Attachment) {
        attachment.slots.give_back(self.number, self.newest());
    }
}

/// Whether the CPU stores into the segments of all these PEs, and they are cache-coherent. The same
/// at all of them.
fn are_mapped(attachment: &Attachment, members: &[PeId]) -> bool {
    members.iter().all(|pe| {
        let window = attachment.route(*pe).and_then(|route| route.window());
        window.is_some_and(|window| window.visibility() == Visibility::Coherent)
    })
}

/// What members of a team exchange to agree on a slot.
#[derive(Debug, Clone, Copy)]
struct Knowledge {
    used: Used,
    /// Threads may split other teams at the same time, or one of them has taken the slot.
    is_contended: bool,
}

/// The slots that are in use at some member, and the highest stamp.
struct Agreed {
    used: [u64; SLOTS / 64],
    newest: u64,
    is_contended: bool,
}

impl Knowledge {
    fn of(slots: &Slots, is_contended: bool) -> Self {
        let used = slots.used();
        Self { used, is_contended }
    }

    fn exchange<C: Caller>(self, caller: &C, team: &Team) -> Result<Agreed> {
        let Used { slots, newest } = self.used;
        let mut agreed = Agreed {
            used: slots,
            newest,
            is_contended: self.is_contended,
        };
        let last = [newest, u64::from(self.is_contended)];
        let mut words = [slots[0], slots[1], slots[2], slots[3], last[0], last[1]];
        let tag = Tag::new(Kind::Split, 0);
        match team.tree() {
            Some(tree) => {
                team.fold_words(caller, (tree, tag), &mut words, combine)?;
                agreed.hear(&words);
            }
            None => team.exchange(caller, tag, &words, |_, theirs| agreed.hear(theirs))?,
        }
        Ok(agreed)
    }
}

/// Leaves room for later operations, and for the arrivals that a barrier counts below its stamp.
const STAMPS: u64 = (1 << 46) - 1;

/// What two members say, as one.
fn combine(ours: &mut [u64; 6], theirs: &[u64; 6]) {
    for (at, (ours, theirs)) in ours.iter_mut().zip(theirs).enumerate() {
        *ours = match at {
            4 => (*ours & STAMPS).max(theirs & STAMPS),
            _ => *ours | theirs,
        };
    }
}

impl Agreed {
    /// What a member says.
    fn hear(&mut self, theirs: &[u64; 6]) {
        for (ours, theirs) in self.used.iter_mut().zip(theirs) {
            *ours |= theirs;
        }
        // A stamp that no team reaches is not from a correct peer.
        self.newest = self.newest.max(theirs[4] & STAMPS);
        self.is_contended |= theirs[5] != 0;
    }

    /// The first free slot from `start` on.
    fn free_from(&self, start: usize) -> Option<usize> {
        (start..SLOTS + start)
            .map(|slot| slot % SLOTS)
            .find(|slot| self.used[slot / 64] >> (slot % 64) & 1 == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_for_a_slot_goes_around() {
        let mut agreed = Agreed {
            used: [u64::MAX; SLOTS / 64],
            newest: 0,
            is_contended: false,
        };
        assert_eq!(agreed.free_from(7), None);
        agreed.used[1] &= !(1 << 5);
        assert_eq!(
            (agreed.free_from(0), agreed.free_from(70)),
            (Some(69), Some(69))
        );
    }
}
