//! The part of a segment through which the members of one team meet.
//!
//! | in each segment, per slot | written by | |
//! |---|---|---|
//! | flag of round `k` | one member, see [`GATHER`] | the number of the barrier |
//! | counter | all members, at rank 0 | stamp of the barrier and arrivals, where PEs share cores |
//! | release | the last to arrive | the number of the barrier |
//! | line `entry`, `rank` | that member | stamp, tag, 48 bytes |
//! | stage `entry`, `rank` | that member | 2 KiB that belong to the line; in jobs of up to 64 PEs |
//! | wait `rank` | that member | what it waits in, while it has waited long for the owner |
//! | long stage `entry`, `rank` | that member | as a stage, with more bytes, at the end of the segment; in the first [`LONG_SLOTS`] slots |

use super::{LINE, PES_MAX};

/// Rounds of a barrier of [`PES_MAX`] PEs. In a barrier among all, the flag of round `k` is that of the member `2^k` ranks before.
const ROUNDS: usize = PES_MAX.ilog2() as usize;
/// The flags of the three parts of a barrier by hosts, in a job of more than [`STAGED_PES_MAX`] PEs: of the rounds within a host, of those
/// among hosts, and that of the way back. Each has one writer in a team.
pub(crate) const GATHER: usize = 0;
/// See [`GATHER`].
pub(crate) const ACROSS: usize = ROUNDS;
/// See [`GATHER`].
pub(crate) const BACK: usize = 2 * ROUNDS;
/// Flags in a smaller job. More than its barriers need.
const FEW_FLAGS: usize = 12;

/// Operations that a member may be ahead of another.
pub(crate) const ENTRIES: u64 = 4;
/// Bytes of a stage.
pub(crate) const STAGE_BYTES: usize = 2 << 10;
/// Most PEs of a job that has stages, because they take address space.
const STAGED_PES_MAX: u32 = 64;

/// Slots with long stages: the teams of most programs. Others would take address space.
const LONG_SLOTS: usize = 16;
/// Bytes of a long stage, at most; and of those of all PEs for an operation. Fitted: the pieces of two
/// operations lie in a cache of the second level.
const LONG_STAGE_BYTES: usize = 16 << 10;
const LONG_STAGES_BYTES: usize = 128 << 10;

/// Where one slot lies. See the [module text](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    begin: usize,
    /// Where its lines begin.
    lines: usize,
    pes: usize,
    /// Where its long stages begin, and bytes of each; 0 if there are none.
    long: usize,
    long_bytes: usize,
}

impl Slot {
    /// The slot `number` of those that begin at `first`, in a job of `pes` PEs; the long stages of all
    /// begin at `long`.
    pub(super) fn new((first, long): (usize, usize), pes: u32, number: usize) -> Self {
        let each = Self::long_stage_bytes(pes);
        let begin = first + number * Self::bytes(pes);
        Self {
            begin,
            lines: begin + Self::before_lines(pes),
            pes: pes as usize,
            long: long + number * ENTRIES as usize * pes as usize * each,
            long_bytes: if number < LONG_SLOTS { each } else { 0 },
        }
    }

    /// Bytes of one slot in a job of `pes` PEs.
    pub(super) fn bytes(pes: u32) -> usize {
        Self::before_waits(pes) + pes as usize * LINE
    }

    /// Bytes of the long stages of all slots.
    pub(super) fn all_long_bytes(pes: u32) -> usize {
        LONG_SLOTS * ENTRIES as usize * pes as usize * Self::long_stage_bytes(pes)
    }

    fn long_stage_bytes(pes: u32) -> usize {
        match Self::has_stages(pes) {
            true => (LONG_STAGES_BYTES / (pes as usize).next_power_of_two()).min(LONG_STAGE_BYTES),
            false => 0,
        }
    }

    fn before_waits(pes: u32) -> usize {
        let entries = ENTRIES as usize * pes as usize;
        let stages = match Self::has_stages(pes) {
            true => entries * STAGE_BYTES,
            false => 0,
        };
        Self::before_lines(pes) + entries * LINE + stages
    }

    /// Bytes of the flags, and of the counter and the release behind them.
    fn before_lines(pes: u32) -> usize {
        (Self::flags(pes) + 2) * LINE
    }

    fn flags(pes: u32) -> usize {
        match Self::has_stages(pes) {
            true => FEW_FLAGS,
            false => BACK + 1,
        }
    }

