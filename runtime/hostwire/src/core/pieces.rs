//! Long operations over private memory among members that store into each other's segments: the
//! bytes go in pieces, each with a line, through the long stages that belong to lines.
//!
//! A piece is on its way while the one before it is taken out, so both sides work at the same time.
//! No piece waits for an answer: a member stores a piece in an entry as soon as it has heard by other
//! pieces that all have taken what was there before. So two pieces of a kind may be under way.

use core::ops::Range;

use hostwire_transport::Values;

use super::line::DATA;
use super::small::{Given, Room};
use super::{Caller, Combine, Kind, LINE_DATA_BYTES, Tag, Team};
use crate::attachment::Watch;
use crate::board::Activity;
use crate::error::Result;

/// Bytes that are combined at a time: they stay in the nearest cache. Fitted.
const CHUNK_BYTES: usize = 4 << 10;

/// A shorter piece would not be worth its line. Fitted.
const PIECE_BYTES_MIN: usize = 4 << 10;

/// More than two members send all values to all, up to this many bytes of all of them. Fitted.
const ONE_SHOT_BYTES: usize = 32 << 10;

type Chunk = [u8; CHUNK_BYTES];

/// `bytes` as whole elements; 0 if not even one fits.
fn whole(bytes: usize, element_bytes: usize) -> usize {
    let element_bytes = element_bytes.max(1);
    bytes / element_bytes * element_bytes
}

/// The piece with this number, of so many bytes in pieces of `step` bytes.
fn nth(len: usize, index: usize, step: usize) -> Range<usize> {
    let begin = (index * step).min(len);
    begin..(begin + step).min(len)
}

/// How values are cut into blocks, and each block into a piece for each member, which combines it.
struct Cut {
    len: usize,
    blocks: usize,
    piece: usize,
    members: usize,
}

impl Cut {
    /// Pieces have at most `most` bytes, which are whole elements.
    fn of(len: usize, members: usize, (most, element_bytes): (usize, usize)) -> Self {
        let element_bytes = element_bytes.max(1);
        let blocks = len.div_ceil(most * members).max(1);
        // As even as whole elements and lines allow: no block is short.
        let even = len.div_ceil(blocks * members);
        let line = if 64 % element_bytes == 0 { 64 } else { 1 };
        let even = even.next_multiple_of(element_bytes).next_multiple_of(line);
        Self {
            len,
            blocks,
            piece: even.min(most),
            members,
        }
    }

    fn piece(&self, block: usize, member: usize) -> Range<usize> {
        nth(self.len, block * self.members + member, self.piece)
    }
}

impl Team {
    /// Whether values with such elements go in pieces.
    pub(super) fn is_in_pieces(&self, element_bytes: usize) -> bool {
        let most = self.slot.long_bytes().min(CHUNK_BYTES);
        self.is_mapped && whole(most, element_bytes) > 0
    }

    /// Bytes of a piece, of whole elements. Two members make two pieces, if there is enough, so that both
    /// work at the same time. More members may share cores, and each piece is a turn of all.
    fn step(&self, len: usize, element_bytes: usize) -> usize {
        let even = if self.size() > 2 { len } else { len / 2 };
        let even = even.max(1).next_multiple_of(PIECE_BYTES_MIN);
        whole(even.min(self.slot.long_bytes()), element_bytes)
    }

    fn send_piece<C: Caller>(
        &self,
        caller: &C,
        number: u64,
        rank: usize,
        tag: Tag,
        bytes: &[u8],
    ) -> Result<()> {
        if bytes.len() <= LINE_DATA_BYTES {
            return self.send(caller, number, rank, tag, bytes);
        }
        let (attachment, pe) = (caller.attachment(), self.members[rank]);
        let stage = self.slot.long_stage(number, self.rank);
        match attachment.window(pe) {
            // The line rings.
            Some(window) => window.put_unannounced(stage, bytes)?,
            None => attachment.put(pe, stage, bytes)?,
        }
        self.send(caller, number, rank, tag, &[])
    }

