//! The barrier: dissemination, one word per round.
//!
//! In round `k` a PE tells the one `2^k` ranks on and waits for the one `2^k` ranks
//! back. Each flag is written by one peer and holds the number of the barrier, so it is
//! never reset.

use hostwire_transport::TransportError;

use crate::board::Activity;
use crate::error::Result;
use crate::inner::{Inner, Watch};
use crate::layout::PES_MAX;
use crate::team::Team;

#[inline]
pub(crate) fn barrier(team: &Team) -> Result<()> {
    let inner = &*team.inner;
    let _busy = inner.status.during(Activity::Barrier, None);
    let size = team.members.len();
    let epoch = team.epoch.get() + 1;
    team.epoch.set(epoch);
    inner.quiet()?;
    let mut round = 0;
    while 1 << round < size {
        let step = 1 << round;
        let rank = team.rank as usize;
        let to = team.members[(rank + step) % size];
        let from = team.members[(rank + size - step) % size];
        let flag = inner.layout.flag(team.slot, round);
        inner.put_word(to, flag, epoch)?;
        let segment = inner.segment();
        inner.wait(Watch::Team(&team.members), || {
            let got = segment.load_word(flag)?;
            // A peer can be one barrier ahead, never more.
            if got == epoch || got == epoch + 1 {
                Ok(Some(()))
            } else if got == epoch - 1 {
                Ok(None)
            } else {
                Err(TransportError::misbehaved(
                    from,
                    "its flag of a barrier",
                    format_args!("{} to {}", epoch - 1, epoch + 1),
                    got,
                )
                .into())
            }
        })?;
        round += 1;
    }
    Ok(())
}

/// Sets the own flags of a team slot back to what a new team starts with.
pub(crate) fn clear_flags(inner: &Inner, slot: usize) -> Result<()> {
    for round in 0..PES_MAX.ilog2() as usize {
        let flag = inner.layout.flag(slot, round);
        inner.segment().put_word(flag, 0)?;
    }
    Ok(())
}
