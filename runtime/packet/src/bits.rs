//! Bit fields of 32-bit words, written as in the bit tables: word index, then
//! `[high:low]`.
//!
//! No function here panics. A word outside of the buffer reads as zero, and writes to it
//! are ignored. Views check lengths first, so this does not happen there.

use crate::error::{Error, Result};

/// Bits `[high:low]` of 32-bit word `word`.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    word: usize,
    low: u32,
    width: u32,
}

impl Field {
    pub(crate) const fn new(word: usize, high: u32, low: u32) -> Self {
        assert!(high < 32 && low <= high);
        Self {
            word,
            low,
            width: high - low + 1,
        }
    }

    #[inline]
    pub(crate) const fn mask(self) -> u32 {
        (u32::MAX >> (32 - self.width)) << self.low
    }

    #[inline]
    pub(crate) const fn extract(self, word: u32) -> u32 {
        (word & self.mask()) >> self.low
    }

    #[inline]
    pub(crate) const fn insert(self, word: u32, value: u32) -> u32 {
        (word & !self.mask()) | ((value << self.low) & self.mask())
    }

    /// Reads the field; words are little-endian (HyperTransport).
    #[inline]
    pub(crate) fn get_le(self, bytes: &[u8]) -> u32 {
        self.extract(u32::from_le_bytes(word_at(bytes, self.word)))
    }

    /// Writes the low bits of `value` into the field; little-endian words.
    #[inline]
    pub(crate) fn set_le(self, bytes: &mut [u8], value: u32) {
        let word = self.insert(u32::from_le_bytes(word_at(bytes, self.word)), value);
        put_word(bytes, self.word, word.to_le_bytes());
    }

    /// Reads the field; words are big-endian (PCI Express).
    #[inline]
    pub(crate) fn get_be(self, bytes: &[u8]) -> u32 {
        self.extract(u32::from_be_bytes(word_at(bytes, self.word)))
    }

    /// Writes the low bits of `value` into the field; big-endian words.
    #[inline]
    pub(crate) fn set_be(self, bytes: &mut [u8], value: u32) {
        let word = self.insert(u32::from_be_bytes(word_at(bytes, self.word)), value);
        put_word(bytes, self.word, word.to_be_bytes());
    }
}

/// Whether no two fields share a bit and the fields of word `word`, together
/// with `reserved` bits, fill it. For compile-time assertions on layouts.
pub(crate) const fn tiles_word(word: usize, fields: &[Field], reserved: u32) -> bool {
    let mut used = reserved;
    let mut i = 0;
    while i < fields.len() {
        if fields[i].word == word {
            if used & fields[i].mask() != 0 {
                return false;
            }
            used |= fields[i].mask();
        }
        i += 1;
    }
    used == u32::MAX
}

/// The four bytes of 32-bit word `index`, or zeros if it is outside of the buffer.
#[inline]
pub(crate) fn word_at(bytes: &[u8], index: usize) -> [u8; 4] {
    let tail = bytes.get(index.saturating_mul(4)..).unwrap_or(&[]);
    tail.first_chunk().copied().unwrap_or([0; 4])
}

#[inline]
fn put_word(bytes: &mut [u8], index: usize, word: [u8; 4]) {
    if let Some(slot) = bytes
        .get_mut(index.saturating_mul(4)..)
        .and_then(<[u8]>::first_chunk_mut::<4>)
    {
        *slot = word;
    }
}

/// The first `len` bytes of an input, or [`Error::Truncated`].
#[inline]
pub(crate) fn need<'a>(field: &'static str, bytes: &'a [u8], len: usize) -> Result<&'a [u8]> {
    bytes.get(..len).ok_or(Error::Truncated {
        field,
        expected_bytes: len,
        got_bytes: bytes.len(),
    })
}

/// The first `len` bytes of an output buffer, or [`Error::BufferTooSmall`].
#[inline]
pub(crate) fn room<'a>(
    field: &'static str,
    buffer: &'a mut [u8],
    len: usize,
) -> Result<&'a mut [u8]> {
    let got_bytes = buffer.len();
    buffer.get_mut(..len).ok_or(Error::BufferTooSmall {
        field,
        expected_bytes: len,
        got_bytes,
    })
}

/// Copies `source` to `offset`; does nothing if it does not fit there.
#[inline]
pub(crate) fn put(buffer: &mut [u8], offset: usize, source: &[u8]) {
    let end = offset.saturating_add(source.len());
    if let Some(slot) = buffer.get_mut(offset..end) {
        slot.copy_from_slice(source);
    }
}

/// Defines an integer newtype with a range, so that a value that does not fit
/// its field cannot be built.
macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident($repr:ty), $min:literal ..= $max:literal, $field:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($repr);

        impl $name {
            /// Smallest value.
            pub const MIN: Self = Self($min);
            /// Largest value.
            pub const MAX: Self = Self($max);

            /// Checks the range.
            ///
            /// # Errors
            /// [`Error::OutOfRange`](crate::Error::OutOfRange), caller's fault.
            pub const fn new(value: $repr) -> $crate::Result<Self> {
                #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
                if value < $min || value > $max {
                    return Err($crate::Error::OutOfRange {
                        field: $field,
                        min: $min,
                        max: $max,
                        got: value as u64,
                    });
                }
                Ok(Self(value))
            }

            /// The number.
            pub const fn get(self) -> $repr {
                self.0
            }

            /// The value of a wire field; one wider than the range saturates.
            #[allow(dead_code, unused_comparisons, clippy::absurd_extreme_comparisons)]
            pub(crate) const fn from_wire(bits: u32) -> Self {
                if bits < $min {
                    Self::MIN
                } else if bits > $max {
                    Self::MAX
                } else {
                    Self(bits as $repr)
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::MIN
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
pub(crate) use bounded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_read_and_write_only_their_bits() {
        let field = Field::new(1, 12, 8);
        let mut bytes = [0xff; 8];
        field.set_le(&mut bytes, 0);
        assert_eq!(bytes, [0xff, 0xff, 0xff, 0xff, 0xff, 0xe0, 0xff, 0xff]);
        field.set_le(&mut bytes, 0x15);
        assert_eq!(field.get_le(&bytes), 0x15);
        let mut bytes = [0; 8];
        field.set_be(&mut bytes, 0xffff_ffff);
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0x1f, 0]);
    }

    #[test]
    fn missing_words_read_zero_and_swallow_writes() {
        let field = Field::new(3, 31, 0);
        let mut bytes = [0xff; 15];
        assert_eq!(field.get_le(&bytes), 0);
        field.set_be(&mut bytes, 1);
        assert_eq!(bytes, [0xff; 15]);
    }

    #[test]
    fn tiling_detects_overlap_and_gap() {
        let low = Field::new(0, 15, 0);
        assert!(tiles_word(0, &[low, Field::new(0, 31, 16)], 0));
        assert!(!tiles_word(0, &[low, Field::new(0, 31, 15)], 0));
        assert!(!tiles_word(0, &[low, Field::new(0, 31, 17)], 0));
        assert!(tiles_word(0, &[low, Field::new(0, 31, 17)], 1 << 16));
    }
}
