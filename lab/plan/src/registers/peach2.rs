//! Routing registers of a PEACH2 chip.
//!
//! Per output port a mask, a lower and an upper bound: a packet leaves by the port whose
//! bounds hold its masked address (tca-peach2, section III.E). The paper gives no offsets.
//! The ones here are this project's own:
//!
//! | offset | register |
//! |---|---|
//! | `0x20 * port + 0x00` | mask |
//! | `0x20 * port + 0x08` | lower bound, inclusive |
//! | `0x20 * port + 0x10` | upper bound, inclusive |
//!
//! Ports are numbered east 0, west 1, south 2, north 3; north leads to the host and the GPUs.
//! A port that is not used has a lower bound above its upper bound.

use super::{Fault, Register, RegisterWrite, Step};
use crate::id::LinkIndex;
use hostwire_address::{AddressRange, GlobalAddress};

/// The port to the host.
pub const NORTH: u8 = 3;
/// Ports of a chip.
pub const PORTS: u8 = 4;
const STRIDE: u16 = 0x20;

/// The writes of one chip: `bounds` gives for each port the addresses behind it. All bounds
/// are multiples of `node_bytes`, a power of two.
pub(crate) fn writes(
    bounds: [Option<AddressRange>; PORTS as usize],
    node_bytes: u64,
) -> Vec<RegisterWrite> {
    let mut writes = Vec::new();
    for (port, range) in (0u16..).zip(bounds) {
        // The last node's block starts the last masked value.
        let (lower, upper) = range.map_or((u64::MAX, 0), |r| {
            (r.start.0, r.end().saturating_sub(node_bytes))
        });
        let mask = !(node_bytes.saturating_sub(1));
        let registers = [
            (0, mask, "mask"),
            (8, lower, "lower bound"),
            (0x10, upper, "upper bound"),
        ];
        for (offset, value, what) in registers {
            writes.push(RegisterWrite {
                register: Register::Peach2(STRIDE * port + offset),
                value,
                mask: u64::MAX,
                what,
            });
        }
    }
    writes
}

/// The routing function of a chip, decoded from its registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Router {
    ports: [[u64; 3]; PORTS as usize],
}

impl Router {
    /// The chip after these writes; registers start at zero.
    pub fn from_writes(writes: &[RegisterWrite]) -> Self {
        let mut router = Self::default();
        for write in writes {
            let Register::Peach2(offset) = write.register else {
                continue;
            };
            let port = router.ports.get_mut(usize::from(offset / STRIDE));
            let register = port.and_then(|p| p.get_mut(usize::from(offset % STRIDE / 8)));
            if let Some(register) = register {
                *register = write.apply(*register);
            }
        }
        router
    }

    /// What the chip does with a write to `addr`.
    pub fn step(&self, addr: GlobalAddress) -> Step {
        let mut matches = (0u8..).zip(self.ports).filter(|(_, [mask, lower, upper])| {
            (*lower..=*upper).contains(&(addr.0 & mask)) && *mask != 0
        });
        match (matches.next(), matches.next()) {
            (None, _) => Step::Fault(Fault::Unmapped),
            (Some(_), Some(_)) => Step::Fault(Fault::Overlap),
            (Some((NORTH, _)), None) => Step::Deliver,
            (Some((port, _)), None) => Step::Forward(LinkIndex::from_bits(port)),
        }
    }
}
