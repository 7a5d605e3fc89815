//! Messages made of stores: a ring of 64-byte slots per (sender, receiver) pair.
//!
//! The ring lies in the receiver's memory, as in TCCluster (section IV.A), and only
//! its sender writes it. A slot holds one line: an 8-byte header and up to 56 bytes.
//! The header carries a *stamp* that tells in which lap around the ring the line was
//! written, so a line validates itself: the receiver polls the next slot until the
//! stamp is the one it expects, and a message of up to one line is one posted packet
//! with no fence. Nothing has to be overwritten to free a slot; the receiver returns
//! *credits*, cumulative counts of lines, by storing them into the sender's memory,
//! in batches of a quarter of the ring. It stores a credit when it comes back for the next message,
//! not between a message and its answer. The sender has just read the line of the credit into its
//! cache, so the store takes as long as a line needs to cross the machine. Stores leave a core in
//! order, so the answer would have to wait.
//!
//! A receiver that has no room for more messages says so in the same word. Its sender then sends
//! only messages that the layer above takes at once, by a separate call
//! ([`RingSender::try_send_held`]).
//!
//! A message longer than 56 bytes takes several lines, each with a header of its own
//! and the number of bytes still to come; one longer than a few lines goes through an *eager buffer* beside the ring: see
//! `eager.rs`. A message in lines is admitted whole or not at all, so a
//! message may take at most half of the ring: credits held back in a batch can never
//! starve it.
//!
//! The memory of an eager buffer can be given back, after its sender has said by a message that it stores nothing there any more: see
//! `opening.rs`.
//!
//! The code is generic over the place of lines, so that it runs over shared memory, over a wire
//! with only posted packets, and under loom.

#[cfg(not(loom))]
mod credit_place;
mod eager;
mod eager_destination;
#[cfg(all(test, not(any(loom, memory_model))))]
mod eager_tests;
mod header;
mod line;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, loom))]
mod model_eager;
mod opening;
#[cfg(not(loom))]
mod place;
mod receiver;
mod receiver_at_once;
mod receiver_eager;
mod sender;
mod sender_eager;
#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(not(loom))]
pub use credit_place::{CreditInlet, WordOutlet};
pub use eager::{EagerBytes, EagerOrder};
pub use header::{Header, KIND_CONTINUED, KIND_LIMIT, PAYLOAD_BYTES, Stamp};
pub use line::PlainLine;
#[cfg(not(loom))]
pub use place::{EagerPlace, Inlet, Outlet};
pub use receiver::{Head, RingReceiver, Taken};
pub use receiver_eager::EagerFront;
pub use sender::{RingSender, Sent};

use crate::error::TransportError;

/// In a credit word: the receiver takes no messages for now.
const HOLD: u64 = 1 << 63;
/// The receiver wants messages that are too long for the lines announced: see [`RingReceiver::want_announced`].
const ANNOUNCED: u64 = 1 << 62;

/// Words that a message may have before its payload: see [`RingSender::try_send_behind`].
pub const FRONT_WORDS: usize = 2;
/// The same in bytes.
pub const FRONT_BYTES: usize = FRONT_WORDS * 8;

/// Smallest ring: four slots.
pub const RING_BYTES_MIN: usize = 256;
/// Largest ring.
pub const RING_BYTES_MAX: usize = 1 << 20;
/// Ring of TCCluster, section IV.A.
pub const RING_BYTES_DEFAULT: usize = 4096;

/// How many slots a ring has: a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    /// One less: the bits of the number of a line that say which slot is its own.
    mask: u64,
}

impl Slots {
    /// The slots of a ring of `ring_bytes` bytes.
    ///
    /// Returns `None` unless it is a power of two from [`RING_BYTES_MIN`] to
    /// [`RING_BYTES_MAX`].
    pub fn of_bytes(ring_bytes: usize) -> Option<Self> {
        (ring_bytes.is_power_of_two() && (RING_BYTES_MIN..=RING_BYTES_MAX).contains(&ring_bytes))
            .then(|| Self {
                mask: ring_bytes as u64 / 64 - 1,
            })
    }

