//! The file of the counters, and the writing side of it.

use std::os::fd::OwnedFd;

use hostwire_transport::os::process::inherited_fd;
use hostwire_transport::{Memory, PeId, Wire, shm};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;

use super::{COUNTERS_FD_VARIABLE, FILE_NAME, RECORD_BYTES, Record, SLOT_BYTES};

/// Makes a file for `pes` PEs. Its size is sealed.
///
/// # Errors
/// The error of the system.
pub fn create(pes: u32) -> Result<OwnedFd, Errno> {
    let fd = memfd_create(FILE_NAME, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&fd, u64::from(pes) * RECORD_BYTES as u64)?;
    fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(fd)
}

/// The writing side, in a PE.
#[derive(Debug)]
pub(crate) struct Publisher {
    memory: Memory,
    offset_bytes: usize,
    /// Open as long as this, so that others find it.
    _file: OwnedFd,
}

impl Publisher {
    /// Writes the head and the names of a record: in the file of the launcher, if there is
    /// one with room for `pe`, else in one of its own. Does nothing if the system refuses,
    /// because a job does not depend on it.
    pub(crate) fn new(wire: &dyn Wire, wire_name: &str) -> Option<Self> {
        let (pe, pes) = (wire.pe(), wire.pes());
        let publisher = Self::inherited(pe).or_else(Self::own)?;
        let values = wire.tally().into_iter();
        let record = Record {
            pe,
            pes,
            wire: wire_name.to_owned(),
            values: values
                .map(|(name, value)| (name.to_string(), value))
                .collect(),
        };
        publisher
            .memory
            .copy_in(publisher.offset_bytes, &record.to_bytes())
            .ok()?;
        publisher.publish(wire);
        Some(publisher)
    }

    fn inherited(pe: PeId) -> Option<Self> {
        let number = std::env::var(COUNTERS_FD_VARIABLE).ok()?.parse().ok()?;
        Self::at(inherited_fd(number).ok()?, pe as usize * RECORD_BYTES)
    }

    fn own() -> Option<Self> {
        Self::at(create(1).ok()?, 0)
    }

    fn at(file: OwnedFd, offset_bytes: usize) -> Option<Self> {
        let memory = shm::map_whole(file.try_clone().ok()?).ok()?;
        memory.range(offset_bytes, RECORD_BYTES).ok()?;
        Some(Self {
            memory,
            offset_bytes,
            _file: file,
        })
    }

    /// Stores what the wire has counted until now.
    pub(crate) fn publish(&self, wire: &dyn Wire) {
        let slots =
            (1..RECORD_BYTES / SLOT_BYTES).map(|slot| self.offset_bytes + slot * SLOT_BYTES);
        for (at, (_, value)) in slots.zip(wire.tally()) {
            if let Ok(word) = self.memory.word(at) {
                word.store(value.to_le(), core::sync::atomic::Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NAME_AT;
    use super::*;

    #[test]
    fn the_counters_of_a_wire_fit_a_record() {
        let counted = super::super::counted();
        let names: Vec<&str> = counted.iter().map(|(name, _)| *name).collect();
        assert!(names.len() < RECORD_BYTES / SLOT_BYTES);
        for (place, name) in names.iter().enumerate() {
            assert!(
                name.is_ascii() && name.len() <= SLOT_BYTES - NAME_AT,
                "{name}"
            );
            assert!(!names[..place].contains(name), "{name} is there twice");
        }
    }

    #[test]
    fn the_size_is_sealed() {
        let file = create(2).unwrap();
        assert_eq!(ftruncate(&file, 0), Err(Errno::PERM));
    }
}
