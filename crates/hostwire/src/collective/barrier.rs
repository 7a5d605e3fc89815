//! The barrier: dissemination, one word per round.
//!
//! In round `k` a PE signals the one `2^k` ranks after it and waits for the one `2^k` ranks
//! before it. Each flag is written by one peer and holds the number of the barrier, so it is
//! never reset. Barriers are counted from [`FIRST`], and no flag is 0, so a flag that was
//! wiped out does not look like a peer that has not arrived.

use std::sync::atomic::Ordering;

use hostwire_transport::{PeId, Visibility};

use crate::board::Activity;
use crate::error::{Error, PeerWord, Result};
use crate::inner::{Departure, Inner, Watch};
use crate::layout::PES_MAX;
use crate::team::Team;

#[inline]
pub(crate) fn barrier(team: &Team) -> Result<()> {
    let _busy = team.inner.status.during(Activity::Barrier, None);
    meet(team, |from| Watch::Next {
        members: &team.members,
        next: from,
    })
}

/// The barrier at the end of the job: a PE that has passed it may end while others are
/// still in it.
pub(crate) fn last_barrier(team: &Team) -> Result<()> {
    let met = meet(team, |_| Watch::TheEnd(&team.members));
    match met {
        // A PE that has passed knows that all have arrived.
        Err(Error::PeerLeft { pe } | Error::PeerLost { pe, .. })
            if team.inner.departure(pe)? == Some(Departure::Gone) =>
        {
            Ok(())
        }
        met => met,
    }
}

#[inline]
fn meet<'a>(team: &'a Team, watch: impl Fn(PeId) -> Watch<'a>) -> Result<()> {
    let epoch = team.epoch.get() + 1;
    // A barrier that failed has not taken place: who tries it again must not look as if
    // it were ahead of those that still wait in it.
    rounds(team, epoch, watch)?;
    team.epoch.set(epoch);
    Ok(())
}

#[inline]
fn rounds<'a>(team: &'a Team, epoch: u64, watch: impl Fn(PeId) -> Watch<'a>) -> Result<()> {
    let inner = &*team.inner;
    let size = team.members.len();
    inner.quiet()?;
    let unprepared = epoch == FIRST + 1 && inner.segment().visibility() != Visibility::Coherent;
    let mut round = 0;
    while 1 << round < size {
        let step = 1 << round;
        let rank = team.rank as usize;
        let to = team.members[(rank + step) % size];
        let from = team.members[(rank + size - step) % size];
        let flag = inner.layout.flag(team.slot, round);
        inner.put_word(to, flag, epoch)?;
        let segment = inner.segment();
        segment.await_change(flag, epoch - 1, inner.spins())?;
        inner.wait(watch(from), || {
            let got = segment.load_word(flag)?;
            // A peer can be one barrier ahead, never more.
            if got == epoch || got == epoch + 1 {
                Ok(Some(()))
            } else if got == epoch - 1 || got == 0 && unprepared {
                Ok(None)
            } else {
                Err(PeerWord::BarrierFlag.out_of(epoch - 1..=epoch + 1, from, got))
            }
        })?;
        round += 1;
    }
    Ok(())
}

/// The value of a team's flags before its first barrier.
pub(crate) const FIRST: u64 = 1;

/// Sets the own flags of a team slot back to what a new team starts with. A barrier has to
/// follow before the team's first.
pub(crate) fn clear_flags(inner: &Inner, slot: usize) -> Result<()> {
    for round in 0..PES_MAX.ilog2() as usize {
        let flag = inner.layout.flag(slot, round);
        inner.segment().put_word(flag, FIRST)?;
    }
    Ok(())
}

/// The same for the world, in a fresh segment: peers may be in its first barrier already. Left
/// out if no atomic operation can keep their stores apart from ours.
pub(crate) fn prepare_flags(inner: &Inner) -> Result<()> {
    if inner.segment().visibility() != Visibility::Coherent {
        return Ok(());
    }
    for round in 0..PES_MAX.ilog2() as usize {
        let flag = inner.segment().word(inner.layout.flag(0, round))?;
        let _ = flag.compare_exchange(0, FIRST, Ordering::Relaxed, Ordering::Relaxed);
    }
    Ok(())
}
