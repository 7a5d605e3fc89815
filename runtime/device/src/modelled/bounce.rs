//! The bounce memory that a PE and the process of its device both map: copies between them go through
//! it.

use std::ptr::NonNull;
use std::sync::Arc;

use hostwire_transport::Memory;
use hostwire_transport::memory::Backing;
use rustix::mm::{MapFlags, ProtFlags};

use crate::{DeviceError, Result};

/// Bytes of a piece. Fitted: shorter ones cost more commands, longer ones leave the caches.
pub(super) const PIECE_BYTES: usize = 256 << 10;
/// How many there are. Two overlap; more of them let short copies run ahead.
pub(super) const PIECES: usize = 16;
/// Bytes in all.
pub(super) const BYTES: usize = PIECES * PIECE_BYTES;

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Bounce {
    memory: Memory,
}

impl Bounce {
    pub(super) fn new() -> Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing that is there.
        let mapped =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), BYTES, protection, flags) };
        let mapped = mapped.map_err(|error| DeviceError::Refused {
            what: "mapping memory for copies to and from a modelled device".into(),
            why: error.to_string(),
        })?;
        let Some(base) = NonNull::new(mapped.cast::<u8>()) else {
            return Err(DeviceError::Refused {
                what: "mapping memory for copies to and from a modelled device".into(),
                why: "the kernel gave address 0".into(),
            });
        };
        let backing = Arc::new(Mapping { base });
        // SAFETY: mapped just now for reading and writing, `BYTES` long, until `backing` is dropped; no
        // reference leads there.
        let memory = unsafe { Memory::new(base, BYTES, backing) };
        Ok(Self { memory })
    }

    /// Where it is, in this process and in a copy of it.
    pub(super) fn base(&self) -> NonNull<u8> {
        self.memory.base()
    }

    /// Fills a piece from memory of the host.
    pub(super) fn fill(
        &self,
        piece: usize,
        from: &Memory,
        offset: usize,
        len: usize,
    ) -> Result<()> {
        let copied = self
            .memory
            .copy_from(piece * PIECE_BYTES, from, offset, len);
        copied.map_err(refused)
    }

    /// Copies a piece to memory of the host.
    pub(super) fn take(
        &self,
        piece: usize,
        into: &Memory,
        offset: usize,
        len: usize,
    ) -> Result<()> {
        let copied = into.copy_from(offset, &self.memory, piece * PIECE_BYTES, len);
        copied.map_err(refused)
    }
}

fn refused(error: hostwire_transport::TransportError) -> DeviceError {
    DeviceError::Refused {
        what: "copying between host memory and a modelled device".into(),
        why: error.to_string(),
    }
}

/// Unmaps.
struct Mapping {
    base: NonNull<u8>,
}

impl Backing for Mapping {}

// SAFETY: it does nothing with the address but unmap it, once.
unsafe impl Send for Mapping {}
// SAFETY: nothing can be done with a shared one.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `Bounce::new` with this length, unmapped only here, and the last `Memory` is gone.
        let unmapped = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), BYTES) };
        debug_assert!(unmapped.is_ok());
    }
}
