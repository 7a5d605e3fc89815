//! What one rank gives all, or gets from all: gather, scatter, reduce; with pieces of one length
//! or of one for each rank.

use core::ops::Range;

use super::gather::{exchange_pieces, is_gathered};
use super::reduce::fold;
use super::{check_length, exchange, receive, send};
use crate::element::Element;
use crate::error::Result;
use crate::team::{Rank, Team};

/// Where the piece of each rank lies, the pieces being behind each other.
pub(super) struct Pieces {
    /// By rank; and the end.
    begins: Vec<usize>,
}

impl Pieces {
    /// One of `each` elements for each rank.
    pub(super) fn even(team: &Team, each: usize) -> Self {
        let size = team.members.len();
        Self {
            begins: (0..=size).map(|rank| rank.saturating_mul(each)).collect(),
        }
    }

    /// One of `counts[rank]` elements for each rank.
    ///
    /// # Errors
    /// [`crate::Error::Length`] if these are not as many as there are ranks.
    pub(super) fn of(team: &Team, counts: &[usize]) -> Result<Self> {
        check_length("counts of a team", team.members.len(), counts.len())?;
        let mut begins = vec![0];
        let mut end = 0_usize;
        for count in counts {
            end = end.saturating_add(*count);
            begins.push(end);
        }
        Ok(Self { begins })
    }

    fn all(&self) -> usize {
        self.begins.last().copied().unwrap_or(0)
    }

    fn of_rank(&self, rank: usize) -> Range<usize> {
        self.begins[rank]..self.begins[rank + 1]
    }
}

/// Every rank sends its piece to the root, which receives them in the order of ranks.
pub(super) fn gather<T: Element>(
    team: &Team,
    root: Rank,
    values: &[T],
    pieces: &Pieces,
    all: &mut [T],
) -> Result<()> {
    team.member(root)?;
    let own = team.rank as usize;
    check_length("piece of a gather", pieces.of_rank(own).len(), values.len())?;
    if team.rank == root {
        check_length("result of a gather", pieces.all(), all.len())?;
    }
    let tag = team.next_tag();
    if team.rank != root {
        return send(team, tag, root, values);
    }
    all[pieces.of_rank(own)].copy_from_slice(values);
    for rank in (0..team.size()).filter(|rank| *rank != root) {
        receive(team, tag, rank, &mut all[pieces.of_rank(rank as usize)])?;
    }
    Ok(())
}

/// The root sends each rank its piece.
pub(super) fn scatter<T: Element>(
    team: &Team,
    root: Rank,
    all: &[T],
    pieces: &Pieces,
    values: &mut [T],
) -> Result<()> {
    team.member(root)?;
    let own = team.rank as usize;
    check_length(
        "piece of a scatter",
        pieces.of_rank(own).len(),
        values.len(),
    )?;
    if team.rank == root {
        check_length("pieces of a scatter", pieces.all(), all.len())?;
    }
    let tag = team.next_tag();
    if team.rank != root {
        return receive(team, tag, root, values);
    }
    // Not all begin with rank 0, if several do this one after another.
    for step in 1..team.size() {
        let rank = (root + step) % team.size();
        send(team, tag, rank, &all[pieces.of_rank(rank as usize)])?;
    }
    values.copy_from_slice(&all[pieces.of_rank(own)]);
    Ok(())
}

/// In step `k` each rank gives its piece to the rank `k` on.
pub(super) fn all_gather<T: Element>(
    team: &Team,
    values: &[T],
    pieces: &Pieces,
    all: &mut [T],
) -> Result<()> {
    let (size, own) = (team.members.len(), team.rank as usize);
    check_length(
        "piece of an all-gather",
        pieces.of_rank(own).len(),
        values.len(),
    )?;
    check_length("result of an all-gather", pieces.all(), all.len())?;
    let tag = team.next_tag();
    all[pieces.of_rank(own)].copy_from_slice(values);
    for step in 1..size {
        let (to, from) = ((own + step) % size, (own + size - step) % size);
        let place = &mut all[pieces.of_rank(from)];
        exchange(team, tag, to as Rank, values, from as Rank, place)?;
    }
    Ok(())
}

/// In step `k`, a piece goes to the rank `k` on and one comes from the rank `k` back.
pub(super) fn all_to_all<T: Element>(
    team: &Team,
    (out, out_pieces): (&[T], &Pieces),
    (into, into_pieces): (&mut [T], &Pieces),
) -> Result<()> {
    let (size, own) = (team.members.len(), team.rank as usize);
    check_length("pieces of an all-to-all", out_pieces.all(), out.len())?;
    check_length("result of an all-to-all", into_pieces.all(), into.len())?;
    let (kept, place) = (out_pieces.of_rank(own), into_pieces.of_rank(own));
    check_length("own piece of an all-to-all", kept.len(), place.len())?;
    let tag = team.next_tag();
    into[place].copy_from_slice(&out[kept]);
    for step in 1..size {
        let (to, from) = ((own + step) % size, (own + size - step) % size);
        exchange(
            team,
            tag,
            to as Rank,
            &out[out_pieces.of_rank(to)],
            from as Rank,
            &mut into[into_pieces.of_rank(from)],
        )?;
    }
    Ok(())
}

/// Small ones are gathered and combined at the root; of long ones each rank combines a piece.
pub(super) fn reduce<T: Element>(
    team: &Team,
    root: Rank,
    values: &mut [T],
    combine: impl Fn(T, T) -> T,
) -> Result<()> {
    team.member(root)?;
    let size = team.members.len();
    if size == 1 || values.is_empty() {
        return Ok(());
    }
    if is_gathered(team, values) {
        let pieces = Pieces::even(team, values.len());
        let mut all = match team.rank == root {
            true => vec![values[0]; pieces.all()],
            false => Vec::new(),
        };
        gather(team, root, values, &pieces, &mut all)?;
        if team.rank == root {
            fold(values, &all, combine);
        }
        return Ok(());
    }
    let (reduced, mut all) = reduce_piece(team, values, combine)?;
    let pieces = Pieces::even(team, reduced.len());
    gather(team, root, &reduced, &pieces, &mut all)?;
    if team.rank == root {
        values.copy_from_slice(&all[..values.len()]);
    }
    Ok(())
}

/// The piece of the result that this rank combines, and room for the pieces of all, which may
/// have more elements than there are values: the last piece is filled up with values that are
/// thrown away.
pub(super) fn reduce_piece<T: Element>(
    team: &Team,
    values: &[T],
    combine: impl Fn(T, T) -> T,
) -> Result<(Vec<T>, Vec<T>)> {
    let size = team.members.len();
    let each = values.len().div_ceil(size);
    let mut padded = values.to_vec();
    padded.resize(each * size, values[0]);
    let mut reduced = vec![values[0]; each];
    scatter_reduced(team, &padded, &mut reduced, combine)?;
    Ok((reduced, padded))
}

/// Each rank combines the pieces of all that are for it.
pub(super) fn scatter_reduced<T: Element>(
    team: &Team,
    values: &[T],
    into: &mut [T],
    combine: impl Fn(T, T) -> T,
) -> Result<()> {
    let (size, each) = (team.members.len(), into.len());
    let expected = each.saturating_mul(size);
    check_length("values of a reduce-scatter", expected, values.len())?;
    if each == 0 {
        return Ok(());
    }
    let tag = team.next_tag();
    let mut mine = values.to_vec();
    exchange_pieces(team, tag, values, &mut mine)?;
    fold(into, &mine, combine);
    Ok(())
}