    /// How many there are.
    #[inline(always)]
    pub fn count(self) -> u64 {
        self.mask + 1
    }

    /// The slot of the line with this number.
    #[inline(always)]
    pub fn slot(self, line: u64) -> usize {
        (line & self.mask) as usize
    }

    /// Lines freed before the receiver says so. At most this many are held back.
    #[inline(always)]
    fn credit_batch(self) -> u64 {
        (self.count() / 4).max(1)
    }

    /// The longest message that goes through the ring.
    #[inline]
    pub fn message_bytes_max(self) -> usize {
        let lines = self.count() as usize / 2;
        (lines * PAYLOAD_BYTES).min(header::LEN_MAX)
    }
}

/// The number of a line since the beginning, and values derived from it.
#[derive(Debug, Clone, Copy)]
struct Position {
    line: u64,
    slots: Slots,
    /// The stamp of the line.
    stamp: Stamp,
    /// The stamp in its slot until the line is written.
    before: Stamp,
}

impl Position {
    fn new(slots: Slots) -> Self {
        Self {
            line: 0,
            slots,
            stamp: Stamp::of_lap(0),
            before: Stamp::before_lap(0),
        }
    }

    #[inline(always)]
    fn slot(&self) -> usize {
        self.slots.slot(self.line)
    }

    /// The stamp of the next line.
    #[inline(always)]
    fn stamp_behind(&self) -> Stamp {
        match self.slots.slot(self.line + 1) {
            0 => self.stamp.next(),
            _ => self.stamp,
        }
    }

    /// Two steps at once. Most stay within the lap and change the number alone.
    #[inline(always)]
    fn advance_by_two(&mut self) {
        if self.slot() + 2 < self.slots.count() as usize {
            self.line += 2;
        } else {
            self.advance();
            self.advance();
        }
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.line += 1;
        if self.slot() == 0 {
            self.before = self.stamp;
            self.stamp = self.stamp.next();
        }
    }
}

/// Most bytes of a message that goes by [`RingSender::send_few_at_once`]: five lines. Fitted: an answer of 256 bytes takes 0.7 of the
/// time that it takes through the eager buffer if the cores are near each other and 0.88 if they are far, one of 512 bytes 1.2.
pub const FEW_BYTES_MAX: usize = 5 * PAYLOAD_BYTES;

/// How many lines a message of `len` bytes takes.
#[inline(always)]
pub fn lines_for(len: usize) -> u64 {
    if len <= PAYLOAD_BYTES {
        1
    } else {
        len.div_ceil(PAYLOAD_BYTES) as u64
    }
}

/// How messages leave, where the wire makes a difference (TCCluster, section VI): through
/// write-combining buffers, caches that have to be written back, or a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SendOrder {
    /// A message is never visible before earlier stores of the PE, and it is under way when the
    /// call returns: there is a store fence before and after it.
    #[default]
    Strict,
    /// Messages arrive in order among themselves, but may be visible before earlier puts,
    /// and may stay in the sender until the next fence or wait. Faster for streams.
    Weak,
}

