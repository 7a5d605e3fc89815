//! Northbridge and model-specific registers of Opteron processors, family 10h and 15h.
//!
//! Sources: AMD's BIOS and kernel developer's guides as used by coreboot (`northbridge/amd/
//! amdfam10`, `amdht`) and by Numascale's bootloader (extended MMIO ranges, family 15h high
//! address bits). Bit positions are written beside the code that uses them.

mod decode;
mod encode;
mod memory_types;

pub use decode::{Destination, Northbridge};
pub(crate) use encode::{Exit, LinkSetup, NodeSetup, writes};
pub use memory_types::{CpuMemory, MemoryType};
pub(crate) use memory_types::{MemoryPlan, Shortage, plan as plan_memory};

/// DRAM base and limit registers hold address bits 24 and up.
pub const DRAM_GRANULE: u64 = 16 << 20;
/// MMIO base and limit registers hold address bits 16 and up.
pub const MMIO_GRANULE: u64 = 64 << 10;
// An address that is aligned for DRAM ranges is also aligned for MMIO ranges.
const _: () = assert!(DRAM_GRANULE.is_multiple_of(MMIO_GRANULE));
/// Extended MMIO ranges hold address bits 27 and up.
pub const EXTENDED_GRANULE: u64 = 128 << 20;
/// DRAM ranges of a northbridge.
pub const DRAM_RANGES: usize = 8;
/// MMIO ranges of a northbridge. Family 15h has four more, which the plan leaves alone.
pub const MMIO_RANGES: usize = 8;
/// Extended MMIO ranges of a family 10h northbridge.
pub const EXTENDED_RANGES: usize = 4;

/// Codes of link widths in the link control register.
pub(crate) fn width_code(width_bits: u8) -> u64 {
    match width_bits {
        2 => 0b100,
        4 => 0b101,
        16 => 0b001,
        _ => 0b000,
    }
}

/// Code of a link clock: the low four bits go to the frequency register, bit 4 to `Freq[4]`.
pub(crate) fn frequency_code(frequency_mhz: u16) -> u64 {
    match frequency_mhz {
        200 => 0,
        300 => 1,
        400 => 2,
        500 => 3,
        600 => 4,
        800 => 5,
        // 1000 to 2600 MHz in steps of 200 are 6 to 14; 15 and 16 are not used.
        mhz @ 1000..=2600 => u64::from((mhz - 1000) / 200 + 6),
        mhz => u64::from(mhz.saturating_sub(2800) / 200 + 17),
    }
}

/// The fastest clock without retry and scrambling (HyperTransport 1 and 2).
pub(crate) const GEN1_MHZ_MAX: u16 = 1000;