    /// Whether a job of so many PEs has stages.
    pub(crate) fn has_stages(pes: u32) -> bool {
        pes <= STAGED_PES_MAX
    }

    /// The flag of a round of a barrier.
    #[inline(always)]
    pub(crate) fn flag(&self, round: usize) -> usize {
        debug_assert!(self.begin + (round + 2) * LINE < self.lines);
        self.begin + round * LINE
    }

    /// The counter of a barrier.
    pub(crate) fn counter(&self) -> usize {
        self.lines - 2 * LINE
    }

    /// The word by which a barrier ends.
    pub(crate) fn release(&self) -> usize {
        self.lines - LINE
    }

    #[inline(always)]
    fn entry(&self, number: u64, rank: usize) -> usize {
        debug_assert!(rank < self.pes);
        (number % ENTRIES) as usize * self.pes + rank
    }

    /// The line of `rank` for the operation with this number.
    #[inline(always)]
    pub(crate) fn line(&self, number: u64, rank: usize) -> usize {
        self.lines + self.entry(number, rank) * LINE
    }

    /// The stage that belongs to that line.
    pub(crate) fn stage(&self, number: u64, rank: usize) -> usize {
        let stages = self.lines + ENTRIES as usize * self.pes * LINE;
        stages + self.entry(number, rank) * STAGE_BYTES
    }

    /// Bytes of a long stage; 0 if there are none.
    #[inline(always)]
    pub(crate) fn long_bytes(&self) -> usize {
        self.long_bytes
    }

    /// The long stage that belongs to that line, where there are long stages.
    #[inline(always)]
    pub(crate) fn long_stage(&self, number: u64, rank: usize) -> usize {
        self.long + self.entry(number, rank) * self.long_bytes
    }

    /// The word by which `rank` tells that it waits. In a line of its own, since hosts may write back
    /// whole lines.
    pub(crate) fn wait(&self, rank: usize) -> usize {
        debug_assert!(rank < self.pes);
        self.begin + Self::before_waits(self.pes as u32) + rank * LINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_slot_follow_each_other() {
        for pes in [1, 2, 64, 65] {
            let slot = Slot::new((4096, 1 << 40), pes, 3);
            let last = pes as usize - 1;
            let mut starts = vec![
                slot.flag(0),
                slot.flag(Slot::flags(pes) - 1),
                slot.counter(),
            ];
            starts.push(slot.release());
            starts.extend(
                (0..ENTRIES).flat_map(|entry| [slot.line(entry, 0), slot.line(entry, last)]),
            );
            if Slot::has_stages(pes) {
                starts.extend(
                    (0..ENTRIES).flat_map(|entry| [slot.stage(entry, 0), slot.stage(entry, last)]),
                );
            }
            starts.push(slot.wait(0));
            let mut sorted = starts.clone();
            sorted.dedup();
            assert!(
                sorted.is_sorted() && sorted.iter().all(|at| at % LINE == 0),
                "{starts:?}"
            );
            let room = if Slot::has_stages(pes) {
                STAGE_BYTES
            } else {
                LINE
            };
            assert_eq!(starts[starts.len() - 2] + room, slot.wait(0));
            assert_eq!(
                slot.wait(last) + LINE,
                Slot::new((4096, 1 << 40), pes, 4).begin
            );
            assert_eq!(slot.line(ENTRIES + 1, 0), slot.line(1, 0));
        }
    }

    #[test]
    fn long_stages_follow_each_other_and_end_with_the_slots_that_have_them() {
        for pes in [1, 2, 3, 8, 63, 64] {
            let slot = |number| Slot::new((4096, 1 << 40), pes, number);
            let each = slot(0).long_bytes();
            assert!(each >= STAGE_BYTES && each.is_multiple_of(LINE), "{each}");
            let last = slot(0).long_stage(ENTRIES - 1, pes as usize - 1);
            assert_eq!(last + each, slot(1).long_stage(0, 0));
            let last = slot(LONG_SLOTS - 1).long_stage(ENTRIES - 1, pes as usize - 1);
            assert_eq!(last + each, (1 << 40) + Slot::all_long_bytes(pes));
            assert_eq!(slot(LONG_SLOTS).long_bytes(), 0);
        }
        assert_eq!(Slot::new((4096, 1 << 40), 65, 0).long_bytes(), 0);
        assert_eq!(Slot::all_long_bytes(65), 0);
    }
}
