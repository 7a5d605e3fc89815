//! Collective operations, made of pieces. All members combine in the same order, so all get the
//! same bits.

use core::ops::Range;

use super::circle::Circle;
use super::lane::{ALIGN_BYTES, Done, Fault, Members};

/// All-reduces up to this size send all to all, at once. Longer ones move less by two steps. Fitted.
const ONE_SHOT_BYTES: usize = 64 << 10;
/// A longer one goes in pieces of at most this size: what was put is still in a cache when it is
/// combined, while the pieces behind it are on their way. Fitted.
pub(super) const PIECE_BYTES: usize = 128 << 10;
/// So much is combined at a time, and put while it is in the nearest cache.
const CHUNK_BYTES: usize = 8 << 10;

/// Room for what is combined. Any element fits.
#[repr(align(64))]
struct Chunk([u8; CHUNK_BYTES]);

/// How elements are combined, as bytes. Both sides have as many.
pub(super) trait Combine {
    /// Element by element, `left` becomes `left (op) right`.
    fn set_left(&self, left: &mut [u8], right: &[u8]) -> hostwire::Result<()>;

    /// The same, but `right` gets the result.
    fn set_right(&self, left: &[u8], right: &mut [u8]) -> hostwire::Result<()>;
}

/// What is done with the piece that has been combined.
pub(super) enum Then {
    Keep,
    PutToAll,
}

impl Members {
    /// Combines `values` of all members, in place.
    pub(super) fn all_reduce(&mut self, values: &mut [u8], combine: &dyn Combine) -> Done {
        if self.size() == 1 {
            return Ok(());
        }
        self.set_total(values.len());
        if values.is_empty() {
            return self.meet();
        }
        let all = self.all();
        if values.len() <= ONE_SHOT_BYTES.min(self.buffer_bytes()) {
            for (_, other) in all.others() {
                self.put(other, values)?;
            }
            return self.fold(&all, values, combine, Then::Keep);
        }
        if let Some(hosts) = self.hosts() {
            return self.all_reduce_by_hosts(&hosts, values, combine);
        }
        let cut = Cut::of(
            values.len(),
            self.size(),
            PIECE_BYTES.min(self.buffer_bytes()),
        );
        // Three steps of three blocks at a time: the values of the others go out, the own part is
        // combined and put to all, and the parts of the others come in. Of each lane all pieces are
        // sent and taken in one order, and no more than the buffers are on their way.
        for step in 0..cut.blocks + 2 {
            if step < cut.blocks {
                for (_, other) in all.others() {
                    self.put_some(other, &values[cut.piece(step, other)])?;
                }
            }
            if (1..=cut.blocks).contains(&step) {
                let own = &mut values[cut.piece(step - 1, self.rank())];
                self.fold(&all, own, combine, Then::PutToAll)?;
            }
            if step >= 2 {
                for (_, other) in all.others() {
                    let piece = cut.piece(step - 2, other);
                    self.receive_some(other, &mut values[piece])?;
                }
            }
        }
        Ok(())
    }

    /// Combines `values` with those that all others send here by [`exchange`](Self::exchange).
    pub(super) fn reduce(&mut self, values: &mut [u8], combine: &dyn Combine) -> Done {
        let all = self.all();
        self.set_total(values.len());
        for piece in values.chunks_mut(self.buffer_bytes()) {
            self.fold(&all, piece, combine, Then::Keep)?;
        }
        Ok(())
    }

    /// Combines `values[i]` of all members in `out` of rank `i`.
    pub(super) fn reduce_scatter(
        &mut self,
        values: &[&[u8]],
        out: &mut [u8],
        combine: &dyn Combine,
    ) -> Done {
        let all = self.all();
        copy(values[self.rank()], out)?;
        let step_bytes = PIECE_BYTES.min(self.buffer_bytes());
        let longest = values.iter().map(|part| part.len()).max().unwrap_or(0);
        let steps = longest.div_ceil(step_bytes);
        // A piece is on its way while the one before it is combined.
        for step in 0..=steps {
            for (_, other) in all.others() {
                let piece = nth(values[other].len(), step, step_bytes);
                self.set_total(values[other].len());
                self.put_some(other, &values[other][piece])?;
            }
            let Some(before) = step.checked_sub(1) else {
                continue;
            };
            self.set_total(out.len());
            let own = &mut out[nth(values[self.rank()].len(), before, step_bytes)];
            self.fold(&all, own, combine, Then::Keep)?;
        }
        Ok(())
    }

    /// Sends `values[i]` to rank `i`, and receives `outs[i]` from it.
    pub(super) fn exchange(&mut self, values: &[&[u8]], outs: &mut [&mut [u8]]) -> Done {
        let (all, rank) = (self.all(), self.rank());
        if !outs[rank].is_empty() {
            copy(values[rank], outs[rank])?;
        }
        let step_bytes = self.buffer_bytes();
        let lengths = outs.iter().map(|part| part.len());
        let lengths = lengths.chain(values.iter().map(|part| part.len()));
        let steps = lengths.max().unwrap_or(0).div_ceil(step_bytes);
        for step in 0..=steps {
            for (_, other) in all.others() {
                let piece = nth(values[other].len(), step, step_bytes);
                self.set_total(values[other].len());
                self.put_some(other, &values[other][piece])?;
            }
            let Some(before) = step.checked_sub(1) else {
                continue;
            };
            for (_, other) in all.others() {
                let piece = nth(outs[other].len(), before, step_bytes);
                self.set_total(outs[other].len());
                self.receive_some(other, &mut outs[other][piece])?;
            }
        }
        Ok(())
    }

