//! Barriers.
//!
//! Dissemination: in round `k` a member signals the one `2^k` ranks after it and waits for the
//! one `2^k` ranks before it. Members of a large team on several hosts meet on each host first: see `large`. Each flag is written by one peer and holds the number of the
//! barrier, so it is never reset. No number is 0, and no flag is 0 after its owner has begun. So a
//! flag that was wiped out is not mistaken for a peer that has not arrived.

use std::sync::atomic::Ordering;

use super::deadlock::Step;
use super::line::Awaited;
use super::tree::Tree;
use super::{Caller, Team};
use crate::attachment::{Attachment, Watch};
use crate::board::Activity;
use crate::error::{Error, PeerWord, Result};
use crate::layout::ENTRIES;
use crate::lost::Departure;
use crate::slots::UNUSED;

/// The stamp of a team's first barrier.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) const FIRST_STAMP: u64 = UNUSED + 1;
/// How many members a member informs that a barrier is over, where PEs share cores. In a larger team those inform others. If the
/// last one informed all, every PE would in the end have page tables for a page of every other: 10 GiB for 1,024 PEs.
const INFORMED_MAX: usize = 64;
/// Number of low bits of the counter in which a barrier counts arrivals; the stamp is above them.
const ARRIVALS_BITS: u32 = crate::layout::PES_MAX.ilog2() + 1;

impl Team {
    /// Waits for all members. All their earlier stores have then arrived.
    ///
    /// # Errors
    /// [`Error::PeerLost`], [`Error::PeerLeft`], [`Error::PeerMisbehaved`].
    #[inline]
    pub fn barrier<C: Caller>(&self, caller: &C) -> Result<()> {
        self.quiet(caller)?;
        // Where the CPU itself stores, the flags are stored after all data, and no member passes
        // before it has seen them.
        self.sync(caller)
    }

    /// Waits for all members.
    ///
    /// # Errors
    /// As [`barrier`](Self::barrier).
    #[inline]
    pub fn sync<C: Caller>(&self, caller: &C) -> Result<()> {
        self.meet(caller, Activity::Barrier, Watch::All(&self.members))
    }

    /// As [`barrier`](Self::barrier), for PEs that left the job and start again: a member may still
    /// be marked as leaving but will come. Only a dead PE will not.
    pub fn barrier_again<C: Caller>(&self, caller: &C) -> Result<()> {
        // A PE that has passed must not see this one as leaving.
        self.quiet(caller)?;
        let watch = Watch::Next {
            members: &self.members,
            next: self.members[self.rank],
        };
        self.meet(caller, Activity::Barrier, watch)
    }

    /// The last barrier of the job: a PE that has passed it may have ended.
    pub fn last_barrier<C: Caller>(&self, caller: &C) -> Result<()> {
        self.quiet(caller)?;
        let met = self.meet(caller, Activity::Finalizing, Watch::TheEnd(&self.members));
        match met {
            // A PE that has passed knows that all have arrived.
            Err(Error::PeerLeft { pe } | Error::PeerLost { pe, .. })
                if caller.attachment().departure(pe)? == Some(Departure::Gone) =>
            {
                self.has_met(caller)
            }
            met => met,
        }
    }

    /// Ends a barrier at which all are known to have arrived, as if this member had waited for each
    /// signal. It sends its remaining signals, and counts the barrier as the others do.
    #[cold]
    fn has_met<C: Caller>(&self, caller: &C) -> Result<()> {
        let number = self.barriers.load(Ordering::Relaxed) + 1;
        match self.tree_of_hosts() {
            Some(tree) => self.tell_by_hosts(caller, tree, number)?,
            None => {
                for round in self.rounds() {
                    let to = (self.rank + (1 << round)) % self.size();
                    self.put_word(caller, to, self.slot.flag(round), self.stamp(number))?;
                }
            }
        }
        self.barriers.store(number, Ordering::Relaxed);
        self.all_began(self.operations.load(Ordering::Relaxed) + 1);
        Ok(())
    }

    /// Waits until all stores have arrived, if the CPU itself does not do all of them.
    #[inline]
    pub(super) fn quiet<C: Caller>(&self, caller: &C) -> Result<()> {
        match caller.attachment().is_plain() {
            true => Ok(()),
            false => caller.attachment().quiet(),
        }
    }

