//! The first word of a message between hosts with boards.

/// Bytes of a message behind its header.
pub(super) const BODY_BYTES: usize = 56;
/// PEs of a host that a header can name.
pub const HOST_PES_MAX: usize = 64;

const OFFSET_BITS: u32 = 34;
const LEN_BITS: u32 = 6;
const KIND_BITS: u32 = 2;
const PE_BITS: u32 = 6;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes for a segment.
    Put,
    /// A question: how many messages have you taken?
    Ask,
    /// The answer to it, or to many messages.
    Answer,
}

/// Where the bytes of a message go, and what its sender has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Number of the PE among those of its host.
    pub(super) pe: u8,
    /// Bytes behind the header that count.
    pub(super) len: u8,
    /// Where they go in the segment of that PE.
    pub(super) offset_bytes: u64,
    /// The low bits of how many messages of the receiver its sender has taken.
    pub(super) taken: u16,
}

impl Header {
    pub(super) fn word(self) -> u64 {
        let kind = match self.kind {
            Kind::Put => 0,
            Kind::Ask => 1,
            Kind::Answer => 2,
        };
        let mut word = u64::from(self.taken);
        word = word << PE_BITS | u64::from(self.pe);
        word = word << KIND_BITS | kind;
        word = word << LEN_BITS | u64::from(self.len);
        word << OFFSET_BITS | self.offset_bytes & ((1 << OFFSET_BITS) - 1)
    }

    /// `None` for a word that no sender makes.
    pub(super) fn parse(word: u64) -> Option<Self> {
        let bits = |from: u32, count: u32| word >> from & ((1 << count) - 1);
        let kind = match bits(OFFSET_BITS + LEN_BITS, KIND_BITS) {
            0 => Kind::Put,
            1 => Kind::Ask,
            2 => Kind::Answer,
            _ => return None,
        };
        let len = bits(OFFSET_BITS, LEN_BITS) as u8;
        (usize::from(len) <= BODY_BYTES).then_some(Self {
            kind,
            pe: bits(OFFSET_BITS + LEN_BITS + KIND_BITS, PE_BITS) as u8,
            len,
            offset_bytes: bits(0, OFFSET_BITS),
            taken: (word >> (u64::BITS - u16::BITS)) as u16,
        })
    }
}

const _: () = assert!(OFFSET_BITS + LEN_BITS + KIND_BITS + PE_BITS + u16::BITS == u64::BITS);
const _: () = assert!(1 << PE_BITS == HOST_PES_MAX && BODY_BYTES < 1 << LEN_BITS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_their_bits() {
        let header = Header {
            kind: Kind::Ask,
            pe: 5,
            len: 9,
            offset_bytes: 0x3_0000_0010,
            taken: 0xabcd,
        };
        // taken 16, PE 6, kind 2, length 6, offset 34 bits.
        let word = 0xabcd << 48 | 5 << 42 | 1 << 40 | 9 << 34 | 0x3_0000_0010;
        assert_eq!(header.word(), word);
        assert_eq!(Header::parse(word), Some(header));
        assert_eq!(Header::parse(3 << 40), None, "no such kind");
        assert_eq!(Header::parse(57 << 34), None, "longer than a message");
    }
}