    /// An operation on no elements. Other members may have some, and must learn of it.
    fn meet(&mut self) -> Done {
        let all = self.all();
        for (_, other) in all.others() {
            self.put(other, &[])?;
        }
        for (_, other) in all.others() {
            self.take(other, 0)?;
            self.release(other)?;
        }
        Ok(())
    }

    /// Waits for all members.
    pub(super) fn barrier(&mut self) -> Done {
        let (rank, size) = (self.rank(), self.size());
        self.set_total(0);
        let mut distance = 1;
        while distance < size {
            let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
            self.put(to, &[])?;
            self.take(from, 0)?;
            self.release(from)?;
            distance *= 2;
        }
        Ok(())
    }

    /// Empty values are not sent.
    pub(super) fn put_some(&mut self, to: usize, values: &[u8]) -> Done {
        match values.is_empty() {
            true => Ok(()),
            false => self.put(to, values),
        }
    }

    pub(super) fn receive_some(&mut self, from: usize, out: &mut [u8]) -> Done {
        match out.is_empty() {
            true => Ok(()),
            false => self.receive(from, out),
        }
    }

    fn receive(&mut self, from: usize, out: &mut [u8]) -> Done {
        let at = self.take(from, out.len())?;
        self.read(at, out)?;
        self.release(from)
    }

    /// Takes a piece from each other member of the circle, and combines them with `own`. No piece comes if it is empty.
    pub(super) fn fold(
        &mut self,
        circle: &Circle,
        own: &mut [u8],
        combine: &dyn Combine,
        then: Then,
    ) -> Done {
        if own.is_empty() {
            return Ok(());
        }
        let mut taken = Vec::with_capacity(circle.members().len());
        for (place, from) in circle.members().iter().enumerate() {
            taken.push(match place == circle.own() {
                true => 0,
                false => self.take(*from, own.len())?,
            });
        }
        // Far ones get the piece as a whole: parts would be frames of their own.
        let is_spread = matches!(then, Then::PutToAll) && self.are_near(circle);
        if is_spread {
            for (_, other) in circle.others() {
                self.await_room(other)?;
            }
        }
        let len_bytes = own.len();
        let last = (len_bytes - 1) / CHUNK_BYTES * CHUNK_BYTES;
        let (mut total, mut next) = (Chunk([0; CHUNK_BYTES]), Chunk([0; CHUNK_BYTES]));
        let mut at = 0;
        for chunk in own.chunks_mut(CHUNK_BYTES) {
            let before = (circle.own(), taken.as_slice(), at);
            self.fold_chunk(chunk, before, combine, (&mut total, &mut next))?;
            if is_spread {
                for (_, other) in circle.others() {
                    match at == last {
                        false => self.put_part(other, at, chunk)?,
                        true => self.announce(other, chunk, len_bytes)?,
                    }
                }
            }
            at += chunk.len();
        }
        for (_, from) in circle.others() {
            self.release(from)?;
        }
        if matches!(then, Then::PutToAll) && !is_spread {
            for (_, other) in circle.others() {
                self.put(other, own)?;
            }
        }
        Ok(())
    }

    /// Combines `own`, at its place among them, with what was taken, from `at` on.
    fn fold_chunk(
        &self,
        own: &mut [u8],
        (place, taken, at): (usize, &[usize], usize),
        combine: &dyn Combine,
        (total, next): (&mut Chunk, &mut Chunk),
    ) -> Done {
        let total = &mut total.0[..own.len()];
        let next = &mut next.0[..own.len()];
        if place > 0 {
            self.read(taken[0] + at, total)?;
            for from in &taken[1..place] {
                self.read(from + at, next)?;
                combine.set_left(total, next)?;
            }
            combine.set_right(total, own)?;
        }
        for from in &taken[place + 1..] {
            self.read(from + at, next)?;
            combine.set_left(own, next)?;
        }
        Ok(())
    }
}

/// How long values are cut: into blocks, and each block into a piece for each member.
pub(super) struct Cut {
    len: usize,
    pub(super) blocks: usize,
    block: usize,
    members: usize,
}

impl Cut {
    pub(super) fn of(len: usize, members: usize, piece_bytes: usize) -> Self {
        // As even as whole lines allow: no block is short.
        let blocks = len.div_ceil(piece_bytes * members);
        let piece = len.div_ceil(blocks * members).next_multiple_of(ALIGN_BYTES);
        let block = piece * members;
        let blocks = len.div_ceil(block);
        Self {
            len,
            blocks,
            block,
            members,
        }
    }

    /// The piece of a block that a member combines. It may be empty.
    pub(super) fn piece(&self, block: usize, member: usize) -> Range<usize> {
        let piece = self.block / self.members;
        let begin = block * self.block + member * piece;
        begin.min(self.len)..(begin + piece).min(self.len)
    }
}

/// Part number `index` of `len` bytes in parts of `step` bytes; an empty one behind the last.
pub(super) fn nth(len: usize, index: usize, step: usize) -> Range<usize> {
    let begin = (index * step).min(len);
    begin..(begin + step).min(len)
}

/// What a member sends itself.
fn copy(values: &[u8], out: &mut [u8]) -> Done {
    if values.len() != out.len() {
        return Err(Fault::Mistake(format!(
            "this rank sends itself {} bytes and expects {}",
            values.len(),
            out.len()
        )));
    }
    out.copy_from_slice(values);
    Ok(())
}
