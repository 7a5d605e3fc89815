use core::fmt;

use crate::bits::{need, put, room};
use crate::error::{Error, Result};

/// Length of the payload of a reset or close frame, in bytes.
pub const LEN: usize = 48;

pub(super) mod field {
    use core::ops::Range;

    pub const JOB: Range<usize> = 0..8;
    pub const SOURCE_INCARNATION: Range<usize> = 8..16;
    pub const DESTINATION_INCARNATION: Range<usize> = 16..24;
    pub const SOURCE_NODE: Range<usize> = 24..28;
    pub const DESTINATION_NODE: Range<usize> = 28..32;
    pub const VIRTUAL_LINK: Range<usize> = 32..34;
    pub const KEY: Range<usize> = 34..36;
    pub const FRAME_LEN_MAX: Range<usize> = 36..38;
    pub const HEARD_LEN: Range<usize> = 38..40;
    pub const BUFFERS: [Range<usize>; 3] = [40..42, 42..44, 44..46];
    pub const READY: usize = 46;
    pub const REASON: usize = 47;

    const _: () = assert!(REASON + 1 == super::LEN);
}

/// Payload of a reset or close frame: which end starts or ends a virtual link, and what
/// the other end has to know for this. All fields are big-endian.
///
/// | bytes | field |
/// |---|---|
/// | 0..8 | job: frames of other jobs are not for us |
/// | 8..16 | incarnation of the sender on this link; grows with each life |
/// | 16..24 | incarnation of the receiver that this is meant for, 0 if not known |
/// | 24..28 | node of the sender |
/// | 28..32 | node of the receiver |
/// | 32..34 | virtual link id that frames to the sender have to carry |
/// | 34..36 | key that they have to carry |
/// | 36..38 | longest frame that the sender takes, in bytes |
/// | 38..40 | longest reset frame that the sender has got, in bytes, 0 for none |
/// | 40..46 | buffers of the sender: posted, non-posted, response |
/// | 46 | bit 0: the sender knows all it needs |
/// | 47 | reason in close frames, else 0 |
///
/// Key and virtual link id are valid only together with the incarnation of the
/// receiver, because they belong to this pair of incarnations.
///
/// Source: own proposal; see `docs/wire/htoe.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Repr {
    /// Job; frames of other jobs are not for us.
    pub job: u64,
    /// Incarnation of the sender on this link. Not 0.
    pub source_incarnation: u64,
    /// Incarnation of the receiver that this is meant for; 0 if not known.
    pub destination_incarnation: u64,
    /// Node of the sender.
    pub source_node: u32,
    /// Node of the receiver.
    pub destination_node: u32,
    /// Virtual link id that frames to the sender have to carry.
    pub virtual_link: u16,
    /// Key that frames to the sender have to carry.
    pub key: u16,
    /// Longest frame that the sender takes, in bytes without Ethernet header.
    pub frame_len_max: u16,
    /// Longest reset frame that the sender has got, padding included; 0 for
    /// none.
    pub heard_len: u16,
    /// Buffers of the sender by channel: posted, non-posted, response. Each
    /// holds one command and one data phase.
    pub buffers: [u16; 3],
    /// The sender knows the key of the receiver; it needs no answer.
    pub ready: bool,
    /// Why the link ends; `None` in reset frames.
    pub reason: Option<CloseReason>,
}

/// Why a virtual link was ended by the sender of a close frame.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// 1: the sender has nothing more to send.
    Finished,
    /// 2: the receiver of this frame sent a packet without a credit for it.
    CreditOverrun,
    /// 3: it returned more credits than there are buffers.
    CreditExcess,
    /// 4: a frame of this session did not hold what its header said.
    Malformed,
    /// 5: the peer was silent for too long, acknowledged nothing, or is said to have ended.
    Silent,
    /// 6: it broke a rule of the layer above.
    Misused,
    /// Any other value.
    Other(u8),
}

impl CloseReason {
    /// Its number in a close frame.
    pub const fn encode(self) -> u8 {
        match self {
            CloseReason::Finished => 1,
            CloseReason::CreditOverrun => 2,
            CloseReason::CreditExcess => 3,
            CloseReason::Malformed => 4,
            CloseReason::Silent => 5,
            CloseReason::Misused => 6,
            CloseReason::Other(other) => other,
        }
    }

    /// The reason of this number; `None` for 0.
    pub const fn decode(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => return None,
            1 => CloseReason::Finished,
            2 => CloseReason::CreditOverrun,
            3 => CloseReason::CreditExcess,
            4 => CloseReason::Malformed,
            5 => CloseReason::Silent,
            6 => CloseReason::Misused,
            other => CloseReason::Other(other),
        })
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CloseReason::Finished => "finished",
            CloseReason::CreditOverrun => "a packet without a credit for it",
            CloseReason::CreditExcess => "more credits returned than there are buffers",
            CloseReason::Malformed => "a malformed frame",
            CloseReason::Silent => "silence",
            CloseReason::Misused => "a broken rule of the layer above",
            CloseReason::Other(reason) => return write!(f, "reason {reason}"),
        })
    }
}

