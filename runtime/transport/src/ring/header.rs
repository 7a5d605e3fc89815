//! The 8-byte header of a line.
//!
//! | bits | field | meaning |
//! |---|---|---|
//! | 15:0 | stamp | lap in which the line was written, 1 to 65535; 0 = never written |
//! | 18:16 | kind | 0 = continued line, others belong to the layer above |
//! | 31:19 | length | bytes of the message from this line on |
//! | 63:32 | tag | the message's tag; in a continued line that of its first |

pub use crate::line::PAYLOAD_BYTES;

/// The kind of every line of a message but its first.
pub const KIND_CONTINUED: u8 = 0;
/// Kinds are below this.
pub const KIND_LIMIT: u8 = 1 << KIND_BITS;
/// Longest message that a header can express.
pub(super) const LEN_MAX: usize = (1 << LEN_BITS) - 1;

const KIND_SHIFT: u32 = 16;
const KIND_BITS: u32 = 3;
const LEN_SHIFT: u32 = KIND_SHIFT + KIND_BITS;
const LEN_BITS: u32 = 13;
const TAG_SHIFT: u32 = 32;

const _: () = assert!(LEN_SHIFT + LEN_BITS == TAG_SHIFT);

/// A header as it lies in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header(pub u64);

impl Header {
    /// The header of a line. `len` must be at most 8191 and `kind` below
    /// [`KIND_LIMIT`]; higher bits are cut off, but [`super::RingSender`] has checked
    /// both.
    #[inline(always)]
    pub fn new(stamp: Stamp, kind: u8, len: usize, tag: u32) -> Self {
        debug_assert!(len <= LEN_MAX && kind < KIND_LIMIT);
        Self(
            u64::from(stamp.0)
                | u64::from(kind & (KIND_LIMIT - 1)) << KIND_SHIFT
                | ((len & LEN_MAX) as u64) << LEN_SHIFT
                | u64::from(tag) << TAG_SHIFT,
        )
    }

    /// The lap this line claims.
    #[inline(always)]
    pub fn stamp(self) -> Stamp {
        Stamp(self.0 as u16)
    }

    /// The kind of the message that begins here, or [`KIND_CONTINUED`].
    #[inline(always)]
    pub fn kind(self) -> u8 {
        (self.0 >> KIND_SHIFT) as u8 & (KIND_LIMIT - 1)
    }

    /// Bytes of the message from this line on, 0 to 8191.
    #[inline(always)]
    pub fn len_bytes(self) -> usize {
        (self.0 >> LEN_SHIFT) as usize & LEN_MAX
    }

    /// The tag of the message.
    #[inline(always)]
    pub fn tag(self) -> u32 {
        (self.0 >> TAG_SHIFT) as u32
    }
}

/// Which lap around the ring a line belongs to, modulo 65535, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(pub u16);

impl Stamp {
    /// The stamp of memory that was never written.
    pub const BLANK: Self = Self(0);

    /// The stamp of lap `lap`, counted from 0.
    #[inline(always)]
    pub fn of_lap(lap: u64) -> Self {
        Self((lap % 0xffff) as u16 + 1)
    }

    /// The stamp of the next lap.
    #[inline(always)]
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).unwrap_or(1))
    }

    /// The stamp in a slot until lap `lap` writes it.
    #[inline(always)]
    pub fn before_lap(lap: u64) -> Self {
        match lap.checked_sub(1) {
            None => Self::BLANK,
            Some(last) => Self::of_lap(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_table_says() {
        let header = Header::new(Stamp(0xbeef), 5, 0x1abc, 0xdead_cafe);
        assert_eq!(
            header.0,
            0xdead_cafe << 32 | 0x1abc << 19 | 5 << 16 | 0xbeef
        );
        assert_eq!(header.stamp(), Stamp(0xbeef));
        assert_eq!(header.kind(), 5);
        assert_eq!(header.len_bytes(), 0x1abc);
        assert_eq!(header.tag(), 0xdead_cafe);
    }

    #[test]
    fn stamps_are_never_blank_and_differ_from_lap_to_lap() {
        assert_eq!(Stamp::before_lap(0), Stamp::BLANK);
        assert_eq!(Stamp::of_lap(0), Stamp(1));
        for lap in [1, 2, 65_533, 65_534, 65_535, 65_536, u64::MAX / 64] {
            assert_ne!(Stamp::of_lap(lap), Stamp::BLANK);
            assert_ne!(Stamp::of_lap(lap), Stamp::of_lap(lap - 1));
            assert_eq!(Stamp::before_lap(lap), Stamp::of_lap(lap - 1));
            assert_eq!(Stamp::of_lap(lap - 1).next(), Stamp::of_lap(lap));
        }
    }
}
