//! Long messages: announced through the ring, moved by rendezvous.
//!
//! The sender announces number, length and where the source lies, if the receiver may be able to load it.
//! The receiver answers, by a line in the ring to the sender, how it wants the bytes:
//!
//! | delivery | when | who copies |
//! |---|---|---|
//! | [`Fetched`](Delivery::Fetched) | the source is in symmetric memory that the receiver can load, or in private memory that the kernel lets it copy | the receiver, once |
//! | [`Direct`](Delivery::Direct) | the destination is in symmetric memory | the sender, once; then it says so, by a line |
//! | [`Staged`](Delivery::Staged) | neither | the sender into staging, the receiver out of it, in pieces, both at work at once |
//!
//! Any number of messages may be announced at a time, and answered in any order: a ring
//! loses none of its lines. The staging memory belongs to one message at a time; the pieces
//! in it are counted by words in count lines.
//!
//! Whatever a peer says is a number that is checked here.

use hostwire_transport::{PeId, Visibility};

use super::header::{from_upper_word, upper_word};
use super::peer::Peer;
use crate::error::{Error, PeerWord, Result};
use crate::inner::Inner;
use crate::layout::{CHUNK_BYTES, CHUNKS, Count};

/// What the line in the ring says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) number: u32,
    pub(crate) len_bytes: usize,
    /// Where the source lies.
    pub(crate) source: Origin,
    /// What was sent beside it.
    pub(crate) data: Option<u64>,
    /// The upper half of its tag.
    pub(crate) tag_high: u32,
}

/// Where the bytes of a long message are at its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Where nobody else can load them.
    Hidden,
    /// In its segment, at this offset.
    Segment(usize),
    /// In its private memory, at this address.
    Private(u64),
}

const NO_SOURCE: u64 = u64::MAX;

impl Announcement {
    /// What all have. The line of one whose source is private memory has its address behind that.
    pub(crate) const BYTES: usize = 40;
    /// The longest.
    pub(crate) const BYTES_MAX: usize = 48;

    /// The line, and how much of it is in use.
    pub(crate) fn emit(&self) -> ([u8; Self::BYTES_MAX], usize) {
        let (source, address, len) = match self.source {
            Origin::Hidden => (NO_SOURCE, 0, Self::BYTES),
            Origin::Segment(offset) => (offset as u64, 0, Self::BYTES),
            Origin::Private(address) => (NO_SOURCE, address, Self::BYTES_MAX),
        };
        let words = [
            self.number.into(),
            self.len_bytes as u64,
            source,
            self.data.unwrap_or(0),
            upper_word(u64::from(self.tag_high) << 32, self.data),
            address,
        ];
        let mut bytes = [0; Self::BYTES_MAX];
        for (bytes, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        (bytes, len)
    }

    /// That of a line of `bytes`, which are as many as [`emit`](Self::emit) gives.
    pub(crate) fn parse(pe: PeId, bytes: &[u8]) -> Result<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        let is_private = match (words.len(), rest) {
            (5, []) => false,
            (6, []) => true,
            _ => {
                let lengths = Self::BYTES as u64..=Self::BYTES_MAX as u64;
                return Err(PeerWord::FirstLineBytes.out_of(lengths, pe, bytes.len() as u64));
            }
        };
        let word = |index: usize| words.get(index).map_or(0, |word| u64::from_le_bytes(*word));
        let bad = |what: PeerWord, max, got| what.out_of(0..=max, pe, got);
        let number_max = u64::from(u32::MAX);
        let (tag_high, data) = from_upper_word(pe, word(4), word(3))?;
        Ok(Self {
            number: u32::try_from(word(0))
                .map_err(|_| bad(PeerWord::LongNumber, number_max, word(0)))?,
            len_bytes: usize::try_from(word(1))
                .ok()
                .filter(|len| isize::try_from(*len).is_ok())
                .ok_or_else(|| bad(PeerWord::LongBytes, isize::MAX as u64, word(1)))?,
            source: match word(2) {
                NO_SOURCE if is_private => Origin::Private(word(5)),
                NO_SOURCE => Origin::Hidden,
                offset if is_private => {
                    let only = NO_SOURCE..=NO_SOURCE;
                    return Err(PeerWord::LongSource.out_of(only, pe, offset));
                }
                offset => Origin::Segment(
                    usize::try_from(offset)
                        .map_err(|_| bad(PeerWord::LongSource, usize::MAX as u64, offset))?,
                ),
            },
            data,
            tag_high,
        })
    }
}

/// What the sender says of a message that it has put to its place: no [`Delivery`].
pub(super) const DELIVERED: u64 = 4;

/// How the receiver wants a long message. As a word: the way in bits 1:0, the offset
/// above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It has copied the bytes itself.
    Fetched,
    /// Put them here, in its segment.
    Direct(usize),
    /// Piece by piece into its staging memory: [past the caches](hostwire_transport::copy_choice), or not.
    Staged { past_caches: bool },
}

impl Delivery {
    pub(crate) fn to_word(self) -> u64 {
        match self {
            Self::Fetched => 1,
            Self::Direct(offset) => (offset as u64) << 2 | 2,
            Self::Staged { past_caches } => u64::from(!past_caches) << 2 | 3,
        }
    }

    pub(crate) fn from_word(pe: PeId, word: u64) -> Result<Self> {
        match (word & 3, word >> 2) {
            (1, 0) => Ok(Self::Fetched),
            (2, offset) => Ok(Self::Direct(offset as usize)),
            (3, ordinary @ 0..=1) => Ok(Self::Staged {
                past_caches: ordinary == 0,
            }),
            _ => Err(PeerWord::Delivery.out_of(1..=3, pe, word)),
        }
    }
}

