//! An address, and a range of addresses.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// A byte address in the one address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct GlobalAddress(pub u64);

impl fmt::Display for GlobalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#014x}", self.0)
    }
}

impl fmt::LowerHex for GlobalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// A range of addresses that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct AddressRange {
    /// First address.
    pub start: GlobalAddress,
    /// Length in bytes, at least 1; `start + bytes` does not overflow.
    pub bytes: u64,
}

impl AddressRange {
    /// The range `bounds.start .. bounds.end`, or `None` where it is empty.
    pub fn new(bounds: Range<u64>) -> Option<Self> {
        let bytes = bounds.end.checked_sub(bounds.start).filter(|&b| b > 0)?;
        Some(Self {
            start: GlobalAddress(bounds.start),
            bytes,
        })
    }

    /// First address past the range, as a number.
    pub fn end(self) -> u64 {
        self.start.0.saturating_add(self.bytes)
    }

    /// Last address of the range.
    pub fn last(self) -> GlobalAddress {
        GlobalAddress(self.end().saturating_sub(1))
    }

    /// Whether `addr` lies in the range.
    pub fn contains(self, addr: GlobalAddress) -> bool {
        addr >= self.start && addr.0 - self.start.0 < self.bytes
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.start, self.last())
    }
}
