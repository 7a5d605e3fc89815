//! The one file that has the memory of all PEs of a host.
//!
//! The segments lie in it at equal distances, as they do in the address space of each PE,
//! and the [membership](crate::membership) behind them. So all of it is one mapping, one descriptor and
//! one message to each PE, however many PEs there are. Its pages are allocated on first
//! touch.

use std::os::fd::OwnedFd;

use super::memfd;
use crate::error::{EnvironmentFault, TransportError};
use crate::membership;
use crate::memory::Memory;

/// Segments lie at multiples of this, so that an object at the same offset in all of them can have this
/// alignment. Costs only address space.
pub const STRIDE_ALIGN_BYTES: usize = 64 << 20;

/// The file is whole pages long, whatever their size.
const PAGES_BYTES: usize = 64 << 10;

/// Where everything lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plot {
    pub(super) pes: u32,
    /// The size of one segment.
    pub segment_bytes: usize,
    /// From one segment to the next.
    pub(super) stride_bytes: usize,
    file_bytes: usize,
}

impl Plot {
    /// For `pes` segments of `segment_bytes`, a multiple of
    /// `SEGMENT_ALIGN_BYTES`.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if no address space has room for them.
    pub fn new(pes: u32, segment_bytes: usize) -> Result<Self, TransportError> {
        let roll_bytes = (pes as usize * membership::RECORD_BYTES).next_multiple_of(PAGES_BYTES);
        let stride_bytes = segment_bytes.checked_next_multiple_of(STRIDE_ALIGN_BYTES);
        let file_bytes = stride_bytes
            .and_then(|stride_bytes| stride_bytes.checked_mul(pes as usize))
            .and_then(|all_bytes| all_bytes.checked_add(roll_bytes))
            .filter(|bytes| *bytes <= isize::MAX as usize / 2);
        match (stride_bytes, file_bytes) {
            (Some(stride_bytes), Some(file_bytes)) => Ok(Self {
                pes,
                segment_bytes,
                stride_bytes,
                file_bytes,
            }),
            _ => Err(TransportError::environment(
                finding(pes, segment_bytes),
                EnvironmentFault::NoRoom { cause: None },
            )),
        }
    }

    /// Makes the file.
    ///
    /// # Errors
    /// [`TransportError::Environment`] with the error of the system.
    pub(super) fn create(&self) -> Result<OwnedFd, TransportError> {
        memfd::check_file_limit(self.file_bytes as u64, || {
            format!(
                "making the memory of {} PEs, a file of {} bytes without a name",
                self.pes, self.file_bytes
            )
        })?;
        memfd::create("hostwire-segments", self.file_bytes)
    }

    /// Maps the file, which another process may have made.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if it is not one for this plot, or if there is no
    /// address space for it.
    pub(super) fn map(&self, file: OwnedFd) -> Result<Memory, TransportError> {
        let finding = || finding(self.pes, self.segment_bytes);
        memfd::map_aligned(file, self.file_bytes, STRIDE_ALIGN_BYTES, finding)
    }

    /// Where the segment of `pe` begins.
    pub fn offset_bytes(&self, pe: u32) -> usize {
        pe as usize * self.stride_bytes
    }

    /// The segment of `pe` in the memory that `map` gave.
    pub fn segment(&self, memory: &Memory, pe: u32) -> Result<Memory, TransportError> {
        memory.part(self.offset_bytes(pe), self.segment_bytes)
    }

    /// The membership in the memory that [`map`](Self::map) gave.
    pub(super) fn membership(&self, memory: &Memory) -> Result<Memory, TransportError> {
        let roll_bytes = self.pes as usize * membership::RECORD_BYTES;
        memory.part(self.offset_bytes(self.pes), roll_bytes)
    }
}

fn finding(pes: u32, segment_bytes: usize) -> String {
    format!("finding addresses for {pes} segments of {segment_bytes} bytes, most of it heap")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_lie_at_the_same_distances_in_file_and_memory() {
        let plot = Plot::new(3, 4 << 20).unwrap();
        let file = plot.create().unwrap();
        let memory = plot.map(file.try_clone().unwrap()).unwrap();
        for pe in 0..3 {
            let segment = plot.segment(&memory, pe).unwrap();
            assert_eq!(segment.base().addr().get() % STRIDE_ALIGN_BYTES, 0);
            segment.copy_in(5000, &[pe as u8 + 1]).unwrap();
            let mut byte = [0];
            let at = plot.offset_bytes(pe) + 5000;
            rustix::io::pread(&file, &mut byte, at as u64).unwrap();
            assert_eq!(byte, [pe as u8 + 1]);
            let (_, begin) = segment.file().unwrap();
            assert_eq!(begin, plot.offset_bytes(pe) as u64);
        }
        let membership = plot.membership(&memory).unwrap();
        let last = plot.segment(&memory, 2).unwrap();
        assert!(last.base().addr().get() + last.len_bytes() <= membership.base().addr().get());
        assert_eq!(membership.len_bytes(), 3 * membership::RECORD_BYTES);
    }

    #[test]
    fn a_file_for_another_plot_is_refused() {
        let file = Plot::new(2, 4 << 20).unwrap().create().unwrap();
        let refused = Plot::new(3, 4 << 20).unwrap().map(file);
        assert!(matches!(
            refused,
            Err(TransportError::Environment {
                fault: EnvironmentFault::Unexpected { .. },
                ..
            })
        ));
    }

    #[test]
    fn more_than_the_address_space_is_an_error() {
        let segment_bytes = isize::MAX as usize / (2 << 20) * (2 << 20);
        for pes in [1, 2, 4096] {
            assert!(matches!(
                Plot::new(pes, segment_bytes),
                Err(TransportError::Environment {
                    fault: EnvironmentFault::NoRoom { cause: None },
                    ..
                })
            ));
        }
    }
}
