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
mod rooted;

pub(crate) use barrier::{FIRST, barrier, clear_flags, last_barrier, prepare_flags};
pub(crate) use gather::{all_gather, all_to_all, broadcast};
pub(crate) use reduce::{all_reduce, exclusive_scan, scan};
use rooted::Pieces;

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

    /// As [`all_reduce`](Self::all_reduce), for the PE with rank `root` alone: the `values` of
    /// the others stay as they are.
    pub fn reduce<T: Element>(
        &self,
        root: Rank,
        values: &mut [T],
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let _busy = self.busy()?;
        rooted::reduce(self, root, values, combine)
    }

    /// As [`all_reduce`](Self::all_reduce), but rank `i` gets piece `i` of the result alone.
    /// `values` has `into.len() * size` elements.
    pub fn reduce_scatter<T: Element>(
        &self,
        values: &[T],
        into: &mut [T],
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let _busy = self.busy()?;
        rooted::scatter_reduced(self, values, into, combine)
    }

    /// Combines `values` of all PEs before this one, in the order of ranks. On rank 0, where
    /// there are none, all become `first`.
    pub fn exclusive_scan<T: Element>(
        &self,
        values: &mut [T],
        first: T,
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let _busy = self.busy()?;
        exclusive_scan(self, values, first, combine)
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

    /// Puts the `values` of all PEs behind each other, in the order of ranks, into `all` of the
    /// PE with rank `root`, which has `values.len() * size` elements. `all` of the others is
    /// not looked at.
    pub fn gather<T: Element>(&self, root: Rank, values: &[T], all: &mut [T]) -> Result<()> {
        let _busy = self.busy()?;
        rooted::gather(self, root, values, &Pieces::even(self, values.len()), all)
    }

    /// Gives rank `i` piece `i` of `all` of the PE with rank `root`, which has
    /// `values.len() * size` elements. `all` of the others is not looked at.
    pub fn scatter<T: Element>(&self, root: Rank, all: &[T], values: &mut [T]) -> Result<()> {
        let _busy = self.busy()?;
        let pieces = Pieces::even(self, values.len());
        rooted::scatter(self, root, all, &pieces, values)
    }

    /// As [`gather`](Self::gather), where rank `i` gives `counts[i]` values.
    pub fn gather_v<T: Element>(
        &self,
        root: Rank,
        values: &[T],
        counts: &[usize],
        all: &mut [T],
    ) -> Result<()> {
        let _busy = self.busy()?;
        rooted::gather(self, root, values, &Pieces::of(self, counts)?, all)
    }

    /// As [`scatter`](Self::scatter), where rank `i` gets `counts[i]` values.
    pub fn scatter_v<T: Element>(
        &self,
        root: Rank,
        all: &[T],
        counts: &[usize],
        values: &mut [T],
    ) -> Result<()> {
        let _busy = self.busy()?;
        rooted::scatter(self, root, all, &Pieces::of(self, counts)?, values)
    }

    /// As [`all_gather`](Self::all_gather), where rank `i` gives `counts[i]` values.
    pub fn all_gather_v<T: Element>(
        &self,
        values: &[T],
        counts: &[usize],
        all: &mut [T],
    ) -> Result<()> {
        let _busy = self.busy()?;
        rooted::all_gather(self, values, &Pieces::of(self, counts)?, all)
    }

    /// As [`all_to_all`](Self::all_to_all), where `out` has `out_counts[i]` values for rank
    /// `i`, and `into_counts[i]` come from there.
    pub fn all_to_all_v<T: Element>(
        &self,
        out: &[T],
        out_counts: &[usize],
        into: &mut [T],
        into_counts: &[usize],
    ) -> Result<()> {
        let _busy = self.busy()?;
        let (going, coming) = (
            Pieces::of(self, out_counts)?,
            Pieces::of(self, into_counts)?,
        );
        rooted::all_to_all(self, (out, &going), (into, &coming))
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