impl Repr {
    /// Reads the payload of a reset or close frame.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Value`] for an incarnation of 0.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let bytes = need("htoe.session", bytes, LEN)?;
        let repr = Self {
            job: u64_at(bytes, field::JOB),
            source_incarnation: u64_at(bytes, field::SOURCE_INCARNATION),
            destination_incarnation: u64_at(bytes, field::DESTINATION_INCARNATION),
            source_node: u32_at(bytes, field::SOURCE_NODE),
            destination_node: u32_at(bytes, field::DESTINATION_NODE),
            virtual_link: u16_at(bytes, field::VIRTUAL_LINK),
            key: u16_at(bytes, field::KEY),
            frame_len_max: u16_at(bytes, field::FRAME_LEN_MAX),
            heard_len: u16_at(bytes, field::HEARD_LEN),
            buffers: field::BUFFERS.map(|range| u16_at(bytes, range)),
            ready: bytes.get(field::READY).is_some_and(|flags| flags & 1 != 0),
            reason: CloseReason::decode(bytes.get(field::REASON).copied().unwrap_or(0)),
        };
        repr.check()?;
        Ok(repr)
    }

    fn check(&self) -> Result<()> {
        if self.source_incarnation == 0 {
            return Err(Error::Value {
                field: "htoe.session.source_incarnation",
                expected: "a number other than 0",
                got: 0,
            });
        }
        Ok(())
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Writes the payload to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::Value`] for an incarnation of 0, or [`Error::BufferTooSmall`];
    /// with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        self.check()?;
        let buffer = room("htoe.session", buffer, LEN)?;
        for (range, value) in [
            (field::JOB, self.job),
            (field::SOURCE_INCARNATION, self.source_incarnation),
            (field::DESTINATION_INCARNATION, self.destination_incarnation),
        ] {
            put(buffer, range.start, &value.to_be_bytes());
        }
        for (range, value) in [
            (field::SOURCE_NODE, self.source_node),
            (field::DESTINATION_NODE, self.destination_node),
        ] {
            put(buffer, range.start, &value.to_be_bytes());
        }
        for (range, value) in [
            (field::VIRTUAL_LINK, self.virtual_link),
            (field::KEY, self.key),
            (field::FRAME_LEN_MAX, self.frame_len_max),
            (field::HEARD_LEN, self.heard_len),
        ]
        .into_iter()
        .chain(field::BUFFERS.into_iter().zip(self.buffers))
        {
            put(buffer, range.start, &value.to_be_bytes());
        }
        put(buffer, field::READY, &[self.ready.into()]);
        let reason = self.reason.map_or(0, CloseReason::encode);
        put(buffer, field::REASON, &[reason]);
        Ok(LEN)
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "node {}.{} to {}.{}",
            self.source_node,
            self.source_incarnation,
            self.destination_node,
            self.destination_incarnation
        )?;
        match self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

fn u64_at(bytes: &[u8], range: core::ops::Range<usize>) -> u64 {
    let bytes = bytes.get(range).and_then(|b| b.first_chunk().copied());
    u64::from_be_bytes(bytes.unwrap_or([0; 8]))
}

fn u32_at(bytes: &[u8], range: core::ops::Range<usize>) -> u32 {
    let bytes = bytes.get(range).and_then(|b| b.first_chunk().copied());
    u32::from_be_bytes(bytes.unwrap_or([0; 4]))
}

fn u16_at(bytes: &[u8], range: core::ops::Range<usize>) -> u16 {
    let bytes = bytes.get(range).and_then(|b| b.first_chunk().copied());
    u16::from_be_bytes(bytes.unwrap_or([0; 2]))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    fn bytes() -> [u8; LEN] {
        let mut bytes: [u8; LEN] = core::array::from_fn(|i| i as u8);
        bytes[field::READY] = 1;
        bytes[field::REASON] = 2;
        bytes
    }

    fn repr() -> Repr {
        Repr {
            job: 0x0001_0203_0405_0607,
            source_incarnation: 0x0809_0a0b_0c0d_0e0f,
            destination_incarnation: 0x1011_1213_1415_1617,
            source_node: 0x1819_1a1b,
            destination_node: 0x1c1d_1e1f,
            virtual_link: 0x2021,
            key: 0x2223,
            frame_len_max: 0x2425,
            heard_len: 0x2627,
            buffers: [0x2829, 0x2a2b, 0x2c2d],
            ready: true,
            reason: Some(CloseReason::CreditOverrun),
        }
    }

    #[test]
    fn both_ways() {
        assert_eq!(Repr::parse(&bytes()), Ok(repr()));
        let mut out = [0xee; LEN + 1];
        assert_eq!(repr().emit(&mut out), Ok(LEN));
        assert_eq!(out[..LEN], bytes());
        assert_eq!(out[LEN], 0xee);
    }

    #[test]
    fn reasons() {
        for byte in 0..=255 {
            let mut bytes = bytes();
            bytes[field::REASON] = byte;
            let repr = Repr::parse(&bytes).unwrap();
            assert_eq!(repr.reason.is_none(), byte == 0);
            let mut out = [0; LEN];
            repr.emit(&mut out).unwrap();
            assert_eq!(out, bytes);
        }
        assert!(repr().to_string().ends_with("without a credit for it"));
    }

    #[test]
    fn errors() {
        assert_eq!(
            Repr::parse(&bytes()[..LEN - 1]),
            Err(Error::Truncated {
                field: "htoe.session",
                expected_bytes: LEN,
                got_bytes: LEN - 1
            })
        );
        let nobody = Repr::default();
        let expected = Error::Value {
            field: "htoe.session.source_incarnation",
            expected: "a number other than 0",
            got: 0,
        };
        assert_eq!(Repr::parse(&[0; LEN]), Err(expected));
        assert_eq!(nobody.emit(&mut [0; LEN]), Err(expected));
    }
}
