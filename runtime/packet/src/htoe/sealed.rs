use core::fmt;

use crate::bits::{need, room};
use crate::error::{Error, Result};

use super::VERSION;

/// Length of the header of a sealed frame in bytes.
pub const LEN: usize = 20;
/// Length of the tag behind a sealed frame in bytes.
pub const TAG_LEN: usize = 16;
/// How many bytes longer a sealed frame is than the frame in it.
pub const OVERHEAD: usize = LEN + TAG_LEN;
/// Type of a sealed frame, beside those of [`FrameType`](super::FrameType).
pub(super) const TYPE: u8 = 5;

pub(super) mod field {
    use core::ops::Range;

    pub const VERSION_TYPE: usize = 0;
    pub const DESTINATION: Range<usize> = 4..8;
    pub const SOURCE: Range<usize> = 8..12;
    pub const NUMBER: Range<usize> = 12..20;

    const _: () = assert!(NUMBER.end == super::LEN);
}

/// Header of a sealed frame: a whole HToE frame, encrypted and authenticated. All fields
/// are big-endian and travel in the clear, but are authenticated with the frame.
///
/// | bytes | field |
/// |---|---|
/// | 0 | version in `[7:4]`, type 5 in `[3:0]` |
/// | 1..4 | reserved, 0 |
/// | 4..8 | destination node |
/// | 8..12 | source node |
/// | 12..20 | frame number, never used twice in one direction |
///
/// Source: own proposal; see `docs/wire/sealed.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Number of the receiver.
    pub destination: u32,
    /// Number of the sender.
    pub source: u32,
    /// Frame number.
    pub number: u64,
}

impl Repr {
    /// Whether a frame says that it is sealed. Accepts any bytes.
    pub fn is_sealed(bytes: &[u8]) -> bool {
        bytes.get(field::VERSION_TYPE) == Some(&(VERSION << 4 | TYPE))
    }

    /// Reads the header at the start of a sealed frame.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the shortest sealed frame is longer; [`Error::Value`] for
    /// another version or type.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        need("sealed.frame", bytes, OVERHEAD)?;
        if !Self::is_sealed(bytes) {
            return Err(Error::Value {
                field: "sealed.type",
                expected: "0x15 (version 1, type 5)",
                got: bytes.first().copied().unwrap_or(0).into(),
            });
        }
        let u32_at = |range: core::ops::Range<usize>| {
            let bytes = bytes.get(range).and_then(|bytes| bytes.first_chunk());
            u32::from_be_bytes(bytes.copied().unwrap_or_default())
        };
        let number = bytes.get(field::NUMBER).and_then(|b| b.first_chunk());
        Ok(Self {
            destination: u32_at(field::DESTINATION),
            source: u32_at(field::SOURCE),
            number: u64::from_be_bytes(number.copied().unwrap_or_default()),
        })
    }

    /// The header in front of a sealed frame.
    pub fn to_bytes(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let mut put = |range, value: &[u8]| {
            if let Some(place) = bytes.get_mut::<core::ops::Range<usize>>(range) {
                place.copy_from_slice(value);
            }
        };
        put(0..1, &[VERSION << 4 | TYPE]);
        put(field::DESTINATION, &self.destination.to_be_bytes());
        put(field::SOURCE, &self.source.to_be_bytes());
        put(field::NUMBER, &self.number.to_be_bytes());
        bytes
    }

    /// Writes the header to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        room("sealed.header", buffer, LEN)?.copy_from_slice(&self.to_bytes());
        Ok(LEN)
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            destination,
            source,
            number,
        } = self;
        write!(
            f,
            "sealed frame {number} of node {source} to node {destination}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; LEN] = [
        0x15, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 9, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
    ];
    const REPR: Repr = Repr {
        destination: 0x0001_0203,
        source: 9,
        number: 0x1122_3344_5566_7788,
    };

    #[test]
    fn literal_bytes() {
        let mut frame = [0; OVERHEAD];
        assert_eq!(REPR.emit(&mut frame), Ok(LEN));
        assert_eq!(frame[..LEN], BYTES);
        assert_eq!(Repr::parse(&frame), Ok(REPR));
        assert!(Repr::is_sealed(&frame));
        assert!(REPR.emit(&mut [0; LEN - 1]).is_err());
    }

    #[test]
    fn other_frames_are_refused() {
        let mut frame = [0; OVERHEAD];
        REPR.emit(&mut frame).unwrap();
        assert!(matches!(
            Repr::parse(&frame[..OVERHEAD - 1]),
            Err(Error::Truncated { .. })
        ));
        for byte in [0x11, 0x25, 0x05, 0x14, 0] {
            frame[0] = byte;
            assert!(matches!(Repr::parse(&frame), Err(Error::Value { .. })));
            assert!(!Repr::is_sealed(&frame));
        }
        assert!(!Repr::is_sealed(&[]));
        assert!(super::super::HeaderRepr::parse(&BYTES).is_err());
    }
}
