//! The key that a PE gives to others, so that they reach its registered memory.

use hostwire_address::{Place, SegmentId};
use hostwire_transport::PeId;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Names registered memory and its PE. It is an [`Element`](crate::Element): it can be sent in a
/// message, or be in symmetric memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Key {
    pe: PeId,
    /// A [`SegmentId`], if it comes from a correct peer.
    segment: u32,
    len_bytes: u64,
}

impl Key {
    pub(crate) fn new(pe: PeId, segment: SegmentId, len_bytes: usize) -> Self {
        Self {
            pe,
            segment: segment.get().into(),
            len_bytes: len_bytes as u64,
        }
    }

    /// Whose memory it is.
    pub fn pe(&self) -> PeId {
        self.pe
    }

    /// How many bytes it has.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// The place of the first byte; `None` if no PE has made this key.
    pub(crate) fn place(&self) -> Option<usize> {
        let segment = SegmentId::new(u16::try_from(self.segment).ok()?)?;
        // All its bytes must have valid places.
        let last = Place::Registered(segment, self.len_bytes.saturating_sub(1));
        last.offset()?;
        Place::Registered(segment, 0).offset().map(|at| at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_nobody_has_made_have_no_place() {
        let key = |segment, len_bytes| Key {
            pe: 0,
            segment,
            len_bytes,
        };
        assert_eq!(key(3, 8).place(), Some(0x4000_0300_0000_0000));
        assert_eq!(key(3, 0).place(), key(3, 1 << 40).place());
        assert_eq!(key(3, (1 << 40) + 1).place(), None);
        assert_eq!(key(2048, 8).place(), None);
        assert_eq!(key(u32::MAX, 8).place(), None);
    }
}
