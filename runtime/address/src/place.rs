//! A byte of a PE's memory: which segment, and where in it.
//!
//! A place is one number, the *offset* that all stores, gets and atomics take. Below
//! [`NEAR_BYTES_MAX`] it counts from the beginning of the adjacent segments that every PE has
//! (control, static objects, heap), which one window may map. Above that it names registered
//! memory:
//!
//! | bits | |
//! |---|---|
//! | 62 | 1 |
//! | 50 to 40 | number of the segment |
//! | 39 to 0 | offset in it |

use std::fmt;

/// Bits of an offset in a registered segment.
pub const OFFSET_BITS: u32 = 40;
/// Most bytes of a registered segment.
pub const REGISTERED_BYTES_MAX: u64 = 1 << OFFSET_BITS;
/// Bits of the number of a registered segment.
pub const SEGMENT_BITS: u32 = 11;
/// Most registered segments of a PE at a time.
pub const SEGMENTS_MAX: usize = 1 << SEGMENT_BITS;
/// Set in places of registered memory.
const REGISTERED: u64 = 1 << 62;
/// The end of the adjacent segments.
pub const NEAR_BYTES_MAX: u64 = REGISTERED;

/// The number of a registered segment of a PE: below [`SEGMENTS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(u16);

impl SegmentId {
    /// The segment with this number; `None` if it is too large.
    pub const fn new(number: u16) -> Option<Self> {
        if (number as usize) < SEGMENTS_MAX {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Its number.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Its number, as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "registered segment {}", self.0)
    }
}

/// See the [module text](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the adjacent segments, so many bytes from their beginning.
    Near(u64),
    /// In a registered segment, so many bytes from its beginning.
    Registered(SegmentId, u64),
}

impl Place {
    /// The place that a number means; `None` if it means none.
    #[inline]
    pub const fn of(offset: u64) -> Option<Self> {
        if offset < NEAR_BYTES_MAX {
            return Some(Self::Near(offset));
        }
        let rest = offset ^ REGISTERED;
        match SegmentId::new((rest >> OFFSET_BITS) as u16) {
            Some(segment) if rest >> (OFFSET_BITS + SEGMENT_BITS) == 0 => {
                Some(Self::Registered(segment, rest & (REGISTERED_BYTES_MAX - 1)))
            }
            _ => None,
        }
    }

    /// The number of the place; `None` if its offset is too large.
    #[inline]
    pub const fn offset(self) -> Option<u64> {
        match self {
            Self::Near(offset) if offset < NEAR_BYTES_MAX => Some(offset),
            Self::Registered(segment, offset) if offset < REGISTERED_BYTES_MAX => {
                Some(REGISTERED | (segment.0 as u64) << OFFSET_BITS | offset)
            }
            _ => None,
        }
    }

    /// Whether a number means a place in registered memory.
    #[inline]
    pub const fn is_registered(offset: u64) -> bool {
        offset >= NEAR_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literal_places() {
        let segment = SegmentId::new(3).unwrap();
        let number = Place::Registered(segment, 0x10).offset();
        assert_eq!(number, Some(0x4000_0300_0000_0010));
        assert_eq!(Place::of(0x1000), Some(Place::Near(0x1000)));
        assert_eq!(Place::of(1 << 51 | 1 << 62), None);
        assert_eq!(Place::of(1 << 63), None);
        assert_eq!(Place::of(u64::MAX), None);
        assert_eq!(Place::Near(1 << 62).offset(), None);
        assert_eq!(Place::Registered(segment, 1 << 40).offset(), None);
        assert_eq!(SegmentId::new(2048), None);
    }

    proptest! {
        #[test]
        fn a_number_and_its_place_are_the_same(number: u64) {
            if let Some(place) = Place::of(number) {
                prop_assert_eq!(place.offset(), Some(number));
            }
        }

        #[test]
        fn every_registered_byte_has_a_number(segment in 0_u16..2048, offset in 0_u64..1 << 40) {
            let place = Place::Registered(SegmentId::new(segment).unwrap(), offset);
            prop_assert_eq!(place.offset().and_then(Place::of), Some(place));
        }
    }
}
