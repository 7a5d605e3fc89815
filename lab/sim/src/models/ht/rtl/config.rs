//! What a board that is RTL is like.

use crate::engine::Ps;
use crate::models::ht::Buffers;

/// Eighths of a clock in a clock.
const EIGHTHS: u64 = 8;

/// Which design of `lab/rtl` it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// `ht_core`; the user's logic is modelled.
    Core,
    /// The example design of the paper: registers, block RAM.
    Example,
    /// The design for messages.
    Message,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtlConfig {
    /// The design.
    pub design: Design,
    /// 8 or 16.
    pub width_bits: u8,
    /// Clock of the link, in MHz. The core and the user's logic have half of it.
    pub link_mhz: u32,
    /// From the pins of the host to those of the board, to the nearest eighth of a clock.
    pub slot: Ps,
    /// Where the host's words are in a clock of the core, in eighths of a clock of the link: 0 to 15. Nobody knows: an
    /// experiment runs with all.
    pub phase: u8,
    /// Base addresses.
    pub bars: [u64; 2],
    /// Registers that software writes before the start, by address.
    pub registers: Vec<(u64, u32)>,
    /// Receive buffers of the host.
    pub host_buffers: Buffers,
    /// Buffers that the host owes until a NOP goes before packets.
    pub nop_credits: u8,
}

impl Design {
    /// Name of its library with a link of so many bits: a line of `lab/rtl/designs`.
    pub fn library(self, width_bits: u8) -> String {
        let name = match self {
            Design::Core => "ht",
            Design::Example => "example",
            Design::Message => "message",
        };
        format!("{name}{width_bits}")
    }
}

impl RtlConfig {
    /// Number of [`phase`](Self::phase)s.
    pub const PHASES: u8 = 16;

    /// A time in eighths of a clock, the nearest.
    pub(super) fn eighths(&self, time: Ps) -> u64 {
        let ps = u128::from(time.0) * u128::from(self.link_mhz) * u128::from(EIGHTHS);
        ((ps + 500_000) / 1_000_000) as u64
    }

    /// So many eighths of a clock, rounded up.
    pub(super) fn time(&self, eighths: u64) -> Ps {
        let clocks = u128::from(EIGHTHS) * u128::from(self.link_mhz.max(1));
        let ps = (u128::from(eighths) * 1_000_000).div_ceil(clocks);
        Ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}
