//! Streams of accesses.

use crate::engine::Ps;

use super::MemoryError;

/// The accesses of a program to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
}

/// One load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First byte, in the address space of the program.
    pub address: u64,
    /// Number of bytes, at least 1.
    pub bytes: u64,
    /// Load or store.
    pub kind: AccessKind,
}

/// One access of a loop's body: its address grows with every iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// The access in the first iteration.
    pub first: Access,
    /// Bytes from one iteration's to the next one's.
    pub stride_bytes: u64,
}

/// A loop over arrays: every iteration makes the accesses of the body, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop<'b> {
    /// The accesses of an iteration.
    pub body: &'b [Strided],
    /// Number of iterations.
    pub iterations: u64,
    /// The work of the processor in an iteration, without its accesses.
    pub work: Ps,
}

impl Access {
    /// Last byte.
    pub(super) fn last(&self) -> Result<u64, MemoryError> {
        self.bytes
            .checked_sub(1)
            .and_then(|more| self.address.checked_add(more))
            .ok_or(MemoryError::AddressRange {
                address: self.address,
                bytes: self.bytes,
            })
    }
}

impl Strided {
    /// The access of an iteration that [`range`](Self::range) has allowed.
    pub(super) fn at(&self, iteration: u64) -> Access {
        let offset = self.stride_bytes.wrapping_mul(iteration);
        Access {
            address: self.first.address.wrapping_add(offset),
            ..self.first
        }
    }

    /// First and last byte of all iterations, at least one.
    pub(super) fn range(&self, iterations: u64) -> Result<(u64, u64), MemoryError> {
        self.first.last()?;
        let whole = self
            .stride_bytes
            .checked_mul(iterations.saturating_sub(1))
            .and_then(|offset| offset.checked_add(self.first.bytes))
            .ok_or(MemoryError::AddressRange {
                address: self.first.address,
                bytes: u64::MAX,
            })?;
        let all = Access {
            bytes: whole,
            ..self.first
        };
        Ok((self.first.address, all.last()?))
    }
}
