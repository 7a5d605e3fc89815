//! Where bytes out of the [eager buffer](super::eager) go.

use core::ops::Range;

use super::eager::Area;
use super::{FRONT_WORDS, LineLoad};
use crate::error::TransportError;

/// Where the bytes of a message in the eager buffer go.
pub(super) enum Destination<'a> {
    Bytes(&'a mut [u8]),
    /// Offset and length in the segment in which the ring lies.
    Segment(usize, usize),
}

impl Destination<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Segment(_, len) => *len,
        }
    }

    pub(super) fn store_front(
        &mut self,
        load: &impl LineLoad,
        front: [u64; FRONT_WORDS],
    ) -> Result<(), TransportError> {
        let front = front.map(u64::to_le_bytes);
        let front = front.as_flattened();
        let front = &front[..self.len().min(front.len())];
        match self {
            Self::Bytes(bytes) => bytes[..front.len()].copy_from_slice(front),
            Self::Segment(at, _) => return load.put_in_segment(*at, front),
        }
        Ok(())
    }

    /// Copies what lies at `position` of the area to these of its bytes.
    #[inline(always)]
    pub(super) fn copy(
        &mut self,
        load: &impl LineLoad,
        (area, position): (Area, u64),
        to: Range<usize>,
        is_staged: bool,
    ) -> Result<(), TransportError> {
        match self {
            Self::Bytes(bytes) => {
                let dst = &mut bytes[to];
                area.each(position, dst.len(), |at, part| {
                    load.eager_bytes(at, &mut dst[part], is_staged);
                    Ok(())
                })
            }
            Self::Segment(begin, _) => area.each(position, to.len(), |at, part| {
                load.eager_to_segment(at, *begin + to.start + part.start, part.len())
            }),
        }
    }
}
