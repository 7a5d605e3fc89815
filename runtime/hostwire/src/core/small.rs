//! Operations whose data fits into lines, or into the stages that belong to them: every member
//! sends to every member that needs it, and then receives. So each PE has to be scheduled only
//! once, even if many share a core.

use hostwire_transport::Window;

use super::{Buffers, Caller, Combine, Fold, Kind, LINE_DATA_BYTES, Operands, Tag, Team};
use crate::error::Result;
use crate::layout::STAGE_BYTES;

/// Room on the stack for a copy out of the own segment: a line, a few lines, or a stage. Larger
/// room takes longer to zero.
macro_rules! with_room {
    ($len:expr, $room:ident, $work:expr) => {
        match $len {
            0..=LINE_DATA_BYTES => {
                let $room = &mut [0; LINE_DATA_BYTES];
                $work
            }
            0..=512 => {
                let $room = &mut [0; 512];
                $work
            }
            _ => {
                let $room = &mut [0; STAGE_BYTES];
                $work
            }
        }
    };
}

/// What each member gives the members.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given {
    /// The same to all.
    Same,
    /// A piece to each; the pieces are behind each other, by rank.
    Pieces,
}

impl Given {
    /// The tag of the operation, with so many bytes to each member.
    pub(super) fn tag(self, len: usize) -> Tag {
        match self {
            Self::Same => Tag::new(Kind::Gather, len),
            Self::Pieces => Tag::new(Kind::Exchange, len),
        }
    }

    /// Where in the source the bytes for a rank begin.
    #[inline(always)]
    pub(super) fn start(self, rank: usize, len: usize) -> usize {
        match self {
            Self::Same => 0,
            Self::Pieces => rank * len,
        }
    }
}

impl Team {
    /// Copies what `root` has to all others, directly. At most [`room`](Team::room) bytes.
    pub(super) fn broadcast_small<C: Caller>(
        &self,
        caller: &C,
        root: usize,
        (len, operands): (usize, Operands),
        buffers: &mut Buffers<'_>,
    ) -> Result<()> {
        let segment = caller.attachment().segment();
        let number = self.begin(caller)?;
        let tag = Tag::new(Kind::Broadcast, len).on(operands);
        let tag = self.with_roots(tag.with_root(root as u64));
        if self.rank != root {
            let from = self.receive_staged(caller, number, root, tag, len)?;
            return buffers.take(segment, 0, from, len);
        }
        with_room!(len, room, {
            let bytes = buffers.bytes(segment, 0, len, room)?;
            for rank in self.others() {
                self.send_staged(caller, number, rank, tag, bytes)?;
            }
        });
        if buffers.source.is_some() {
            buffers.keep(segment, 0, 0, len)?;
        }
        Ok(())
    }

    /// Gives each member `len` bytes, the same to all (a gather) or a piece for each, and puts what
    /// comes from the members behind each other.
    pub(super) fn give_small<C: Caller>(
        &self,
        caller: &C,
        given: Given,
        (len, operands): (usize, Operands),
        buffers: &mut Buffers<'_>,
    ) -> Result<()> {
        let segment = caller.attachment().segment();
        let number = self.begin(caller)?;
        let tag = self.with_roots(given.tag(len).on(operands));
        let send = |rank, bytes: &[u8]| self.send_staged(caller, number, rank, tag, bytes);
        with_room!(len, room, {
            match given {
                // Read once.
                Given::Same => {
                    let bytes = buffers.bytes(segment, 0, len, room)?;
                    self.others().try_for_each(|rank| send(rank, bytes))?;
                }
                Given::Pieces => {
                    for rank in self.others() {
                        let start = given.start(rank, len);
                        send(rank, buffers.bytes(segment, start, len, room)?)?;
                    }
                }
            }
        });
        let own = given.start(self.rank, len);
        buffers.keep(segment, self.rank * len, own, len)?;
        for rank in self.others() {
            let from = self.receive_staged(caller, number, rank, tag, len)?;
            buffers.take(segment, rank * len, from, len)?;
        }
        self.all_began(number);
        Ok(())
    }

    /// Combines `len` bytes of all members. Each member does it for itself.
    pub(super) fn fold_small<C: Caller>(
        &self,
        caller: &C,
        len: usize,
        buffers: &mut Buffers<'_>,
        combine: Combine<'_>,
        fold: Fold,
    ) -> Result<()> {
        let number = self.begin(caller)?;
        let is_of_all = fold == Fold::All;
        let tag = self.with_roots(Tag::new(fold.kind(), len).on(combine.operands));
        let end = match fold {
            Fold::All => self.size(),
            Fold::UpTo => self.rank + 1,
            Fold::Before => self.rank,
        };
        let send = |bytes: &[u8]| {
            for to in self.others().filter(|to| is_of_all || *to > self.rank) {
                self.send_staged(caller, number, to, tag, bytes)?;
            }
            Ok(())
        };
        let receive = |rank| self.receive_staged(caller, number, rank, tag, len);
        let segment = caller.attachment().segment();
        fold_values(
            (self.rank, end),
            segment,
            len,
            buffers,
            combine,
            send,
            receive,
        )?;
        if is_of_all {
            self.all_began(number);
        }
        Ok(())
    }
}

/// Sends the own `len` bytes, and combines the values of the first `end` ranks in the order of
/// ranks. `own` may be one of them. `receive` waits for the values of another rank and returns
/// their place in the own segment.
#[inline(always)]
pub fn fold_values(
    (own, end): (usize, usize),
    segment: &Window,
    len: usize,
    buffers: &mut Buffers<'_>,
    combine: Combine<'_>,
    send: impl FnOnce(&[u8]) -> Result<()>,
    receive: impl FnMut(usize) -> Result<usize>,
) -> Result<()> {
    with_room!(len, room, {
        fold_in(
            &mut room[..len],
            (own, end),
            segment,
            buffers,
            combine,
            send,
            receive,
        )
    })
}

/// As [`fold_values`], with room for the sum.
fn fold_in(
    sum: &mut [u8],
    (own, end): (usize, usize),
    segment: &Window,
    buffers: &mut Buffers<'_>,
    combine: Combine<'_>,
    send: impl FnOnce(&[u8]) -> Result<()>,
    mut receive: impl FnMut(usize) -> Result<usize>,
) -> Result<()> {
    let len = sum.len();
    send(buffers.bytes(segment, 0, len, sum)?)?;
    if end == 0 {
        sum.fill(0);
    }
    let mut room = Room::new(segment);
    for rank in 0..end {
        let values = match rank == own {
            true => buffers.values(segment, len, room.of(len))?,
            false => segment.values(receive(rank)?, len, room.of(len))?,
        };
        match rank {
            0 => values.copy_to(sum),
            _ => (combine.function)(sum, values),
        }
    }
    buffers.write(segment, 0, sum)
}

/// Memory for values that cannot be combined where they are.
pub(super) struct Room {
    bytes: Vec<u8>,
    is_needed: bool,
}

impl Room {
    pub(super) fn new(segment: &Window) -> Self {
        Self {
            bytes: Vec::new(),
            is_needed: !segment.has_values_in_place(),
        }
    }

    #[inline(always)]
    pub(super) fn of(&mut self, len: usize) -> &mut [u8] {
        if self.is_needed && self.bytes.len() < len {
            self.grow(len);
        }
        &mut self.bytes
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.bytes.resize(len, 0);
    }
}
