//! Where a message that is received goes.

use super::buffer::Buffer;

/// Where a message goes.
pub(crate) enum Target<'a> {
    /// Private memory of fixed size.
    Bytes(&'a mut [u8]),
    /// Private memory that grows to fit.
    Vec(&'a mut Vec<u8>),
    /// The own segment: offset and room.
    Segment(usize, usize),
    /// Private memory of fixed size that the receive owns.
    Owned(Box<dyn Buffer>),
    /// As `Owned`, of a message that is longer: its end is dropped.
    Cut(Box<dyn Buffer>, Vec<u8>),
    /// Nobody wants it any more.
    Nowhere,
}

impl Target<'_> {
    pub(super) fn room_bytes(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Owned(buffer) => buffer.bytes().len(),
            Self::Segment(_, room) => *room,
            Self::Vec(_) | Self::Cut(..) | Self::Nowhere => usize::MAX,
        }
    }

    /// The private memory that it has already, whatever is announced.
    pub(super) fn room(&mut self) -> Option<&mut [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Owned(buffer) | Self::Cut(buffer, _) => Some(buffer.bytes_mut()),
            Self::Nowhere => Some(&mut []),
            Self::Segment(..) | Self::Vec(_) => None,
        }
    }

    /// The memory that it owns, with what has come.
    #[cold]
    #[inline(never)]
    pub(super) fn into_buffer(self) -> Option<Box<dyn Buffer>> {
        match self {
            Self::Owned(buffer) => Some(buffer),
            Self::Cut(mut buffer, bytes) => {
                let room = buffer.bytes_mut();
                let len = room.len().min(bytes.len());
                room[..len].copy_from_slice(&bytes[..len]);
                Some(buffer)
            }
            _ => None,
        }
    }

    /// All that there is [room](Self::room) for has come.
    pub(super) fn fill(&mut self) {
        if let Self::Cut(..) = self
            && let Self::Cut(buffer, _) = core::mem::replace(self, Self::Nowhere)
        {
            *self = Self::Owned(buffer);
        }
    }

    /// Its bytes `start .. end`, as far as it is private memory.
    pub(super) fn part(&mut self, start: usize, end: usize) -> &mut [u8] {
        match self {
            Self::Bytes(bytes) => &mut bytes[start..end],
            Self::Vec(bytes) => grown(bytes, start, end),
            // What is behind the room is dropped. The first part may be copied to as a whole.
            Self::Cut(room, _) if start > 0 && start >= room.bytes().len() => &mut [],
            Self::Cut(_, bytes) => grown(bytes, start, end),
            Self::Owned(buffer) => &mut buffer.bytes_mut()[start..end],
            Self::Segment(..) | Self::Nowhere => &mut [],
        }
    }
}

/// Grows with what really arrives, whatever was announced.
fn grown(bytes: &mut Vec<u8>, start: usize, end: usize) -> &mut [u8] {
    bytes.resize(end, 0);
    &mut bytes[start..end]
}
