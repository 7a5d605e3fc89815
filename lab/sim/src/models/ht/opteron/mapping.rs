//! Pages that a driver has mapped for programs.

use super::registers::{MemoryType, Registers};

/// A run of pages. Outside of all mappings an access is a page fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First byte.
    pub first: u64,
    /// Last byte.
    pub last: u64,
    /// Type by page attributes; `None` leaves it to the MTRRs.
    pub page_type: Option<MemoryType>,
}

impl Mapping {
    /// Whether the mapping holds all of `bytes` bytes from `address` on.
    pub fn holds(&self, address: u64, bytes: usize) -> bool {
        let last = address.checked_add((bytes as u64).max(1) - 1);
        self.first <= address && last.is_some_and(|last| last <= self.last)
    }

    /// Effective type of an address in this mapping.
    ///
    /// Source: AMD64 manual volume 2, combination of PAT and MTRR types: PAT
    /// write-combining and uncacheable win over every MTRR type, PAT write-back
    /// leaves the MTRR's.
    pub fn memory_type(&self, registers: &Registers, address: u64) -> MemoryType {
        match self.page_type {
            Some(page @ (MemoryType::Uncached | MemoryType::WriteCombining)) => page,
            _ => registers.memory_type(address),
        }
    }
}
