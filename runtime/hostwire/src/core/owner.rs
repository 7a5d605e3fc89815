//! Long reductions and scans over the same offsets in all segments: each member owns a block of
//! the elements. It combines the block for all members, in the order of ranks, and stores the
//! results at their targets.
//!
//! So every source is read once and every target written once. Source and target may be the
//! same: a piece is stored only after it was read everywhere, and no other member reads it.

use core::ops::Range;

use hostwire_transport::{PeId, Values};

use super::{Caller, Combine, Fold};
use crate::error::Result;

/// Bytes that are combined at a time: they stay in the nearest cache. Fitted.
const PIECE_BYTES: usize = 4 << 10;

/// One member's part in a long reduction or scan.
pub struct Block<'a> {
    /// Who takes part, by rank.
    pub members: &'a [PeId],
    /// The rank of this PE.
    pub rank: usize,
    /// Where in a segment the values are.
    pub source: usize,
    /// Where in a segment the results go.
    pub target: usize,
    /// Elements of each member.
    pub count: usize,
    /// How they are combined.
    pub combine: Combine<'a>,
    /// Which.
    pub fold: Fold,
}

type Piece = [u8; PIECE_BYTES];

impl Block<'_> {
    /// The elements that this member owns: whole cache lines, except for the last ones.
    fn own(&self) -> Range<usize> {
        let per_line = (64 / self.combine.element_bytes.max(1)).max(1);
        let share = self
            .count
            .div_ceil(self.members.len())
            .next_multiple_of(per_line);
        let start = (self.rank * share).min(self.count);
        start..(start + share).min(self.count)
    }

    /// Does the own block. The sources and targets of all members must have the elements, and
    /// nothing else may access them meanwhile.
    ///
    /// # Errors
    /// [`Error::PeerLost`](crate::Error::PeerLost).
    pub fn run<C: Caller>(&self, caller: &C) -> Result<()> {
        let element_bytes = self.combine.element_bytes.max(1);
        let own = self.own();
        let (mut sum, mut room) = ([0; PIECE_BYTES], [0; PIECE_BYTES]);
        let piece_bytes = PIECE_BYTES / element_bytes * element_bytes;
        let end = own.end * element_bytes;
        for at in (own.start * element_bytes..end).step_by(piece_bytes.max(1)) {
            let len = piece_bytes.min(end - at);
            self.piece(caller, at, &mut sum[..len], &mut room)?;
        }
        Ok(())
    }

    fn piece<C: Caller>(
        &self,
        caller: &C,
        at: usize,
        sum: &mut [u8],
        room: &mut Piece,
    ) -> Result<()> {
        // For a scan that excludes the own values.
        let mut before = [0; PIECE_BYTES];
        let before = &mut before[..sum.len()];
        for (rank, &pe) in self.members.iter().enumerate() {
            let values = self.values(caller, pe, at, sum.len(), room)?;
            if self.fold == Fold::Before && rank > 0 {
                before.copy_from_slice(sum);
            }
            // First, because the result may overwrite the values.
            match rank {
                0 => values.copy_to(sum),
                _ => (self.combine.function)(sum, values),
            }
            match self.fold {
                Fold::All => {}
                Fold::UpTo => self.give(caller, pe, at, sum)?,
                Fold::Before => self.give(caller, pe, at, before)?,
            }
        }
        if self.fold == Fold::All {
            for &pe in self.members {
                self.give(caller, pe, at, sum)?;
            }
        }
        Ok(())
    }

    /// The values of `pe`, where they are or in `room`.
    fn values<'a, C: Caller>(
        &self,
        caller: &'a C,
        pe: PeId,
        at: usize,
        len: usize,
        room: &'a mut Piece,
    ) -> Result<Values<'a>> {
        let (attachment, offset) = (caller.attachment(), self.source + at);
        match attachment.load_window(pe) {
            Some(window) => Ok(window.values(offset, len, room)?),
            None => {
                attachment.get(pe, offset, &mut room[..len])?;
                Ok(Values::private(&room[..len]))
            }
        }
    }

    fn give<C: Caller>(&self, caller: &C, pe: PeId, at: usize, sum: &[u8]) -> Result<()> {
        caller.attachment().put(pe, self.target + at, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Operands;
    use super::*;

    #[test]
    fn blocks_share_the_elements_in_whole_lines() {
        let nothing = |_: &mut [u8], _: Values<'_>| {};
        for (count, element_bytes, members) in [(0, 8, 2), (1, 8, 3), (100, 4, 3), (1000, 16, 7)] {
            let members: Vec<PeId> = (0..members).collect();
            let mut next = 0;
            for rank in 0..members.len() {
                let block = Block {
                    members: &members,
                    rank,
                    source: 0,
                    target: 0,
                    count,
                    combine: Combine {
                        function: &nothing,
                        element_bytes,
                        operands: Operands::UNKNOWN,
                    },
                    fold: Fold::All,
                };
                let own = block.own();
                assert_eq!(own.start, next);
                assert!(own.end == count || (own.end * element_bytes).is_multiple_of(64));
                next = own.end;
            }
            assert_eq!(next, count);
        }
    }
}
