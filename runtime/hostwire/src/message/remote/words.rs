//! What goes through a ring about registered memory: messages of kind 6 that are longer than a word.
//!
//! | bytes | |
//! |---|---|
//! | 0 | what it is: [`What`] |
//! | 1 | 1: there are data; 2: what was there is to be answered; 4, of an answer: who answers can copy private memory of the other; 8, of a get: who asks can copy that of the owner |
//! | 2, 3 | number and change of an atomic operation |
//! | 4 | how many places follow |
//! | 8..16 | data; the answers of [`What::Done`]; the refusal of [`What::Refused`]; of [`What::Copied`], 1 if they have been |
//! | 16.. | places, of 24 bytes each: key, where, length |
//! | behind them | bytes that are put, or the 8 of an address where they are; operands and numbers to compare with; or the answer, of [`What::At`] 8 bytes of an address for each place |
//!
//! Numbers have their least byte first, but operands: those are as the host has them, as both are on
//! one.

use hostwire_transport::PeId;

use crate::error::{PeerWord, Result};
use hostwire_station::memory_region::RegionRange;

/// Places of an operation, at most.
pub(crate) const PLACES_MAX: usize = 4;
/// Operands of an atomic operation, at most.
pub(crate) const ATOMIC_BYTES_MAX: usize = 2048;
pub(super) const HEADER_BYTES: usize = 16;
pub(super) const PLACE_BYTES: usize = 24;
pub(super) const HAS_DATA: u8 = 1;
pub(super) const WANTS_OLD: u8 = 2;
pub(super) const COPIES: u8 = 4;
pub(super) const CAN_COPY: u8 = 8;

/// What a message about memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum What {
    /// The first piece of a put.
    Put = 1,
    /// The next one.
    More = 2,
    Get = 3,
    Atomic = 4,
    /// So many operations have been done that answer nothing else.
    Done = 5,
    /// A piece of the answer to a get or an atomic operation.
    Bytes = 6,
    Refused = 7,
    /// A put whose bytes the owner of the memory copies out of private memory.
    PutFrom = 8,
    /// Where the bytes of a get are, for who asks to copy them. The answer follows when it says that it has.
    At = 9,
    /// Who has asked has copied them, or cannot.
    Copied = 10,
}

impl What {
    const ALL: [Self; 10] = [
        Self::Put,
        Self::More,
        Self::Get,
        Self::Atomic,
        Self::Done,
        Self::Bytes,
        Self::Refused,
        Self::PutFrom,
        Self::At,
        Self::Copied,
    ];
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) what: What,
    pub(super) flags: u8,
    pub(super) number: u8,
    pub(super) change: u8,
    pub(super) word: u64,
}

impl Header {
    pub(super) fn new(what: What) -> Self {
        Self {
            what,
            flags: 0,
            number: 0,
            change: 0,
            word: 0,
        }
    }

    pub(super) fn with_word(self, word: u64) -> Self {
        Self { word, ..self }
    }

    pub(super) fn with_flags(self, flags: u8) -> Self {
        Self { flags, ..self }
    }

    /// It with places, which are at most [`PLACES_MAX`]. The rest of the message follows.
    pub(super) fn emit(&self, places: &[RegionRange]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + places.len() * PLACE_BYTES);
        let count = places.len() as u8;
        let first = [
            self.what as u8,
            self.flags,
            self.number,
            self.change,
            count,
            0,
            0,
            0,
        ];
        bytes.extend_from_slice(&first);
        bytes.extend_from_slice(&self.word.to_le_bytes());
        for place in places {
            for word in [place.key, place.at, place.len] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        bytes
    }
}

/// A message about memory of a peer, as far as it makes sense by itself.
pub(super) struct Message<'a> {
    pub(super) header: Header,
    pub(super) places: Vec<RegionRange>,
    /// Bytes of all places.
    pub(super) len: u64,
    pub(super) rest: &'a [u8],
}

impl<'a> Message<'a> {
    pub(super) fn parse(pe: PeId, bytes: &'a [u8]) -> Result<Self> {
        let too_short = || bad_length(pe, bytes.len());
        let (head, rest) = bytes
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or_else(too_short)?;
        let [what, flags, number, change, count, ..] = *head;
        let what = What::ALL
            .into_iter()
            .find(|it| *it as u8 == what)
            .ok_or_else(|| {
                let all = 1..=What::ALL.len() as u64;
                PeerWord::MemoryWord.out_of(all, pe, what.into())
            })?;
        let count = usize::from(count);
        if count > PLACES_MAX {
            return Err(PeerWord::MemoryPlaces.out_of(0..=PLACES_MAX as u64, pe, count as u64));
        }
        let split = rest.split_at_checked(count * PLACE_BYTES);
        let (places, rest) = split.ok_or_else(too_short)?;
        let word = |bytes: &[u8], at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at * 8..(at + 1) * 8]);
            u64::from_le_bytes(word)
        };
        let places: Vec<RegionRange> = places
            .chunks_exact(PLACE_BYTES)
            .map(|bytes| RegionRange {
                key: word(bytes, 0),
                at: word(bytes, 1),
                len: word(bytes, 2),
            })
            .collect();
        let mut len = 0_u64;
        for place in &places {
            let sum = len.checked_add(place.len).filter(|len| *len <= LEN_MAX);
            len = sum.ok_or_else(|| PeerWord::MemoryBytes.out_of(0..=LEN_MAX, pe, place.len))?;
        }
        let header = Header {
            what,
            flags,
            number,
            change,
            word: word(head, 1),
        };
        Ok(Self {
            header,
            places,
            len,
            rest,
        })
    }
}

/// The longest operation.
const LEN_MAX: u64 = isize::MAX as u64;

/// A message, or an answer, is not as long as it has to be.
#[cold]
pub(super) fn bad_length(pe: PeId, got: usize) -> crate::error::Error {
    PeerWord::MemoryBytes.out_of(HEADER_BYTES as u64..=LEN_MAX, pe, got as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emitted_is_parsed_and_nothing_else() {
        let places = [
            RegionRange {
                key: 1,
                at: u64::MAX,
                len: 3,
            },
            RegionRange {
                key: u64::MAX,
                at: 4,
                len: 5,
            },
        ];
        let mut header = Header::new(What::Put).with_word(77);
        (header.flags, header.number, header.change) = (HAS_DATA, 3, 4);
        let mut bytes = header.emit(&places);
        bytes.extend_from_slice(b"rest");
        let parsed = Message::parse(2, &bytes).unwrap();
        assert_eq!(
            (parsed.places, parsed.len, parsed.rest),
            (places.to_vec(), 8, &b"rest"[..])
        );
        assert_eq!((parsed.header.what, parsed.header.word), (What::Put, 77));
        assert_eq!(
            (
                parsed.header.flags,
                parsed.header.number,
                parsed.header.change
            ),
            (1, 3, 4)
        );
        for len in 0..HEADER_BYTES + 2 * PLACE_BYTES {
            assert!(Message::parse(2, &bytes[..len]).is_err(), "{len} bytes");
        }
        for (at, byte) in [(0, 0), (0, 11), (4, 5), (16 + 23, 0x80), (40 + 23, 0xff)] {
            let mut bad = bytes.clone();
            bad[at] = byte;
            assert!(Message::parse(2, &bad).is_err(), "byte {at} is {byte}");
        }
    }
}
