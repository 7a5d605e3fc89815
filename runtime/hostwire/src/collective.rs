//! Collective operations of a team: types and lengths around those of [`crate::core`].

use hostwire_transport::{PeId, Values};
use zerocopy::IntoBytes;

use crate::core::messages::{Company, Messages, Pieces};
use crate::core::{Combine, Fold, Operands};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::inner::Inner;
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
        self.core.barrier(&*self.inner)
    }

    /// Copies `values` of the PE with rank `root` to all others.
    pub fn broadcast<T: Element>(&self, root: Rank, values: &mut [T]) -> Result<()> {
        self.inner.check_is_here()?;
        let values = values.as_mut_bytes();
        let operands = Operands::of::<T>();
        self.core
            .broadcast_private(&*self.inner, root, values, operands)
    }

    /// Combines `values` of all PEs element by element, in the order of ranks, and gives
    /// all PEs the result. `combine` must be associative; it need not be commutative.
    pub fn all_reduce<T: Element>(
        &self,
        values: &mut [T],
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        self.inner.check_is_here()?;
        let values = values.as_mut_bytes();
        untyped(combine, |combine| {
            self.core.reduce_private(&*self.inner, values, combine)
        })
    }

    /// As [`all_reduce`](Self::all_reduce), for the PE with rank `root` alone: the `values` of
    /// the others stay as they are.
    pub fn reduce<T: Element>(
        &self,
        root: Rank,
        values: &mut [T],
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        self.inner.check_is_here()?;
        let values = values.as_mut_bytes();
        untyped(combine, |combine| {
            self.core.reduce_to(&*self.inner, root, values, combine)
        })
    }

    /// As [`all_reduce`](Self::all_reduce), but rank `i` gets piece `i` of the result alone.
    /// `values` has `into.len() * size` elements.
    pub fn reduce_scatter<T: Element>(
        &self,
        values: &[T],
        into: &mut [T],
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        self.inner.check_is_here()?;
        let expected = into.len().saturating_mul(self.core.size());
        check_length("values of a reduce-scatter", expected, values.len())?;
        let (values, into) = (values.as_bytes(), into.as_mut_bytes());
        untyped(combine, |combine| {
            let core = &self.core;
            core.reduce_scatter(&*self.inner, values, into, combine)
        })
    }

    /// Combines `values` of all PEs before this one, in the order of ranks. On rank 0, where
    /// there are none, all become `first`.
    pub fn exclusive_scan<T: Element>(
        &self,
        values: &mut [T],
        first: T,
        combine: impl Fn(T, T) -> T,
    ) -> Result<()> {
        self.inner.check_is_here()?;
        let bytes = values.as_mut_bytes();
        untyped(combine, |combine| {
            self.core
                .scan_private(&*self.inner, bytes, combine, Fold::Before)
        })?;
        if self.rank() == 0 {
            values.fill(first);
        }
        Ok(())
    }

    /// Combines `values` of all PEs up to and including this one, in the order of ranks.
    pub fn scan<T: Element>(&self, values: &mut [T], combine: impl Fn(T, T) -> T) -> Result<()> {
        self.inner.check_is_here()?;
        let values = values.as_mut_bytes();
        untyped(combine, |combine| {
            self.core
                .scan_private(&*self.inner, values, combine, Fold::UpTo)
        })
    }

    /// Puts the `values` of all PEs behind each other, in the order of ranks. `all` has
    /// `values.len() * size` elements.
    pub fn all_gather<T: Element>(&self, values: &[T], all: &mut [T]) -> Result<()> {
        self.inner.check_is_here()?;
        let expected = values.len().saturating_mul(self.core.size());
        check_length("result of an all-gather", expected, all.len())?;
        let (values, all) = (values.as_bytes(), all.as_mut_bytes());
        let operands = Operands::of::<T>();
        self.core
            .gather_private(&*self.inner, values, all, operands)
    }

    /// Sends piece `i` of `out` to rank `i`, and puts the piece from rank `i` at place
    /// `i` of `into`. Both have the same length, a multiple of the size of the team.
    pub fn all_to_all<T: Element>(&self, out: &[T], into: &mut [T]) -> Result<()> {
        self.inner.check_is_here()?;
        let whole = out.len() / self.core.size() * self.core.size();
        check_length("pieces of an all-to-all", whole, out.len())?;
        check_length("result of an all-to-all", out.len(), into.len())?;
        let (out, into) = (out.as_bytes(), into.as_mut_bytes());
        let operands = Operands::of::<T>();
        self.core
            .all_to_all_private(&*self.inner, out, into, operands)
    }

    /// Puts the `values` of all PEs behind each other, in the order of ranks, into `all` of the
    /// PE with rank `root`, which has `values.len() * size` elements. `all` of the others is
    /// not looked at.
    pub fn gather<T: Element>(&self, root: Rank, values: &[T], all: &mut [T]) -> Result<()> {
        self.gather_v(root, values, &self.even(values.len())?, all)
    }

    /// Gives rank `i` piece `i` of `all` of the PE with rank `root`, which has
    /// `values.len() * size` elements. `all` of the others is not looked at.
    pub fn scatter<T: Element>(&self, root: Rank, all: &[T], values: &mut [T]) -> Result<()> {
        self.scatter_v(root, all, &self.even(values.len())?, values)
    }

    /// As [`gather`](Self::gather), where rank `i` gives `counts[i]` values.
    pub fn gather_v<T: Element>(
        &self,
        root: Rank,
        values: &[T],
        counts: &[usize],
        all: &mut [T],
    ) -> Result<()> {
        let piece = ("piece of a gather", values.len());
        let pieces = self.rooted::<T>(root, counts, piece, ("result of a gather", all.len()))?;
        let (values, all) = ((values.as_bytes(), Operands::of::<T>()), all.as_mut_bytes());
        self.core
            .gather_to(&*self.inner, root, values, &pieces, all)
    }

    /// As [`scatter`](Self::scatter), where rank `i` gets `counts[i]` values.
    pub fn scatter_v<T: Element>(
        &self,
        root: Rank,
        all: &[T],
        counts: &[usize],
        values: &mut [T],
    ) -> Result<()> {
        let piece = ("piece of a scatter", values.len());
        let pieces = self.rooted::<T>(root, counts, piece, ("pieces of a scatter", all.len()))?;
        let (all, values) = (all.as_bytes(), (values.as_mut_bytes(), Operands::of::<T>()));
        let core = &self.core;
        core.scatter_from(&*self.inner, root, all, &pieces, values)
    }

    /// As [`all_gather`](Self::all_gather), where rank `i` gives `counts[i]` values.
    pub fn all_gather_v<T: Element>(
        &self,
        values: &[T],
        counts: &[usize],
        all: &mut [T],
    ) -> Result<()> {
        self.inner.check_is_here()?;
        let pieces = self.pieces::<T>(counts)?;
        self.check_own("piece of an all-gather", counts, values.len())?;
        check_length("result of an all-gather", sum(counts), all.len())?;
        let (values, all) = ((values.as_bytes(), Operands::of::<T>()), all.as_mut_bytes());
        self.core.gather_pieces(&*self.inner, values, &pieces, all)
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
        self.inner.check_is_here()?;
        let going = self.pieces::<T>(out_counts)?;
        let coming = self.pieces::<T>(into_counts)?;
        check_length("pieces of an all-to-all", sum(out_counts), out.len())?;
        check_length("result of an all-to-all", sum(into_counts), into.len())?;
        let own = into_counts[self.core.rank()];
        self.check_own("own piece of an all-to-all", out_counts, own)?;
        let (out, into) = ((out.as_bytes(), &going), (into.as_mut_bytes(), &coming));
        let operands = Operands::of::<T>();
        self.core.exchange_any(&*self.inner, out, into, operands)
    }

    /// The untyped parts of this team, for fronts of other languages, whose elements are bytes
    /// here.
    #[doc(hidden)]
    pub fn untyped(&self) -> Result<(&crate::core::Team, &(impl Messages + use<>))> {
        self.inner.check_is_here()?;
        Ok((&self.core, &*self.inner))
    }

    /// Allocates nothing in a copy of the process.
    fn even(&self, each: usize) -> Result<Vec<usize>> {
        self.inner.check_is_here()?;
        Ok(vec![each; self.core.size()])
    }

    /// The pieces of an operation with a root. Checks the length of the own piece, and at the
    /// root that of all.
    fn rooted<T>(
        &self,
        root: Rank,
        counts: &[usize],
        (piece, piece_len): (&'static str, usize),
        (all, all_len): (&'static str, usize),
    ) -> Result<Pieces> {
        self.inner.check_is_here()?;
        self.member(root)?;
        let pieces = self.pieces::<T>(counts)?;
        self.check_own(piece, counts, piece_len)?;
        if self.rank() == root {
            check_length(all, sum(counts), all_len)?;
        }
        Ok(pieces)
    }

    fn pieces<T>(&self, counts: &[usize]) -> Result<Pieces> {
        check_length("counts of a team", self.core.size(), counts.len())?;
        let lens = counts.iter().map(|len| len.saturating_mul(size_of::<T>()));
        Ok(Pieces::new(lens))
    }

    fn check_own(&self, what: &'static str, counts: &[usize], got: usize) -> Result<()> {
        check_length(what, counts[self.core.rank()], got)
    }
}

fn sum(counts: &[usize]) -> usize {
    counts.iter().fold(0, |sum, len| sum.saturating_add(*len))
}

/// `combine` for bytes that are elements `T`.
#[inline(always)]
fn untyped<T: Element, F: Fn(T, T) -> T, R>(
    combine: F,
    operation: impl FnOnce(Combine<'_>) -> R,
) -> R {
    untyped_as(Operands::combined::<T, F>(), combine, operation)
}

/// As `untyped`, with operands that a front gives because it knows them better than their types
/// say.
#[doc(hidden)]
#[inline(always)]
pub fn untyped_as<T: Element, R>(
    operands: Operands,
    combine: impl Fn(T, T) -> T,
    operation: impl FnOnce(Combine<'_>) -> R,
) -> R {
    let function = |sum: &mut [u8], values: Values<'_>| values.combine::<T>(sum, &combine);
    operation(Combine {
        function: &function,
        element_bytes: size_of::<T>(),
        operands,
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

impl Messages for Inner {
    fn send(&self, company: Company<'_>, to: PeId, tag: u64, bytes: &[u8]) -> Result<()> {
        self.send_of(Kind::Team, company, to, tag, bytes)
    }

    fn receive(&self, company: Company<'_>, from: PeId, tag: u64, into: &mut [u8]) -> Result<()> {
        let expected = into.len();
        let got = self.receive_of_team(company, from, tag, into);
        same_length(from, expected, got)
    }

    fn exchange(
        &self,
        company: Company<'_>,
        (to, out): (PeId, &[u8]),
        (from, into): (PeId, &mut [u8]),
        tag: u64,
    ) -> Result<()> {
        let expected = into.len();
        let send = Sending::new(to, Kind::Team, tag, Payload::Bytes(out));
        let pattern = Pattern::new(Kind::Team, from, tag);
        let receive = Receiving::new(pattern, 1, Target::Bytes(into));
        let got = self.run_exchange(company, (to, send), (from, receive));
        same_length(from, expected, got.map(|envelope| envelope.len_bytes))
    }
}

/// Peers that pass other lengths to the same operation get an error.
fn same_length(from: PeId, expected_bytes: usize, got: Result<usize>) -> Result<()> {
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
        pe: from,
        theirs: format!("{got} bytes"),
        ours: format!("{expected_bytes} bytes"),
    })
}