/// Where a sender's lines go: the ring in the receiver's memory.
pub trait LineStore {
    /// Stores a line: `payload` (at most 56 bytes) first, then the header.
    fn store_line(&self, slot: usize, header: u64, payload: &[u8]) -> Result<(), TransportError>;
    /// Stores the lines of a message, or of a part of it, in this order: slot, header and payload
    /// of each.
    #[inline(always)]
    fn store_lines<'a>(
        &self,
        mut lines: impl Iterator<Item = (usize, u64, &'a [u8])>,
    ) -> Result<(), TransportError> {
        lines.try_for_each(|(slot, header, payload)| self.store_line(slot, header, payload))
    }
    /// The slot will be written soon.
    fn expect(&self, _slot: usize) {}
    /// Called before the first line of a message.
    fn begin_message(&self) -> Result<(), TransportError> {
        Ok(())
    }
    /// Called after the last line of a message.
    fn message_stored(&self) -> Result<(), TransportError> {
        Ok(())
    }
    /// The slot of the line with this number, where a line is stored by storing its words.
    fn plain(&self, _line: u64) -> Option<&PlainLine> {
        None
    }
    /// After a message was stored to a [`plain`](Self::plain) slot: whether the receiver polls by
    /// itself, so that [`message_stored`](Self::message_stored) is not needed.
    fn receiver_looks(&self) -> bool {
        false
    }
    /// The eager buffer, where there is one, and in which order messages are stored there.
    fn eager(&self) -> Option<(EagerBytes, EagerOrder)> {
        None
    }
    /// Stores parts of a message into it, each from its offset on, and behind them a line: its slot, header and payload. They lie within
    /// it.
    fn store_behind<'a>(
        &self,
        _parts: impl Iterator<Item = (usize, &'a [u8])>,
        (slot, header, payload): (usize, u64, &[u8]),
    ) -> Result<(), TransportError> {
        self.store_line(slot, header, payload)
    }
    /// Copies bytes into it, from this offset on. They lie within it. `is_staged`: [past the
    /// caches](crate::Memory::copy_in_staged).
    fn store_eager(&self, _at: usize, _bytes: &[u8], _is_staged: bool) {}
    /// Stores the word that says how many bytes are there, behind them.
    fn say_eager(&self, _word: u64) {}
}

/// Where a receiver loads lines from.
pub trait LineLoad {
    /// The header of a slot, loaded before its payload.
    fn header(&self, slot: usize) -> u64;
    /// The first `dst.len()` (at most 56) bytes of the payload of a slot.
    fn payload(&self, slot: usize, dst: &mut [u8]);
    /// As [`payload`](Self::payload), after the [front](FRONT_BYTES) of a message.
    fn payload_behind(&self, slot: usize, dst: &mut [u8]) {
        let mut line = [0; PAYLOAD_BYTES];
        self.payload(slot, &mut line);
        let behind = &line[FRONT_BYTES..];
        let len = dst.len().min(behind.len());
        dst[..len].copy_from_slice(&behind[..len]);
    }
    /// The slot will be looked at soon.
    fn expect(&self, _slot: usize) {}
    /// The slot of the line with this number, where a line is loaded by loading its words.
    fn plain(&self, _line: u64) -> Option<&PlainLine> {
        None
    }
    /// The eager buffer, where there is one.
    fn eager(&self) -> Option<EagerBytes> {
        None
    }
    /// Bytes from this offset on will be looked at soon. They lie within it.
    fn expect_eager(&self, _at: usize, _len: usize) {}
    /// Copies bytes out of it, from this offset on. They lie within it.
    fn eager_bytes(&self, _at: usize, _dst: &mut [u8], _is_staged: bool) {}
    /// Stores bytes at an offset in the segment in which the ring lies.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if they do not fit there.
    fn put_in_segment(&self, _at: usize, _bytes: &[u8]) -> Result<(), TransportError> {
        Ok(())
    }
    /// Copies bytes out of the eager buffer to an offset in the same segment.
    ///
    /// # Errors
    /// As `put_in_segment`.
    fn eager_to_segment(&self, _at: usize, _to: usize, _len: usize) -> Result<(), TransportError> {
        Ok(())
    }
    /// The word that says how many bytes are there, loaded before them.
    fn eager_said(&self) -> u64 {
        0
    }
    /// Gives the memory of the eager buffer back, to which nobody stores: see [`Memory::give_back`](crate::Memory::give_back). Whether that
    /// is possible.
    fn give_back_eager(&self) -> bool {
        false
    }
}

/// Where the receiver stores its cumulative count of freed lines.
pub trait CreditStore {
    /// Stores `word`: how many lines have been freed since the beginning, and in its two highest bits what the receiver asks for.
    fn store_credit(&self, word: u64) -> Result<(), TransportError>;
    /// Stores what has been taken out of the eager buffer.
    fn store_eager_credit(&self, _word: u64) -> Result<(), TransportError> {
        Ok(())
    }
}

/// The same count, as the sender sees it.
pub trait CreditLoad {
    /// The word that was stored last.
    fn load_credit(&self) -> u64;
    /// The word about the eager buffer that was stored last.
    fn load_eager_credit(&self) -> u64 {
        0
    }
}
