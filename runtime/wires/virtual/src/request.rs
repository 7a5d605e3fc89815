//! The requests of a PE to the simulator, as words.

use hostwire_transport::chain::{Block, BlockSource};
use hostwire_transport::error::PeId;

use super::desk::{PAYLOAD_BYTES, REQUEST_WORDS};

/// How far a PE is with falling asleep when it makes a request. Sent with the next request, not as a
/// request of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arming {
    /// It is not about to sleep.
    #[default]
    No,
    /// It has armed its doorbell.
    Armed,
    /// It has looked once since.
    Looked,
}

/// A request of a PE. Offsets are in the segment of the named PE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// As [`Wire::store`](hostwire_transport::Wire::store).
    Store {
        /// Whose segment.
        pe: PeId,
        /// Where in it.
        offset_bytes: usize,
        /// What.
        bytes: Vec<u8>,
    },
    /// As [`Wire::store_word`](hostwire_transport::Wire::store_word).
    Word {
        /// Whose segment.
        pe: PeId,
        /// Where in it.
        offset_bytes: usize,
        /// What.
        value: u64,
    },
    /// As [`Wire::store_line`](hostwire_transport::Wire::store_line).
    Line {
        /// Whose segment.
        pe: PeId,
        /// Where in it.
        offset_bytes: usize,
        /// The word that is visible last.
        header: u64,
        /// The payload.
        payload: Vec<u8>,
    },
    /// As [`Chains::put_chain`](hostwire_transport::Chains::put_chain).
    Chain(Vec<Block>),
    /// Orders stores.
    Fence,
    /// Waits until all stores have arrived.
    Quiet,
    /// Looks at the own memory.
    Look,
    /// Lets time pass as a look does, without a look.
    Yield,
    /// Sleeps until something is stored.
    Sleep,
    /// The same for at most so long, in ps, but at least for the time of a look.
    Doze(u64),
    /// Sleeps for so long, in ps.
    Nap(u64),
    /// It takes part no longer.
    End,
}

/// The words of a request. Its bytes are in the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) kind: Kind,
    pub(super) pe: PeId,
    pub(super) offset_bytes: usize,
    /// Bytes in the payload.
    pub(super) len_bytes: usize,
    pub(super) value: u64,
    pub(super) arming: Arming,
}

/// Makes [`Kind`] with its numbers.
macro_rules! kinds {
    ($($kind:ident = $number:literal,)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Kind {
            $($kind = $number,)+
        }

        impl Kind {
            fn parse(number: u64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$kind),)+
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    // Bytes of the store that follows.
    Piece = 1,
    Store = 2,
    Word = 3,
    Line = 4,
    Fence = 5,
    Quiet = 6,
    Look = 7,
    Yield = 8,
    Sleep = 9,
    Nap = 10,
    End = 11,
    Doze = 12,
    Chain = 13,
}

impl Words {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            pe: 0,
            offset_bytes: 0,
            len_bytes: 0,
            value: 0,
            arming: Arming::No,
        }
    }

    pub(super) fn to_words(self) -> [u64; REQUEST_WORDS] {
        let arming = match self.arming {
            Arming::No => 0,
            Arming::Armed => 1,
            Arming::Looked => 2,
        };
        [
            self.kind as u64,
            self.pe.into(),
            self.offset_bytes as u64,
            self.len_bytes as u64,
            self.value,
            arming,
            0,
            0,
        ]
    }

    /// Checks words: a PE may have written anything.
    pub(super) fn parse(words: &[u64; REQUEST_WORDS]) -> Option<Self> {
        let [kind, pe, offset_bytes, len_bytes, value, arming, _, _] = *words;
        let arming = match arming {
            0 => Arming::No,
            1 => Arming::Armed,
            2 => Arming::Looked,
            _ => return None,
        };
        let len_bytes = usize::try_from(len_bytes).ok()?;
        Some(Self {
            kind: Kind::parse(kind)?,
            pe: pe.try_into().ok()?,
            offset_bytes: offset_bytes.try_into().ok()?,
            len_bytes: (len_bytes <= PAYLOAD_BYTES).then_some(len_bytes)?,
            value,
            arming,
        })
    }

    /// The request, with the bytes that came with it.
    pub(super) fn with(self, bytes: Vec<u8>) -> Option<Request> {
        let (pe, offset_bytes) = (self.pe, self.offset_bytes);
        Some(match self.kind {
            Kind::Piece => return None,
            Kind::Store => Request::Store {
                pe,
                offset_bytes,
                bytes,
            },
            Kind::Word => Request::Word {
                pe,
                offset_bytes,
                value: self.value,
            },
            Kind::Line => Request::Line {
                pe,
                offset_bytes,
                header: self.value,
                payload: bytes,
            },
            Kind::Chain => Request::Chain(parse_blocks(&bytes)?),
            Kind::Fence => Request::Fence,
            Kind::Quiet => Request::Quiet,
            Kind::Look => Request::Look,
            Kind::Yield => Request::Yield,
            Kind::Sleep => Request::Sleep,
            Kind::Doze => Request::Doze(self.value),
            Kind::Nap => Request::Nap(self.value),
            Kind::End => Request::End,
        })
    }
}

/// Words of a block: where its bytes come from and its PE, its place there, the place of its source or the
/// word, and its length; numbers of this machine.
const BLOCK_WORDS: usize = 4;
const FROM_SEGMENT: u64 = 0;
const A_WORD: u64 = 1 << 32;

/// The payload of a chain.
pub(super) fn block_bytes(blocks: &[Block]) -> Vec<u8> {
    let words = blocks.iter().flat_map(|block| {
        let (kind, source) = match block.source {
            BlockSource::Own { offset_bytes, .. } => (FROM_SEGMENT, offset_bytes as u64),
            BlockSource::Word(value) => (A_WORD, value),
        };
        [
            kind | u64::from(block.pe),
            block.offset_bytes as u64,
            source,
            block.len_bytes() as u64,
        ]
    });
    words.flat_map(u64::to_ne_bytes).collect()
}

/// The blocks in these bytes: a PE may have written anything.
fn parse_blocks(bytes: &[u8]) -> Option<Vec<Block>> {
    let (words, rest) = bytes.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let (blocks, more) = words.as_chunks::<BLOCK_WORDS>();
    if !rest.is_empty() || !more.is_empty() {
        return None;
    }
    let block = |[first, offset, source, len]: &[u64; BLOCK_WORDS]| {
        let source = match first >> 32 << 32 {
            FROM_SEGMENT => BlockSource::Own {
                offset_bytes: usize::try_from(*source).ok()?,
                len_bytes: usize::try_from(*len).ok()?,
            },
            A_WORD if *len == 8 => BlockSource::Word(*source),
            _ => return None,
        };
        Some(Block {
            pe: *first as PeId,
            offset_bytes: usize::try_from(*offset).ok()?,
            source,
        })
    };
    blocks.iter().map(block).collect()
}
