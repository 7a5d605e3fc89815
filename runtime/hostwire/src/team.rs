//! Teams: groups of PEs that do collective operations together.

use std::sync::Arc;

use hostwire_transport::PeId;

use crate::core;
use crate::error::{Error, Result};
use crate::inner::Inner;

/// A PE's number within a team, `0 .. size`.
pub type Rank = u32;

/// A group of PEs, each with a *rank* in it. [`crate::Job::world`] holds them all;
/// [`split`](Self::split) makes smaller ones.
///
/// Every collective operation must be called by all PEs of the team, in the same order; otherwise see
/// [`Error::CollectiveMismatch`].
pub struct Team {
    pub(crate) inner: Arc<Inner>,
    pub(crate) core: core::Team,
}

impl Team {
    /// The team of all PEs.
    pub(crate) fn world(inner: Arc<Inner>) -> Result<Self> {
        let members = (0..inner.pes).collect();
        let core = core::Team::predefined(&inner, core::team::WORLD, members)?;
        Ok(Self { inner, core })
    }

    /// This PE's rank.
    pub fn rank(&self) -> Rank {
        self.core.rank() as Rank
    }

    /// How many PEs the team has.
    pub fn size(&self) -> u32 {
        self.core.size() as u32
    }

    /// The PE with this rank.
    pub fn pe(&self, rank: Rank) -> Option<PeId> {
        self.core.members().get(rank as usize).copied()
    }

    /// The rank of this PE in the team, if it is in it.
    pub fn rank_of(&self, pe: PeId) -> Option<Rank> {
        self.core.rank_of(pe).map(|rank| rank as Rank)
    }

    /// The rank in `other` of the PE that has `rank` here.
    pub fn translate(&self, rank: Rank, other: &Team) -> Option<Rank> {
        other.rank_of(self.pe(rank)?)
    }

    /// Makes teams of the PEs with equal `color`, ranked by `key` and then by their rank
    /// here. A PE that passes `None` gets no team. Collective over this team.
    ///
    /// # Errors
    /// [`Error::TooManyTeams`] on all PEs if [`TEAMS_MAX`](crate::TEAMS_MAX) teams exist on some
    /// PE already.
    pub fn split(&self, color: Option<u32>, key: u32) -> Result<Option<Team>> {
        self.inner.check_is_here()?;
        let core = self.core.split_by(&*self.inner, color, key, false)?;
        Ok(core.map(|core| Team {
            inner: Arc::clone(&self.inner),
            core,
        }))
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
        if self.core.slot() != core::team::WORLD {
            self.core.give_up(&self.inner);
        }
    }
}
