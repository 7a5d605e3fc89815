//! Numbers of devices, and bytes of their memory.

use std::fmt;

use hostwire_transport::PeId;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A device of a PE, or its host memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct DeviceId(u32);

impl DeviceId {
    /// Host memory.
    pub const HOST: Self = Self(u32::MAX);

    /// Device `number`, from 0 on.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number; `None` for host memory.
    pub const fn number(self) -> Option<u32> {
        match self.0 {
            u32::MAX => None,
            number => Some(number),
        }
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            None => f.write_str("host"),
            Some(number) => write!(f, "device {number}"),
        }
    }
}

impl fmt::Debug for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Names a byte of memory of a PE, on the host or on a device, as a CUDA pointer does within a process.
///
/// It is an [`Element`](crate::Element): it can be sent in a message, or be in symmetric memory. Whether there
/// is such memory is checked where it is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Spot {
    address: u64,
    pe: PeId,
    device: DeviceId,
}

impl Spot {
    /// The byte at `address` of a device of `pe`. Addresses come from [`address`](Self::address).
    pub const fn new(pe: PeId, device: DeviceId, address: u64) -> Self {
        Self {
            address,
            pe,
            device,
        }
    }

    /// Whose memory it is.
    pub const fn pe(self) -> PeId {
        self.pe
    }

    /// Which memory of the PE.
    pub const fn device(self) -> DeviceId {
        self.device
    }

    /// Where in this memory. For the host: bytes from the beginning of the PE's memory for
    /// [`Tca`](super::Tca). For a device: a place with the number of the segment.
    pub const fn address(self) -> u64 {
        self.address
    }

    /// The byte so many bytes further.
    pub const fn at(self, bytes: u64) -> Self {
        Self {
            address: self.address.saturating_add(bytes),
            ..self
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PE {} {}+{:#x}", self.pe, self.device, self.address)
    }
}

impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
