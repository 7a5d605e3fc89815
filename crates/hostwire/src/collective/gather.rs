//! Moving data without changing it: broadcast, all-gather, all-to-all.

use super::{check_length, exchange, receive, send, send_due};
use crate::element::Element;
use crate::error::Result;
use crate::team::{Rank, Team};

/// Up to this many bytes per PE every PE sends to every PE at once. Fitted; and only
/// for data that fits into the rings, so that no PE has to receive before all have
/// sent.
pub(super) const DIRECT_BYTES_MAX: usize = 512;
/// And up to this many PEs.
pub(super) const DIRECT_PES_MAX: usize = 64;

pub(super) fn is_direct<T>(team: &Team, values: &[T]) -> bool {
    let len_bytes = size_of_val(values);
    len_bytes <= DIRECT_BYTES_MAX
        && len_bytes <= team.inner.layout.slots().message_bytes_max()
        && team.members.len() <= DIRECT_PES_MAX
}

/// Up to this many bytes of result, an all-gather doubles what each has in every step; beyond
/// it, pieces go around. Fitted.
const DOUBLING_BYTES_MAX: usize = 64 << 10;

/// Whether a reduction gathers the `values` of all PEs and combines them in each PE.
pub(super) fn is_gathered<T>(team: &Team, values: &[T]) -> bool {
    let len_bytes = size_of_val(values);
    let small = len_bytes <= DIRECT_BYTES_MAX;
    is_direct(team, values) || small && len_bytes * team.members.len() <= DOUBLING_BYTES_MAX
}

/// A binomial tree.
pub(crate) fn broadcast<T: Element>(team: &Team, root: Rank, values: &mut [T]) -> Result<()> {
    team.member(root)?;
    let tag = team.next_tag();
    let size = team.size();
    // Ranks counted from the root.
    let own = (team.rank + size - root) % size;
    let rank_of = |relative: u32| (relative + root) % size;
    let mut reach = 1;
    while reach < size {
        if own < reach {
            if own + reach < size {
                send(team, tag, rank_of(own + reach), values)?;
            }
        } else if own < 2 * reach {
            receive(team, tag, rank_of(own - reach), values)?;
        }
        reach *= 2;
    }
    Ok(())
}

pub(crate) fn all_gather<T: Element>(team: &Team, values: &[T], all: &mut [T]) -> Result<()> {
    let (size, each) = (team.members.len(), values.len());
    check_length("result of an all-gather", each * size, all.len())?;
    let tag = team.next_tag();
    let own = team.rank as usize;
    all[own * each..][..each].copy_from_slice(values);
    if is_direct(team, values) {
        for step in 1..size {
            send_due(team, tag, ((own + step) % size) as Rank, values)?;
        }
        for step in 1..size {
            let from = (own + size - step) % size;
            receive(team, tag, from as Rank, &mut all[from * each..][..each])?;
        }
        return Ok(());
    }
    if size_of_val(all) <= DOUBLING_BYTES_MAX {
        return double(team, tag, values, all);
    }
    // Around a ring: each step passes on what the last one brought.
    let (next, previous) = ((own + 1) % size, (own + size - 1) % size);
    let mut passed = values.to_vec();
    for step in 1..size {
        let from = (own + size - step) % size;
        let place = &mut all[from * each..][..each];
        exchange(team, tag, next as Rank, &passed, previous as Rank, place)?;
        passed.copy_from_slice(place);
    }
    Ok(())
}

/// Bruck's algorithm: every PE has its own piece and those of the ranks before it, twice as
/// many after each step. The first step is the same as that of the ring, so that PEs with
/// different lengths notice this, whichever algorithm they use.
fn double<T: Element>(team: &Team, tag: u64, values: &[T], all: &mut [T]) -> Result<()> {
    let (size, each, own) = (team.members.len(), values.len(), team.rank as usize);
    // From the own rank backwards.
    let mut pieces = all.to_vec();
    pieces[..each].copy_from_slice(values);
    let mut have = 1;
    while have < size {
        let more = have.min(size - have);
        let (to, from) = ((own + have) % size, (own + size - have) % size);
        let (there, coming) = pieces.split_at_mut(have * each);
        let (out, into) = (&there[..more * each], &mut coming[..more * each]);
        exchange(team, tag, to as Rank, out, from as Rank, into)?;
        have += more;
    }
    for back in 1..size {
        let rank = (own + size - back) % size;
        all[rank * each..][..each].copy_from_slice(&pieces[back * each..][..each]);
    }
    Ok(())
}

/// Pairs: in step `k` with the ranks `k` on and `k` back.
pub(crate) fn all_to_all<T: Element>(team: &Team, out: &[T], into: &mut [T]) -> Result<()> {
    let size = team.members.len();
    let each = out.len() / size;
    check_length("pieces of an all-to-all", each * size, out.len())?;
    check_length("result of an all-to-all", out.len(), into.len())?;
    let tag = team.next_tag();
    let own = team.rank as usize;
    into[own * each..][..each].copy_from_slice(&out[own * each..][..each]);
    if is_direct(team, &out[..each]) {
        for step in 1..size {
            let to = (own + step) % size;
            send_due(team, tag, to as Rank, &out[to * each..][..each])?;
        }
        for step in 1..size {
            let from = (own + size - step) % size;
            receive(team, tag, from as Rank, &mut into[from * each..][..each])?;
        }
        return Ok(());
    }
    exchange_pieces(team, tag, out, into)
}

/// In step `k`, a piece of `out` goes to the PE `k` ranks after this one, and one of `into`
/// comes from the PE `k` ranks before it. Both hold a piece for each rank; the own one stays as
/// it is.
pub(super) fn exchange_pieces<T: Element>(
    team: &Team,
    tag: u64,
    out: &[T],
    into: &mut [T],
) -> Result<()> {
    let (size, own) = (team.members.len(), team.rank as usize);
    let each = out.len() / size;
    for step in 1..size {
        let (to, from) = ((own + step) % size, (own + size - step) % size);
        exchange(
            team,
            tag,
            to as Rank,
            &out[to * each..][..each],
            from as Rank,
            &mut into[from * each..][..each],
        )?;
    }
    Ok(())
}
