//! Combining data: all-reduce and scan, always in the order of ranks.

use super::gather::is_gathered;
use super::rooted::reduce_piece;
use super::{all_gather, check_length, receive, send};
use crate::element::Element;
use crate::error::Result;
use crate::team::Team;

pub(crate) fn all_reduce<T: Element>(
    team: &Team,
    values: &mut [T],
    combine: impl Fn(T, T) -> T,
) -> Result<()> {
    let size = team.members.len();
    if size == 1 || values.is_empty() {
        return Ok(());
    }
    if is_gathered(team, values) {
        let mut all = vec![values[0]; values.len() * size];
        all_gather(team, values, &mut all)?;
        fold(values, &all, combine);
        return Ok(());
    }
    // Each rank reduces one piece of all PEs' values, then all gather the pieces.
    let (reduced, mut all) = reduce_piece(team, values, combine)?;
    all_gather(team, &reduced, &mut all)?;
    values.copy_from_slice(&all[..values.len()]);
    Ok(())
}

/// Combines the pieces of `all`, each as long as `into`, from the first to the last.
pub(super) fn fold<T: Copy>(into: &mut [T], all: &[T], combine: impl Fn(T, T) -> T) {
    let (first, rest) = all.split_at(into.len());
    into.copy_from_slice(first);
    for piece in rest.chunks_exact(into.len()) {
        for (sum, value) in into.iter_mut().zip(piece) {
            *sum = combine(*sum, *value);
        }
    }
}

/// A chain: each rank waits for the one before it.
pub(crate) fn scan<T: Element>(
    team: &Team,
    values: &mut [T],
    combine: impl Fn(T, T) -> T,
) -> Result<()> {
    let tag = team.next_tag();
    let (rank, size) = (team.rank, team.size());
    if rank > 0 {
        let mut before = values.to_vec();
        receive(team, tag, rank - 1, &mut before)?;
        check_length("values of a scan", values.len(), before.len())?;
        for (value, before) in values.iter_mut().zip(before) {
            *value = combine(before, *value);
        }
    }
    if rank + 1 < size {
        send(team, tag, rank + 1, values)?;
    }
    Ok(())
}

/// As [`scan`], without the own values.
pub(crate) fn exclusive_scan<T: Element>(
    team: &Team,
    values: &mut [T],
    first: T,
    combine: impl Fn(T, T) -> T,
) -> Result<()> {
    let tag = team.next_tag();
    let (rank, size) = (team.rank, team.size());
    let mut behind = values.to_vec();
    if rank == 0 {
        values.fill(first);
    } else {
        receive(team, tag, rank - 1, values)?;
        for (own, before) in behind.iter_mut().zip(&*values) {
            *own = combine(*before, *own);
        }
    }
    if rank + 1 < size {
        send(team, tag, rank + 1, &behind)?;
    }
    Ok(())
}
