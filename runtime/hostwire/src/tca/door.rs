//! The memory of [`tca`](crate::tca) through which PEs meet, in symmetric memory, and its layout.
//!
//! | part | bytes | written by |
//! |---|---|---|
//! | pool | what the program asks for | the program, and copies of all PEs to it |
//! | staging | [`STAGING`] pieces | the own engine: what comes from its devices |
//! | landing | per PE [`SLOTS`] pieces | that PE: what goes to a device of this one |
//! | heads | per PE [`SLOTS`] lines | that PE: where the piece goes; the first word is its number |
//! | acknowledgements | per PE [`SLOTS`] words | that PE: the number of a piece of this one, and its [`Outcome`] |
//! | serving | a line | the own PE: 1 in its first word once it takes pieces for its devices |
//! | stuck | a line | any PE: a warning in its first word; see `failures.rs` |
//! | names | [`EXPORTS`] of 128 B | the own PE: memory of its devices, as other processes of this host open it; see `peers.rs` |
//!
//! In virtual time there are no devices, and only the pool.

use hostwire_transport::PeId;

use super::ALIGN_MAX;
use crate::inner::Inner;

/// Pieces that are under way from one PE to the devices of another.
pub(super) const SLOTS: usize = 8;
/// Pieces that are under way from devices of this PE.
pub(super) const STAGING: usize = 16;
/// Allocations on devices that a PE names for others.
pub(super) const EXPORTS: usize = 32;
const EXPORT_BYTES: usize = 128;
/// Bytes of a head.
const HEAD_BYTES: usize = 64;
/// Bytes of all landing pieces of a PE together, at most.
const LANDING_BYTES_MAX: usize = 32 << 20;
/// Bytes of a piece, at most and at least. The most is fitted: longer pieces leave the caches.
const PIECE_BYTES_MAX: usize = 128 << 10;
const PIECE_BYTES_MIN: usize = 4 << 10;

/// How a piece has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Outcome {
    Done = 1,
    /// There is no such memory.
    NotThere = 2,
    /// The device fails.
    Failed = 3,
}

/// Bits of an acknowledgement that are a number; those above are the outcome.
const NUMBER_BITS: u32 = 56;

impl Outcome {
    /// The acknowledgement of piece `number`.
    pub(super) fn of(self, number: u64) -> u64 {
        number | (self as u64) << NUMBER_BITS
    }

    /// How piece `number` has ended, if this word is its acknowledgement.
    pub(super) fn read(word: u64, number: u64) -> Option<Self> {
        if word & ((1 << NUMBER_BITS) - 1) != number {
            return None;
        }
        let code = word >> NUMBER_BITS;
        let all = [Self::Done, Self::NotThere, Self::Failed];
        all.into_iter().find(|one| *one as u64 == code)
    }
}

/// Offsets in the segment of each PE: the same on all. See the [module text](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Door {
    pub(super) pool: usize,
    pub(super) pool_bytes: usize,
    pub(super) piece_bytes: usize,
    staging: usize,
    landing: usize,
    heads: usize,
    acks: usize,
    serving: usize,
    stuck: usize,
    exports: usize,
    end: usize,
}

impl Door {
    /// Bytes of symmetric memory that it takes.
    pub(super) fn bytes(inner: &Inner, pool_bytes: usize) -> usize {
        // Alignment moves its begin by less than a page.
        Self::new(inner, 0, pool_bytes).end + ALIGN_MAX
    }

    /// All of it: where it begins, and how many bytes it has.
    pub(super) fn range(&self) -> (usize, usize) {
        (self.pool, self.end - self.pool)
    }

