//! The key of a job's handover.

use core::fmt;
use core::hint::black_box;

/// 128 random bits that only the PEs of a job know.
///
/// There is no `PartialEq`: `==` may stop at the first difference, and its timing would
/// tell a stranger how much of a guess is right. `Debug` does not show it.
#[derive(Clone, Copy)]
pub struct Key(u128);

impl Key {
    /// A key of an unpredictable number.
    pub const fn new(random: u128) -> Self {
        Self(random)
    }

    /// From the words on the socket, lower word first.
    pub const fn from_words(low: u64, high: u64) -> Self {
        Self((high as u128) << 64 | low as u128)
    }

    /// See [`from_words`](Self::from_words).
    pub const fn to_words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// Compares in constant time.
    pub fn is(self, shown: Self) -> bool {
        black_box(self.0 ^ shown.0) == 0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl fmt::LowerHex for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_key_counts_and_none_is_shown() {
        let random = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;
        let key = Key::new(random);
        let [low, high] = key.to_words();
        assert_eq!((low, high), (0x0011_2233_4455_6677, 0x0123_4567_89ab_cdef));
        assert!(key.is(Key::from_words(low, high)));
        for bit in 0..128 {
            assert!(!key.is(Key::new(random ^ 1 << bit)), "{bit}");
        }
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