    /// Sends each other member its piece.
    fn send_pieces<'v, C: Caller>(
        &self,
        caller: &C,
        (number, tag): (u64, Tag),
        piece_of: impl Fn(usize) -> &'v [u8],
    ) -> Result<()> {
        self.others()
            .try_for_each(|rank| self.send_piece(caller, number, rank, tag, piece_of(rank)))
    }

    /// Where in the own segment the piece of `rank` is.
    fn place(&self, number: u64, rank: usize, len: usize) -> usize {
        match len <= LINE_DATA_BYTES {
            true => self.slot.line(number, rank) + DATA,
            false => self.slot.long_stage(number, rank),
        }
    }

    /// Waits for the piece of `rank`, and copies it.
    fn take_piece<C: Caller>(
        &self,
        caller: &C,
        number: u64,
        rank: usize,
        tag: Tag,
        into: &mut [u8],
    ) -> Result<()> {
        self.receive(caller, number, rank, tag)?;
        let from = self.place(number, rank, into.len());
        Ok(caller.attachment().segment().get(from, into)?)
    }

    /// Makes sure that no barrier comes between the first pieces.
    fn begin_pieces<C: Caller>(&self, caller: &C) -> Result<()> {
        use std::sync::atomic::Ordering::Relaxed;
        match self.operations.load(Relaxed) > self.known.load(Relaxed) + 1 {
            true => self.meet(caller, Activity::Collective, Watch::All(&self.members)),
            false => Ok(()),
        }
    }

    /// Calls `send` for each piece, and after that of the next one `take`, which waits for what all
    /// others have sent in it.
    fn stream<C: Caller, D: ?Sized>(
        &self,
        caller: &C,
        pieces: usize,
        data: &mut D,
        mut send: impl FnMut(&mut D, u64, usize) -> Result<()>,
        mut take: impl FnMut(&mut D, u64, usize) -> Result<()>,
    ) -> Result<()> {
        self.begin_pieces(caller)?;
        // Also without values: other members may have some, and must get an error.
        let pieces = pieces.max(1);
        let mut before = None;
        for index in 0..=pieces {
            let mut sent = None;
            if index < pieces {
                let number = self.begin(caller)?;
                send(data, number, index)?;
                sent = Some(number);
            }
            if let Some(number) = before {
                take(data, number, index - 1)?;
                // All have begun it, but the piece before it may still lie at one of them.
                self.all_began(number - 1);
            }
            before = sent;
        }
        Ok(())
    }

    /// As [`gather_private`](Self::gather_private) and
    /// [`all_to_all_private`](Self::all_to_all_private).
    pub(super) fn give_in_pieces<C: Caller>(
        &self,
        caller: &C,
        (given, tag): (Given, Tag),
        out: &[u8],
        all: &mut [u8],
    ) -> Result<()> {
        let each = all.len() / self.size();
        let own = given.start(self.rank, each);
        all[self.rank * each..][..each].copy_from_slice(&out[own..][..each]);
        let (tag, step) = (self.with_roots(tag), self.step(each, 1));
        self.stream(
            caller,
            each.div_ceil(step),
            all,
            |_, number, index| {
                let piece = nth(each, index, step);
                self.send_pieces(caller, (number, tag), |rank| {
                    &out[given.start(rank, each)..][piece.clone()]
                })
            },
            |all, number, index| {
                let piece = nth(each, index, step);
                self.others().try_for_each(|rank| {
                    let into = &mut all[rank * each..][piece.clone()];
                    self.take_piece(caller, number, rank, tag, into)
                })
            },
        )
    }

    /// Combines the pieces of all that are for this rank in `into`.
    pub(super) fn reduce_scatter_in_pieces<C: Caller>(
        &self,
        caller: &C,
        tag: Tag,
        values: &[u8],
        into: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<()> {
        let sum = &mut [0; CHUNK_BYTES];
        let each = into.len();
        let step = self.step(each, combine.element_bytes);
        into.copy_from_slice(&values[self.rank * each..][..each]);
        let tag = self.with_roots(tag);
        self.stream(
            caller,
            each.div_ceil(step),
            into,
            |_, number, index| {
                let piece = nth(each, index, step);
                self.send_pieces(caller, (number, tag), |rank| {
                    &values[rank * each..][piece.clone()]
                })
            },
            |into, number, index| {
                let own = &mut into[nth(each, index, step)];
                self.fold_piece(caller, (number, tag), own, combine, sum)
            },
        )
    }

    /// Combines the `values` of all in place.
    pub(super) fn reduce_in_pieces<C: Caller>(
        &self,
        caller: &C,
        values: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<()> {
        let tag = Tag::new(Kind::Reduce, values.len()).on(combine.operands);
        let tag = self.with_roots(tag);
        let len = values.len();
        if self.size() > 2 && len.saturating_mul(self.size()) > ONE_SHOT_BYTES {
            return self.reduce_blocks(caller, tag, values, combine);
        }
        let sum = &mut [0; CHUNK_BYTES];
        let step = self.step(len, combine.element_bytes);
        self.stream(
            caller,
            len.div_ceil(step),
            values,
            |values, number, index| {
                let piece = &values[nth(len, index, step)];
                self.send_pieces(caller, (number, tag), |_| piece)
            },
            |values, number, index| {
                let own = &mut values[nth(len, index, step)];
                self.fold_piece(caller, (number, tag), own, combine, sum)
            },
        )
    }

    /// As [`reduce_in_pieces`](Self::reduce_in_pieces): each member combines a piece of each block for all,
    /// and gives it to all.
    ///
    /// Values go out by operation `2 s`, and results by `2 s + 3`. Who sends the values of a block has the
    /// results of that before the last; and who sends results has the values of all for the block.
    fn reduce_blocks<C: Caller>(
        &self,
        caller: &C,
        tag: Tag,
        values: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<()> {
        let sum = &mut [0; CHUNK_BYTES];
        let most = self.step(values.len() / self.size(), combine.element_bytes);
        let cut = Cut::of(values.len(), self.size(), (most, combine.element_bytes));
        self.begin_pieces(caller)?;
        // Of the last two blocks: the operation by which values went out, and that of results.
        let (mut given, mut reduced) = (None, None);
        for step in 0..cut.blocks + 2 {
            if let Some(number) = reduced.take() {
                for rank in self.others() {
                    let piece = &mut values[cut.piece(step - 2, rank)];
                    self.take_piece(caller, number, rank, tag, piece)?;
                }
                self.all_began(number - 1);
            }
            let before = given.take();
            if step < cut.blocks {
                let number = self.begin(caller)?;
                self.send_pieces(caller, (number, tag), |rank| &values[cut.piece(step, rank)])?;
                given = Some(number);
            }
            if let Some(number) = before {
                let own = &mut values[cut.piece(step - 1, self.rank)];
                self.fold_piece(caller, (number, tag), own, combine, sum)?;
                if step == 1 {
                    // Nobody has begun it before the operations that came earlier were over.
                    self.all_began(number);
                }
                let number = self.begin(caller)?;
                self.send_pieces(caller, (number, tag), |_| own)?;
                reduced = Some(number);
            }
        }
        Ok(())
    }

    /// Waits for a piece of each other member, and combines all in the order of ranks.
    fn fold_piece<C: Caller>(
        &self,
        caller: &C,
        (number, tag): (u64, Tag),
        own: &mut [u8],
        combine: Combine<'_>,
        sum: &mut Chunk,
    ) -> Result<()> {
        for rank in self.others() {
            self.receive(caller, number, rank, tag)?;
        }
        let segment = caller.attachment().segment();
        let mut room = Room::new(segment);
        let (len, step) = (own.len(), whole(CHUNK_BYTES, combine.element_bytes));
        for (index, own) in own.chunks_mut(step).enumerate() {
            let sum = &mut sum[..own.len()];
            for rank in 0..self.size() {
                if rank == self.rank {
                    if rank > 0 {
                        (combine.function)(sum, Values::private(own));
                        own.copy_from_slice(sum);
                    }
                    continue;
                }
                let from = self.place(number, rank, len) + index * step;
                let values = segment.values(from, own.len(), room.of(own.len()))?;
                match rank {
                    0 => values.copy_to(sum),
                    // First all before the own values, and then those after them.
                    _ if rank < self.rank => (combine.function)(sum, values),
                    _ => (combine.function)(own, values),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_of_the_values_and_none_twice() {
        for (len, members, element_bytes) in [
            (64 << 10, 8, 8),
            (64 << 10, 3, 8),
            (1 << 20, 7, 4),
            (24 * 1001, 3, 24),
            (3000 * 5, 4, 3000),
            (8, 5, 8),
        ] {
            for most in [2 << 10, 4 << 10, 16 << 10].map(|most| whole(most, element_bytes)) {
                if most == 0 {
                    continue;
                }
                let cut = Cut::of(len, members, (most, element_bytes));
                let mut next = 0;
                for index in 0..cut.blocks * members {
                    let piece = cut.piece(index / members, index % members);
                    assert_eq!(piece.start, next, "{len} in {members} of {most}");
                    assert!(piece.len() <= most && piece.len().is_multiple_of(element_bytes));
                    next = piece.end;
                }
                assert_eq!(next, len, "{len} in {members} of {most}");
            }
        }
    }
}
