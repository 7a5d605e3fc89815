//! The addresses of memory to which PEs store, as frames name them.

use hostwire_address::{JobMap, Place};

use crate::error::{EnvironmentFault, PeId, TransportError};
use crate::memory::Memory;

/// The places of PEs in the address map, and their addresses.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// The own segment. Those of all PEs have the same size.
    segment: Memory,
    map: JobMap,
    /// Every PE is the first in a map of its own.
    are_first: bool,
}

impl Addresses {
    /// The addresses of a job of `pes` PEs with segments as long as this one.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if there are not as many addresses.
    pub fn new(pes: u32, segment: &Memory) -> Result<Self, TransportError> {
        let near_bytes = segment.len_bytes() as u64;
        let map = JobMap::new(pes, near_bytes).ok_or_else(|| {
            TransportError::environment(
                format!("giving addresses to {pes} PEs with {near_bytes} bytes each"),
                EnvironmentFault::NoRoom { cause: None },
            )
        })?;
        Ok(Self {
            segment: segment.clone(),
            map,
            are_first: false,
        })
    }

    /// The addresses of stations with segments as long as this one. Each station has a map that
    /// contains only itself.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_stations(segment: &Memory) -> Result<Self, TransportError> {
        Ok(Self {
            are_first: true,
            ..Self::new(1, segment)?
        })
    }

    /// The map of the job.
    pub fn map(&self) -> &JobMap {
        &self.map
    }

    /// The address of `len` bytes at `offset_bytes` of `pe`, a multiple of `align`. Only the
    /// owner knows whether registered memory is there.
    #[inline]
    pub fn of(
        &self,
        pe: PeId,
        offset_bytes: usize,
        len: usize,
        align: usize,
    ) -> Result<u64, TransportError> {
        let misfit = |segment_bytes| TransportError::OutOfRange {
            offset_bytes,
            len_bytes: len,
            segment_bytes,
        };
        if !offset_bytes.is_multiple_of(align) {
            return Err(TransportError::Misaligned {
                offset_bytes,
                align_bytes: align,
            });
        }
        let pe = if self.are_first { 0 } else { pe };
        let place = Place::of(offset_bytes as u64).ok_or_else(|| misfit(0))?;
        let address = match place {
            Place::Near(offset) => {
                self.segment.range(offset_bytes, len)?;
                self.map.near(pe).map(|near| near.start.0 + offset)
            }
            Place::Registered(_, offset) => {
                let most = self.map.registered_bytes_max();
                if offset + len as u64 > most {
                    return Err(misfit(most as usize));
                }
                self.map.address(pe, place).map(|address| address.0)
            }
        };
        let pes = self.map.pes();
        address.ok_or(TransportError::NoSuchPe { pe, pes })
    }
}
