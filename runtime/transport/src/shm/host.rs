//! Which PEs of a job share this host, and their numbers here.

use core::ops::Range;

use crate::error::{PeId, TransportError};

/// The PEs of a job that share a host with this one. Beside its number in the job, each has a
/// number on the host, from 0 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// How many PEs the job has.
    pes: u32,
    /// By number on the host, the number in the job, in ascending order.
    members: Vec<PeId>,
    /// The own number on the host.
    local: u32,
}

impl Host {
    /// The host of `members`: ascending numbers in a job of `pes` PEs. This PE is
    /// `members[local]`.
    ///
    /// # Errors
    /// [`TransportError::Misused`] if they are not like that.
    pub fn new(pes: u32, members: Vec<PeId>, local: u32) -> Result<Self, TransportError> {
        let grow = members.windows(2).all(|pair| pair[0] < pair[1]);
        let exist = members.last().is_some_and(|last| *last < pes);
        if grow && exist && (local as usize) < members.len() {
            Ok(Self {
                pes,
                members,
                local,
            })
        } else {
            Err(TransportError::misused(
                "joining the PEs of a host",
                format_args!("growing numbers below {pes}, with this PE"),
                format_args!("{members:?}"),
            ))
        }
    }

    /// The only host of a job, as its PE number `pe`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn only(pe: PeId, pes: u32) -> Result<Self, TransportError> {
        Self::new(pes, (0..pes).collect(), pe)
    }

    /// The number of this PE in the job.
    pub fn pe(&self) -> PeId {
        self.members[self.local as usize]
    }

    /// How many PEs the job has.
    pub fn pes(&self) -> u32 {
        self.pes
    }

    /// The number of this PE on the host.
    pub fn local(&self) -> u32 {
        self.local
    }

    /// The number in the job of the first PE of the host.
    pub fn first(&self) -> PeId {
        self.members[0]
    }

    /// The PEs of the host in rising order.
    pub fn members(&self) -> &[PeId] {
        &self.members
    }

    /// How many PEs share the host.
    pub fn count(&self) -> u32 {
        self.members.len() as u32
    }

    /// The number of `pe` on the host, if it is here.
    #[inline]
    pub fn local_of(&self, pe: PeId) -> Option<u32> {
        // Most jobs have one host, where both numbers are the same.
        if self.members.get(pe as usize) == Some(&pe) {
            return Some(pe);
        }
        let found = self.members.binary_search(&pe).ok()?;
        Some(found as u32)
    }

    /// The run of PEs around this one with consecutive numbers in the job, by their numbers on
    /// the host.
    pub fn run(&self) -> Range<u32> {
        let follows = |at: usize| self.members[at] == self.members[at - 1] + 1;
        let own = self.local as usize;
        let first = (1..=own).rev().find(|at| !follows(*at)).unwrap_or(0);
        let end = (own + 1..self.members.len()).find(|at| !follows(*at));
        first as u32..end.unwrap_or(self.members.len()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_numbered_and_others_are_not_here() {
        let host = Host::new(8, vec![1, 2, 5, 6, 7], 3).unwrap();
        assert_eq!((host.pe(), host.count(), host.pes()), (6, 5, 8));
        let locals = [0, 1, 2, 3, 4, 5, 6, 7, 8, u32::MAX].map(|pe| host.local_of(pe));
        let here = [
            None,
            Some(0),
            Some(1),
            None,
            None,
            Some(2),
            Some(3),
            Some(4),
        ];
        assert_eq!(locals[..8], here);
        assert_eq!(locals[8..], [None, None]);
        let only = Host::only(2, 4).unwrap();
        assert_eq!((only.local_of(3), only.local_of(4)), (Some(3), None));
    }

    #[test]
    fn a_run_ends_where_numbers_are_left_out() {
        let run = |members: &[PeId], local| Host::new(9, members.to_vec(), local).unwrap().run();
        assert_eq!(run(&[0, 1, 2], 1), 0..3);
        assert_eq!(run(&[1, 2, 5, 6, 7], 0), 0..2);
        assert_eq!(run(&[1, 2, 5, 6, 7], 1), 0..2);
        assert_eq!(run(&[1, 2, 5, 6, 7], 3), 2..5);
        assert_eq!(run(&[0, 2, 4], 1), 1..2);
    }

    #[test]
    fn hosts_that_cannot_be_are_refused() {
        for (members, local) in [
            (vec![], 0),
            (vec![0, 1], 2),
            (vec![1, 0], 0),
            (vec![0, 0], 0),
            (vec![0, 4], 0),
        ] {
            assert!(Host::new(4, members, local).is_err());
        }
    }
}
