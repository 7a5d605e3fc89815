//! Collective operations of a team.
//!
//! A barrier is words stored straight into flags; all others are messages. Small ones
//! are *direct*: every PE sends to every PE and then receives, so that each PE has to
//! be scheduled once, however many PEs share a core. Large ones move every byte as few
//! times as possible. Reductions always combine in the order of ranks: the result is
//! the same on all PEs and in every run.

mod barrier;
mod gather;
mod reduce;

pub(crate) use barrier::{FIRST, barrier, clear_flags, last_barrier, prepare_flags};
pub(crate) use gather::{all_gather, all_to_all, broadcast};
pub(crate) use reduce::{all_reduce, scan};

use zerocopy::IntoBytes;

use crate::board::Activity;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::message::{Kind, Pattern, Payload, Receiving, Sending, Target};
use crate::team::{Rank, Team};

impl Team {
    /// Waits until all PEs of the team have called it. Everything that they stored
    /// before is then visible to all of them.
    ///
    /// # Errors
    /// [`Error::PeerLost`], [`Error::PeerMisbehaved`].
    #[inline]
    pub fn barrier(&self) -> Result<()> {
        barrier(self)
    }

    /// Copies `values` of the PE with rank `root` to all others.
    pub fn broadcast<T: Element>(&self, root: Rank, values: &mut [T]) -> Result<()> {
        let _busy = self.busy()?;
        broadcast(self, root, values)
    }

    /// Combines `values` of all PEs element by element, in the order of ranks, and gives
    /// all PEs the result. `combine` must be associative; it need not be commutative.
    pub fn all_reduce<T: Element>(
        &self,
        values: &mut [T],
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let _busy = self.busy()?;
        all_reduce(self, values, combine)
    }

    /// Combines `values` of all PEs up to and including this one, in the order of ranks.
    pub fn scan<T: Element>(&self, values: &mut [T], combine: impl Fn(T, T) -> T) -> Result<()> {
        let _busy = self.busy()?;
        scan(self, values, combine)
    }

    /// Puts the `values` of all PEs behind each other, in the order of ranks. `all` has
    /// `values.len() * size` elements.
    pub fn all_gather<T: Element>(&self, values: &[T], all: &mut [T]) -> Result<()> {
        let _busy = self.busy()?;
        all_gather(self, values, all)
    }

    /// Sends piece `i` of `out` to rank `i`, and puts the piece from rank `i` at place
    /// `i` of `into`. Both have the same length, a multiple of the size of the team.
    pub fn all_to_all<T: Element>(&self, out: &[T], into: &mut [T]) -> Result<()> {
        let _busy = self.busy()?;
        all_to_all(self, out, into)
    }

    /// An error in a copy of the process.
    fn busy(&self) -> Result<crate::status::During<'_>> {
        self.inner.check_is_here()?;
        Ok(self.inner.status.during(Activity::Collective, None))
    }
}

/// Sends to `to` and receives from `from` at the same time.
fn exchange<T: Element>(
    team: &Team,
    tag: u64,
    to: Rank,
    out: &[T],
    from: Rank,
    into: &mut [T],
) -> Result<()> {
    let inner = &team.inner;
    let (to, from) = (team.member(to)?, team.member(from)?);
    let expected = size_of_val(into);
    let send = Sending::new(to, Kind::Team, tag, Payload::Bytes(out.as_bytes()));
    let pattern = Pattern::new(Kind::Team, from, tag);
    let receive = Receiving::new(pattern, 1, Target::Bytes(into.as_mut_bytes()));
    let got = inner.run_exchange(&team.members, (to, send), (from, receive));
    same_length(team, from, expected, got.map(|envelope| envelope.len_bytes))
}

/// Sends to a rank.
fn send<T: Element>(team: &Team, tag: u64, to: Rank, out: &[T]) -> Result<()> {
    let to = team.member(to)?;
    let members = &team.members;
    team.inner
        .send(Kind::Team, members, to, tag, out.as_bytes())
}

/// Sends to a rank that is about to receive it: what everybody sends to everybody.
fn send_due<T: Element>(team: &Team, tag: u64, to: Rank, out: &[T]) -> Result<()> {
    let to = team.member(to)?;
    team.inner.send_due(&team.members, to, tag, out.as_bytes())
}

/// Receives from a rank.
fn receive<T: Element>(team: &Team, tag: u64, from: Rank, into: &mut [T]) -> Result<()> {
    let from = team.member(from)?;
    let expected = size_of_val(into);
    let into = into.as_mut_bytes();
    let members = &team.members;
    let got = team.inner.receive(Kind::Team, members, from, tag, 1, into);
    same_length(team, from, expected, got)
}

/// Peers that pass other lengths to the same operation get an error.
fn same_length(team: &Team, from: u32, expected_bytes: usize, got: Result<usize>) -> Result<()> {
    let got = match got {
        Ok(got) => got,
        Err(Error::MessageTooLong { message_bytes, .. }) => message_bytes,
        Err(other) => return Err(other),
    };
    if got == expected_bytes {
        return Ok(());
    }
    Err(Error::CollectiveMismatch {
        operation: "a collective operation",
        pe: team
            .rank_of(from)
            .and_then(|rank| team.pe(rank))
            .unwrap_or(from),
        theirs: format!("{got} bytes"),
        ours: format!("{expected_bytes} bytes"),
    })
}

fn check_length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got {
        Ok(())
    } else {
        Err(Error::Length {
            what,
            expected,
            got,
        })
    }
}
