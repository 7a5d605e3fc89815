//! The registers that make the plan true: offsets and values, and what hardware makes of them.
//!
//! [`opteron`] and [`peach2`] both go two ways: from the plan to register writes, and from
//! register writes to routing decisions. The checks use the second way only, so that a wrong
//! encoding shows.

pub mod opteron;
pub mod peach2;

use std::fmt;

use serde::{Serialize, Serializer};

use crate::id::LinkIndex;

/// A register of one processor or PEACH2 chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Register {
    /// PCI configuration space of the northbridge (bus 0, device 0x18 + node): function and offset.
    Config {
        /// PCI function, 0 to 4.
        function: u8,
        /// Byte offset of a 32-bit register.
        offset: u16,
    },
    /// A model-specific register.
    Msr(u32),
    /// A 64-bit control register of a PEACH2 chip, by byte offset in its internal block.
    Peach2(u16),
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { function, offset } => write!(f, "F{function}x{offset:02X}"),
            Self::Msr(number) => write!(f, "MSR{number:08X}"),
            Self::Peach2(offset) => write!(f, "PEACH2+{offset:#05x}"),
        }
    }
}

impl Serialize for Register {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// When firmware writes a register (tccluster, section V).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BootStep {
    /// Widths and frequencies of links: written before the warm reset that makes them effective.
    Links,
    /// NodeID, routing rows and address ranges, after the warm reset.
    Northbridge,
    /// Model-specific registers of every core.
    Cores,
}

impl Register {
    /// When firmware writes it; `None` for PEACH2 chips, which have no such order.
    pub fn boot_step(self) -> Option<BootStep> {
        match self {
            Self::Config {
                function: 0 | 4,
                offset: 0x80..=0xFF | 0x130..=0x14F | 0x170..=0x18F,
            } => Some(BootStep::Links),
            Self::Config { .. } => Some(BootStep::Northbridge),
            Self::Msr(_) => Some(BootStep::Cores),
            Self::Peach2(_) => None,
        }
    }
}

/// One write of the configuration: the bits in `mask` become those of `value`, the others stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterWrite {
    /// The register.
    pub register: Register,
    /// The bits to write; zero outside `mask`.
    pub value: u64,
    /// The bits that the plan determines.
    pub mask: u64,
    /// The name of the bits.
    pub what: &'static str,
}

impl RegisterWrite {
    /// The register's new content, from its old one.
    pub fn apply(&self, old: u64) -> u64 {
        old & !self.mask | self.value
    }
}

/// What a router does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The address is memory here.
    Deliver,
    /// The packet leaves by this link.
    Forward(LinkIndex),
    /// The registers do not say what to do.
    Fault(Fault),
}

/// Why registers do not route a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// No range holds the address: a master abort.
    #[error("no range holds the address")]
    Unmapped,
    /// More than one range holds the address.
    #[error("more than one range holds the address")]
    Overlap,
    /// The routing row of the destination names no link, or more than one.
    #[error("the routing row of processor {0} names no single link")]
    BadRow(u8),
}