    #[inline]
    pub(super) fn meet<C: Caller>(
        &self,
        caller: &C,
        doing: Activity,
        watch: Watch<'_>,
    ) -> Result<()> {
        let attachment = caller.attachment();
        attachment.check_is_here()?;
        let size = self.size();
        if size > 1 {
            // A barrier that failed does not count: a member that tries it again must not seem to be
            // ahead of those that still wait in it.
            let number = self.barriers.load(Ordering::Relaxed) + 1;
            if size == 2 || !self.meet_among_many(caller, doing, watch, number)? {
                self.meet_in_rounds(caller, doing, watch, number)?;
            }
            self.barriers.store(number, Ordering::Relaxed);
        }
        self.all_began(self.operations.load(Ordering::Relaxed) + 1);
        Ok(())
    }

    /// Meets in another way than in rounds, if there is a better one for three or more members. Whether there was.
    #[inline(never)]
    fn meet_among_many<C: Caller>(
        &self,
        caller: &C,
        doing: Activity,
        watch: Watch<'_>,
        number: u64,
    ) -> Result<bool> {
        let attachment = caller.attachment();
        if attachment.is_crowded() && attachment.is_plain() {
            self.meet_crowded(caller, doing, watch, number)?;
        } else if let Some(tree) = self.tree_of_hosts() {
            self.meet_by_hosts(caller, (tree, number), doing, watch)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    #[inline(always)]
    fn meet_in_rounds<C: Caller>(
        &self,
        caller: &C,
        doing: Activity,
        watch: Watch<'_>,
        number: u64,
    ) -> Result<()> {
        let (size, stamp) = (self.size(), self.stamp(number));
        let mut round = 0;
        while 1 << round < size {
            let to = self.rank + (1 << round);
            let to = if to >= size { to - size } else { to };
            let rank = self.rank + size - (1 << round);
            let rank = if rank >= size { rank - size } else { rank };
            let flag = self.slot.flag(round);
            self.put_word(caller, to, flag, stamp)?;
            self.hear_flag(caller, (flag, stamp), rank, doing, watch)?;
            round += 1;
        }
        Ok(())
    }

    /// Waits for the flag of a barrier that `rank` stores, at this offset.
    #[inline(always)]
    pub(super) fn hear_flag<C: Caller>(
        &self,
        caller: &C,
        (flag, stamp): (usize, u64),
        rank: usize,
        doing: Activity,
        watch: Watch<'_>,
    ) -> Result<()> {
        let from = self.members[rank];
        let next = [rank];
        let word = Awaited {
            offset: flag,
            doing,
            // Other members may have passed and leave. The one whose signal is needed may not.
            watch: match watch {
                Watch::All(members) => Watch::Next {
                    members,
                    next: from,
                },
                watch => watch,
            },
            step: self.barrier_step(&next),
        };
        word.meets(caller, |got| match got {
            // A peer can be one barrier ahead, never more.
            got if got == stamp || got == stamp + 1 => Ok(true),
            got if got < stamp && (got != 0 || !attachment_is_marked(caller)) => Ok(false),
            got => Err(PeerWord::BarrierFlag.out_of(stamp - 1..=stamp + 1, from, got)),
        })
    }

    /// The rounds of a barrier among all.
    fn rounds(&self) -> impl Iterator<Item = usize> + use<> {
        let size = self.size();
        (0..).take_while(move |round| 1 << round < size)
    }

    /// Along which tree barriers go, if they go by hosts.
    #[inline(always)]
    fn tree_of_hosts(&self) -> Option<&Tree> {
        self.tree().filter(|tree| tree.has_hosts())
    }

    /// If PEs share cores, each of them should be scheduled only once: all count themselves at
    /// rank 0, and the last one to arrive informs the others, or in a larger team the root of a tree.
    #[cold]
    fn meet_crowded<C: Caller>(
        &self,
        caller: &C,
        doing: Activity,
        watch: Watch<'_>,
        number: u64,
    ) -> Result<()> {
        let (size, stamp) = (self.size(), self.stamp(number));
        let attachment = caller.attachment();
        let Some(first) = attachment.atomic_window(self.members[0]) else {
            return self.meet_in_rounds(caller, doing, watch, number);
        };
        let counter = first.word(self.slot.counter())?;
        // Arrivals of later barriers and teams only increase it. So a member that reads it late sees
        // that its own barrier is over.
        let nobody = stamp << ARRIVALS_BITS;
        let all = nobody + size as u64;
        let (Ok(before) | Err(before)) =
            counter.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |count| {
                Some(count.max(nobody) + 1)
            });
        if before.max(nobody) + 1 == all {
            if size <= INFORMED_MAX {
                return self.inform(caller, 0..size, stamp);
            }
            self.inform(caller, 0..1, stamp)?;
            return self.inform(caller, self.below(), stamp);
        }
        let word = Awaited {
            offset: self.slot.release(),
            doing,
            watch,
            step: self.barrier_step(&[]),
        };
        let met = word.meets(caller, |got| Ok(got >= stamp));
        if size > INFORMED_MAX && (met.is_ok() || counter.load(Ordering::Acquire) >= all) {
            self.inform(caller, self.below(), stamp)?;
        }
        match met {
            // A member that has passed may leave before this one is informed. But then all members
            // have counted themselves. If a member leaves while some are still missing, the barrier
            // never ends.
            Err(Error::PeerLeft { .. }) if counter.load(Ordering::Acquire) >= all => Ok(()),
            Err(error) => {
                // Takes this member's arrival back, unless the barrier is already complete.
                let _ = counter.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |count| {
                    (nobody < count && count < all).then(|| count - 1)
                });
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    /// The ranks below this one in the tree.
    fn below(&self) -> std::ops::Range<usize> {
        let first = self.rank * INFORMED_MAX + 1;
        first.min(self.size())..(first + INFORMED_MAX).min(self.size())
    }

    /// Tells these members, without the own one, that the barrier is over. A word is written by the member above and by those that
    /// arrive last; it grows, because the one above has written the last one before it arrives here.
    fn inform<C: Caller>(
        &self,
        caller: &C,
        ranks: std::ops::Range<usize>,
        stamp: u64,
    ) -> Result<()> {
        for rank in ranks.filter(|rank| *rank != self.rank) {
            self.put_word(caller, rank, self.slot.release(), stamp)?;
        }
        Ok(())
    }

    fn barrier_step<'a>(&'a self, next: &'a [usize]) -> Step<'a> {
        Step {
            team: self,
            line: None,
            next,
        }
    }

    /// Stores one word into the segment of `rank`, after everything stored before. No error if the
    /// PE is lost: it may have seen the word and left. If it has died, this member finds out in its
    /// own wait.
    #[inline(always)]
    pub(super) fn put_word<C: Caller>(
        &self,
        caller: &C,
        rank: usize,
        offset: usize,
        value: u64,
    ) -> Result<()> {
        match caller
            .attachment()
            .signal_word(self.members[rank], offset, value)
        {
            Err(Error::PeerLost { .. }) => Ok(()),
            told => told,
        }
    }

    /// Marks the own flags of this team as unused, and its lines if there are few: after this, 0 is
    /// neither a flag nor a stamp. Peers may be in the team's first barrier already. Does nothing
    /// where no CPU operation is atomic with respect to their stores.
    pub(super) fn mark_words(&self, attachment: &Attachment) -> Result<()> {
        if !attachment.marks_words() {
            return Ok(());
        }
        let flags = match self.tree_of_hosts() {
            Some(tree) => tree.flags(),
            None => self.rounds().collect(),
        };
        let flags = flags.into_iter().map(|flag| self.slot.flag(flag));
        let entries = 0..if self.marks_lines { ENTRIES } else { 0 };
        let lines = entries.flat_map(|number| self.others().map(move |rank| (number, rank)));
        let lines = lines.map(|(number, rank)| self.slot.line(number, rank));
        for offset in flags.chain(lines) {
            let word = attachment.segment().word(offset)?;
            let _ = word.compare_exchange(0, UNUSED, Ordering::Relaxed, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cold]
fn attachment_is_marked<C: Caller>(caller: &C) -> bool {
    caller.attachment().marks_words()
}
