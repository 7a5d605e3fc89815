//! Teams: groups of PEs that do collective operations together.

use std::cell::Cell;
use std::rc::Rc;

use hostwire_transport::PeId;

use crate::collective;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::layout::TEAM_SLOTS;

/// A PE's number within a team, `0 .. size`.
pub type Rank = u32;

/// A group of PEs, each with a *rank* in it. [`crate::Job::world`] holds them all;
/// [`split`](Self::split) makes smaller ones.
///
/// Every collective operation must be called by all PEs of the team, in the same order.
pub struct Team {
    pub(crate) inner: Rc<Inner>,
    /// The slot of this team's flags in every segment.
    pub(crate) slot: usize,
    pub(crate) rank: Rank,
    pub(crate) members: Box<[PeId]>,
    /// The number of the last barrier passed.
    pub(crate) epoch: Cell<u64>,
    /// The number of collective operations so far: it separates the messages of one
    /// from those of the next.
    pub(crate) sequence: Cell<u32>,
}

impl Team {
    /// The team of all PEs, in slot 0.
    pub(crate) fn world(inner: Rc<Inner>) -> Self {
        Self {
            slot: 0,
            rank: inner.pe,
            members: (0..inner.pes).collect(),
            epoch: Cell::new(collective::FIRST),
            sequence: Cell::new(0),
            inner,
        }
    }

    /// This PE's rank.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// How many PEs the team has.
    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// The PE with this rank.
    pub fn pe(&self, rank: Rank) -> Option<PeId> {
        self.members.get(rank as usize).copied()
    }

    /// The rank of this PE in the team, if it is in it.
    pub fn rank_of(&self, pe: PeId) -> Option<Rank> {
        let at = self.members.iter().position(|member| *member == pe)?;
        Some(at as Rank)
    }

    /// The rank in `other` of the PE that has `rank` here.
    pub fn translate(&self, rank: Rank, other: &Team) -> Option<Rank> {
        other.rank_of(self.pe(rank)?)
    }

    /// Makes teams of the PEs with equal `color`, ranked by `key` and then by their rank
    /// here. A PE that passes `None` gets no team. Collective over this team.
    ///
    /// # Errors
    /// [`Error::TooManyTeams`] on all PEs if 64 teams exist on some PE already.
    pub fn split(&self, color: Option<u32>, key: u32) -> Result<Option<Team>> {
        self.inner.check_is_here()?;
        let taken = self.inner.team_slots.get();
        let color_word = color.map_or(u64::MAX, u64::from);
        let mine = [color_word, u64::from(key), taken];
        let mut all = vec![0; 3 * self.members.len()];
        collective::all_gather(self, &mine, &mut all)?;
        let taken_by_anybody = all.chunks_exact(3).fold(0, |all, one| all | one[2]);
        let slot = (!taken_by_anybody).trailing_zeros() as usize;
        if slot >= TEAM_SLOTS {
            return Err(Error::TooManyTeams { max: TEAM_SLOTS });
        }
        let mut chosen: Vec<(u64, PeId)> = all
            .chunks_exact(3)
            .zip(&self.members)
            .filter(|(one, _)| color.is_some() && one[0] == color_word)
            .map(|(one, pe)| (one[1], *pe))
            .collect();
        chosen.sort_by_key(|(key, _)| *key);
        let members: Box<[PeId]> = chosen.into_iter().map(|(_, pe)| pe).collect();
        let own = members.iter().position(|pe| *pe == self.inner.pe);
        let team = match own {
            None => None,
            Some(rank) => {
                self.inner.team_slots.set(taken | 1 << slot);
                collective::clear_flags(&self.inner, slot)?;
                Some(Team {
                    inner: Rc::clone(&self.inner),
                    slot,
                    rank: rank as Rank,
                    members,
                    epoch: Cell::new(collective::FIRST),
                    sequence: Cell::new(0),
                })
            }
        };
        // No PE may set flags of the new team before all have cleared theirs.
        self.barrier()?;
        Ok(team)
    }

    /// The tag of the messages of the next collective operation.
    pub(crate) fn next_tag(&self) -> u64 {
        let sequence = self.sequence.get();
        self.sequence.set(sequence.wrapping_add(1));
        ((self.slot as u32) << 26 | sequence & 0x03ff_ffff).into()
    }

    pub(crate) fn member(&self, rank: Rank) -> Result<PeId> {
        self.pe(rank).ok_or(Error::NoSuchPe {
            what: "rank",
            pe: rank,
            pes: self.size(),
        })
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if self.slot != 0 {
            let slots = self.inner.team_slots.get();
            self.inner.team_slots.set(slots & !(1 << self.slot));
        }
    }
}