/// A side tells the other one of so many pieces together. Fitted.
const PIECES_TOLD: u64 = 4;
/// In coherent memory, where telling costs little, messages of up to so many pieces are told piece by piece: both sides then copy at the same time
/// from the first piece on. Fitted.
const PIECES_TOLD_ALONE_MAX: u64 = 16;

const _: () = assert!(CHUNKS.is_multiple_of(PIECES_TOLD));

/// The piece behind those that `pe` is told of together with `piece`, of a message of `all` pieces. Such pieces lie one behind the other in
/// staging.
pub(super) fn next_to_tell(inner: &Inner, pe: PeId, piece: u64, all: u64) -> u64 {
    match is_coherent(inner, pe) && all <= PIECES_TOLD_ALONE_MAX {
        true => piece + 1,
        false => (piece / PIECES_TOLD + 1) * PIECES_TOLD,
    }
}

/// Whether staging memory of this PE and `pe` is coherent, so that there are two ways to copy pieces.
pub(super) fn is_coherent(inner: &Inner, pe: PeId) -> bool {
    let window = inner.window(pe);
    window.is_some_and(|window| window.visibility() == Visibility::Coherent)
}

/// Where a piece lies in staging.
pub(super) fn place(inner: &Inner, piece: u64) -> usize {
    inner.layout.staging() + (piece % CHUNKS) as usize * CHUNK_BYTES
}

/// Copies pieces out of staging, from this one on. The first ones of a message that comes another way than the last one are measured.
pub(super) fn copy_out(
    inner: &Inner,
    peer: &mut Peer,
    (piece, past_caches): (u64, bool),
    part: &mut [u8],
) -> Result<()> {
    let (at, bytes, segment) = (place(inner, piece), part.len(), inner.segment());
    let mut copy = || match past_caches {
        true => segment.get_staged(at, part),
        false => segment.get(at, part),
    };
    Ok(match piece == 0 && is_coherent(inner, peer.pe) {
        true => (peer.far().past_caches.choice).watch(past_caches, bytes, copy),
        false => copy(),
    }?)
}

/// How many pieces a message of `len` bytes has in staging.
pub(crate) fn pieces(len_bytes: usize) -> u64 {
    len_bytes.div_ceil(CHUNK_BYTES) as u64
}

/// Writes a count of pieces of message `number` into the segment of `pe`.
pub(crate) fn store_count(
    inner: &Inner,
    pe: PeId,
    word: Count,
    number: u32,
    count: u64,
) -> Result<()> {
    let at = inner.layout.count(inner.wire.number_at(pe), word);
    inner.put_word(pe, at, u64::from(number) << 32 | count)
}

/// What came of a word that tells the sender of a message how far its receiver is. Who is lost need not know, and what
/// it has put to its place can still be taken.
pub(super) fn unless_lost<T>(told: Result<T>) -> Result<()> {
    match told {
        Ok(_) | Err(Error::PeerLost { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Sets a count that `pe` is going to write to 0, before it can know of message `number`.
pub(super) fn expect_count(inner: &Inner, pe: PeId, word: Count, number: u32) -> Result<()> {
    let at = inner.layout.count(pe, word);
    Ok(inner.segment().put_word(at, u64::from(number) << 32)?)
}

/// Reads such a count, which must lie between what was read before and `most`, and be of
/// message `number`: see [`expect_count`].
pub(crate) fn load_count(
    inner: &Inner,
    pe: PeId,
    word: Count,
    number: u32,
    before: u64,
    most: u64,
) -> Result<u64> {
    let got = inner.segment().load_word(inner.layout.count(pe, word))?;
    let (of, count) = (got >> 32, got & 0xffff_ffff);
    if of != u64::from(number) {
        let number = u64::from(number);
        return Err(PeerWord::PiecesOf.out_of(number..=number, pe, of));
    }
    if count < before || count > most {
        return Err(PeerWord::Pieces.out_of(before..=most, pe, count));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_survive_the_wire() {
        let (hidden, first) = (Origin::Hidden, Origin::Segment(0));
        for source in [
            hidden,
            first,
            Origin::Segment(4096),
            Origin::Private(1 << 47),
        ] {
            let announcement = Announcement {
                number: 7,
                len_bytes: 1 << 40,
                source,
                data: (source == hidden).then_some(0),
                tag_high: 5,
            };
            let (line, len) = announcement.emit();
            assert_eq!(Announcement::parse(1, &line[..len]), Ok(announcement));
            assert!(Announcement::parse(1, &line[..len - 8]).is_err() || len > Announcement::BYTES);
        }
        for len in [0, 39, 40, 48, 56] {
            assert!(Announcement::parse(1, &vec![0xff; len]).is_err(), "{len}");
        }
        // In a segment, and private.
        assert!(Announcement::parse(1, &[0; 48]).is_err());
    }

    #[test]
    fn deliveries_survive_the_wire() {
        for delivery in [
            Delivery::Fetched,
            Delivery::Direct(0),
            Delivery::Direct(1 << 40),
            Delivery::Staged { past_caches: true },
            Delivery::Staged { past_caches: false },
        ] {
            assert_eq!(Delivery::from_word(1, delivery.to_word()), Ok(delivery));
        }
        for bad in [0, DELIVERED, 5, 11, u64::MAX] {
            assert!(Delivery::from_word(1, bad).is_err(), "{bad}");
        }
    }
}