    /// A door in symmetric memory at `offset`.
    pub(super) fn new(inner: &Inner, offset: usize, pool_bytes: usize) -> Self {
        let pes = match inner.wire.is_in_virtual_time() {
            true => 0,
            false => inner.pes as usize,
        };
        let pieces = (pes * SLOTS).max(1);
        let piece_bytes = (LANDING_BYTES_MAX / pieces).clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
        let piece_bytes = piece_bytes / HEAD_BYTES * HEAD_BYTES;
        let pool = offset.next_multiple_of(ALIGN_MAX);
        // So that no sum overflows. No heap is that large.
        let padded = pool_bytes.min(usize::MAX / 4).next_multiple_of(HEAD_BYTES);
        let staging = pool + padded;
        let landing = staging + STAGING * piece_bytes * usize::from(pes > 0);
        let heads = landing + pes * SLOTS * piece_bytes;
        let acks = heads + pes * SLOTS * HEAD_BYTES;
        // Words of several peers must not share a line with what this PE writes.
        let serving = (acks + pes * SLOTS * 8).next_multiple_of(HEAD_BYTES);
        let stuck = serving + HEAD_BYTES * usize::from(pes > 0);
        let exports = stuck + HEAD_BYTES * usize::from(pes > 0);
        Self {
            pool,
            pool_bytes,
            piece_bytes,
            staging,
            landing,
            heads,
            acks,
            serving,
            stuck,
            exports,
            end: exports + EXPORTS * EXPORT_BYTES * usize::from(pes > 0),
        }
    }

    pub(super) fn staging(&self, piece: usize) -> usize {
        self.staging + piece * self.piece_bytes
    }

    pub(super) fn landing(&self, from: PeId, slot: usize) -> usize {
        self.landing + (from as usize * SLOTS + slot) * self.piece_bytes
    }

    pub(super) fn head(&self, from: PeId, slot: usize) -> usize {
        self.heads + (from as usize * SLOTS + slot) * HEAD_BYTES
    }

    pub(super) fn serving(&self) -> usize {
        self.serving
    }

    /// Not in virtual time.
    pub(super) fn stuck(&self) -> Option<usize> {
        (self.stuck < self.exports).then_some(self.stuck)
    }

    pub(super) fn export(&self, entry: usize) -> usize {
        self.exports + entry * EXPORT_BYTES
    }

    pub(super) fn ack(&self, of: PeId, slot: usize) -> usize {
        self.acks + (of as usize * SLOTS + slot) * 8
    }
}

/// The words behind the number in a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// The landing piece goes to memory of a device.
    Write { device: u32, len: u32, address: u64 },
    /// A word of the pool gets this value after all earlier pieces.
    Signal { at: u64, value: u64 },
}

pub(super) const HEAD_WORDS: usize = 3;

impl Head {
    pub(super) fn words(self) -> [u64; HEAD_WORDS] {
        match self {
            Self::Write {
                device,
                len,
                address,
            } => [1, u64::from(len) << 32 | u64::from(device), address],
            Self::Signal { at, value } => [2, value, at],
        }
    }

    /// What a peer has stored.
    pub(super) fn read([kind, second, third]: [u64; HEAD_WORDS]) -> Option<Self> {
        match kind {
            1 => Some(Self::Write {
                device: second as u32,
                len: (second >> 32) as u32,
                address: third,
            }),
            2 => Some(Self::Signal {
                at: third,
                value: second,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_tells_of_its_piece_alone() {
        let word = Outcome::NotThere.of(5);
        assert_eq!(word, 0x0200_0000_0000_0005);
        assert_eq!(Outcome::read(word, 5), Some(Outcome::NotThere));
        assert_eq!(Outcome::read(word, 13), None);
        assert_eq!(Outcome::read(5, 5), None, "no such outcome");
    }

    #[test]
    fn heads_are_three_words() {
        let write = Head::Write {
            device: 2,
            len: 0x100,
            address: 0x4000_0300_0000_0000,
        };
        assert_eq!(write.words(), [1, 0x100_0000_0002, 0x4000_0300_0000_0000]);
        let signal = Head::Signal { at: 64, value: 9 };
        assert_eq!(signal.words(), [2, 9, 64]);
        for head in [write, signal] {
            assert_eq!(Head::read(head.words()), Some(head));
        }
        assert_eq!(Head::read([0; 3]), None);
    }
}
