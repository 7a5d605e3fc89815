//! The keys of registered memory that a PE knows: its own and those of peers.

use std::collections::HashMap;

use hostwire_address::{Place, SegmentId};
use hostwire_transport::error::PeId;

use super::ffi::endpoint::Key;
use super::message::u64_at;

/// The state of the key of a peer's segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It has been requested.
    Asked,
    /// The peer gives none: nothing is registered there, or its provider refused.
    Nothing,
    Given(Given),
}

/// How memory is reached by RDMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) key: Key,
    pub(super) len_bytes: u64,
}

impl Given {
    /// The data of a record.
    pub(super) fn to_bytes(self) -> [u8; 24] {
        let words = [self.key.key, self.key.base, self.len_bytes];
        let mut bytes = [0; 24];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub(super) fn of(data: &[u8]) -> Option<Self> {
        Some(Self {
            key: Key {
                key: u64_at(data, 0)?,
                base: u64_at(data, 8)?,
            },
            len_bytes: u64_at(data, 16)?,
        })
    }
}

/// The keys that this PE has given out, and those that it owes.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) given: HashMap<SegmentId, (Given, Vec<PeId>)>,
    pub(super) owed: Vec<(PeId, SegmentId)>,
}

impl Keys {
    /// A peer wants the key of a segment.
    pub(super) fn owe(&mut self, pe: PeId, segment: SegmentId) {
        if !self.owed.contains(&(pe, segment)) {
            self.owed.push((pe, segment));
        }
    }
}

/// The segment of a place in registered memory, and where in it the place is.
pub(super) fn registered(place: usize) -> Option<(SegmentId, u64)> {
    match Place::of(place as u64)? {
        Place::Registered(segment, offset) => Some((segment, offset)),
        Place::Near(_) => None,
    }
}

/// Where a segment begins.
pub(super) fn place(segment: SegmentId) -> usize {
    let begin = Place::Registered(segment, 0).offset();
    // The first byte of every segment has a place.
    begin.unwrap_or_default() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_these_bytes_and_come_back() {
        let given = Given {
            key: Key {
                key: 0x0102_0304_0506_0708,
                base: 0x10,
            },
            len_bytes: 300,
        };
        #[rustfmt::skip]
        let bytes = [
            8, 7, 6, 5, 4, 3, 2, 1,   0x10, 0, 0, 0, 0, 0, 0, 0,   0x2c, 1, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(given.to_bytes(), bytes);
        assert_eq!(Given::of(&bytes), Some(given));
        assert_eq!(Given::of(&bytes[..23]), None);
    }

    #[test]
    fn only_registered_memory_has_keys() {
        let segment = SegmentId::new(3).unwrap();
        assert_eq!(registered(place(segment) + 5), Some((segment, 5)));
        assert_eq!(registered(4096), None);
    }
}
