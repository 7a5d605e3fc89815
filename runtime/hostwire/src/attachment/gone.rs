//! Whether an awaited PE is lost, or leaves the job.

use hostwire_transport::PeId;

use super::{Attachment, Departure, Watch};
use crate::error::{Error, Result};

impl Attachment {
    /// The error if the awaited event will never happen.
    pub(super) fn find_gone(&self, watch: Watch<'_>) -> Result<Option<Error>> {
        match watch {
            Watch::Next { members, next } => self.find_absent(members, [next]),
            Watch::Agent(pe) => Ok(self.is_lost(pe)?.then(|| self.lost.error(pe))),
            Watch::Pair { members, to, from } => {
                let pending = [to, from].into_iter().filter(|(_, done)| !done.get());
                self.find_absent(members, pending.map(|(pe, _)| pe))
            }
            Watch::TheEnd(members) => self.find_the_end(members),
            Watch::All(members) => {
                let others = || members.iter().copied().filter(|pe| *pe != self.pe);
                let mut left = None;
                // First: as in `find_absent`.
                for pe in others() {
                    if left.is_none() && self.departure(pe)?.is_some() {
                        left = Some(Error::PeerLeft { pe });
                    }
                }
                for pe in others() {
                    if self.is_said_to_be_lost(pe)? {
                        return Ok(Some(self.lost.error(pe)));
                    }
                }
                Ok(left)
            }
            Watch::Anybody => self.find_newly_lost(),
        }
    }

    /// The error if a member or one of `next` has died, or one of `next` leaves the job. A
    /// PE may leave because of a death. Departures are read first, so that such a death is
    /// seen afterwards and reported instead.
    fn find_absent(
        &self,
        members: &[PeId],
        next: impl IntoIterator<Item = PeId, IntoIter: Clone>,
    ) -> Result<Option<Error>> {
        let next = next.into_iter();
        let mut left = None;
        for pe in next.clone() {
            if left.is_none() && self.departure(pe)?.is_some() {
                left = Some(Error::PeerLeft { pe });
            }
        }
        for pe in next {
            if self.is_lost(pe)? {
                return Ok(Some(self.lost.error(pe)));
            }
        }
        if self.wire.all_live() {
            return Ok(left);
        }
        for pe in members.iter().copied() {
            if self.is_said_to_be_lost(pe)? {
                return Ok(Some(self.lost.error(pe)));
            }
        }
        Ok(left)
    }

    /// The error if a member has left for good (it then knows that all are leaving), or has
    /// died before that.
    fn find_the_end(&self, members: &[PeId]) -> Result<Option<Error>> {
        for pe in members.iter().copied() {
            let lost = self.is_said_to_be_lost(pe)?;
            // Read after the check for loss: a departure stored before the end counts.
            if self.departure(pe)? == Some(Departure::Gone) {
                return Ok(Some(Error::PeerLeft { pe }));
            }
            if lost {
                return Ok(Some(self.lost.error(pe)));
            }
        }
        Ok(None)
    }

    /// An error if a PE that has not left in good order is newly found to be lost: for
    /// programs that poll by themselves.
    pub fn look_for_lost(&self) -> Result<()> {
        self.fork_guard.check()?;
        self.find_newly_lost()?.map_or(Ok(()), Err)
    }

    fn find_newly_lost(&self) -> Result<Option<Error>> {
        let mut left = None;
        let mut others = 0;
        for pe in (0..self.pes).filter(|pe| *pe != self.pe) {
            let lost = self.is_said_to_be_lost(pe)?;
            match self.departure(pe)? {
                Some(_) => left = Some(Error::PeerLeft { pe }),
                None => others += 1,
            }
            if lost && self.departure(pe)? != Some(Departure::Gone) && self.lost.report(pe) {
                return Ok(Some(self.lost.error(pe)));
            }
        }
        // When all others are leaving, no PE is left that could store anything.
        Ok(left.filter(|_| others == 0))
    }

    /// Tells all peers how far this PE is on its way out. A copy of the process tells nothing.
    pub fn tell_departure(&self, departure: Departure) {
        if self.is_here() {
            self.lost.tell_departure(&*self.wire, departure);
        }
    }

    /// How far `pe` is on its way out, as it says.
    pub fn departure(&self, pe: PeId) -> Result<Option<Departure>> {
        let word = self.lost.departure(&*self.wire, pe)?;
        // Any other value is not from a correct peer, and is ignored.
        Ok([Departure::Leaving, Departure::Gone]
            .into_iter()
            .find(|departure| *departure as u64 == word))
    }

    /// Looks whether `pe` is lost. May cost a system call.
    pub fn is_lost(&self, pe: PeId) -> Result<bool> {
        self.fork_guard.check()?;
        self.lost.look(&*self.wire, pe)
    }

    /// As [`is_lost`](Self::is_lost), for waits that depend on many PEs: in a job of
    /// hundreds it leaves the system calls to the background thread.
    fn is_said_to_be_lost(&self, pe: PeId) -> Result<bool> {
        self.lost.look_or_hear(&*self.wire, pe)
    }
}
