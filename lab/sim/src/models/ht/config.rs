//! The settings of a HyperTransport link when it is made or trained.

use super::credits::{Credits, NOP_FIELD_MAX};
use crate::engine::Ps;
use crate::models::link::{Damage, End};

/// Receive buffers of one end, per virtual channel (posted, non-posted,
/// response). One command buffer holds any request or response, one data
/// buffer holds up to 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Command buffers.
    pub command: [u8; 3],
    /// Data buffers.
    pub data: [u8; 3],
}

impl Buffers {
    /// HT-Core: 32 of each. Source: acchdl documentation of the HT-Core.
    pub const HT_CORE: Buffers = Buffers {
        command: [32; 3],
        data: [32; 3],
    };
    /// Opteron family 10h, non-coherent link: base values of the link's buffer
    /// count register, posted 5 and 4 (K8: request 6, posted request 5,
    /// response 2; data 4, 4, 1), with the free-list buffers of family 10h
    /// given to posted traffic. Source: coreboot `amdht`; the share of the free
    /// list is assumed.
    pub const FAM10H: Buffers = Buffers {
        command: [12, 6, 4],
        data: [12, 3, 4],
    };
}

impl From<Buffers> for Credits {
    fn from(buffers: Buffers) -> Credits {
        Credits {
            command: buffers.command,
            data: buffers.data,
        }
    }
}

/// Trained state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkMode {
    /// CAD width from A to B, in bits: 2, 4, 8, 16 or 32.
    pub width_ab_bits: u8,
    /// CAD width from B to A, in bits.
    pub width_ba_bits: u8,
    /// Clock in MHz; two bit times per clock.
    pub mhz: u32,
    /// Per-packet CRC and retry (Gen3). Without it: periodic CRC (Gen1).
    pub retry: bool,
    /// Both ends treat the link as non-coherent.
    pub noncoherent: bool,
}

impl LinkMode {
    /// Both directions `width_bits` wide. From 1,200 MHz on a link is Gen3.
    ///
    /// Source: HyperTransport frequency codes as in coreboot `h3ncmn.c`.
    pub fn symmetric(width_bits: u8, mhz: u32) -> LinkMode {
        LinkMode {
            width_ab_bits: width_bits,
            width_ba_bits: width_bits,
            mhz,
            retry: mhz >= 1_200,
            noncoherent: true,
        }
    }

    /// Raw bandwidth from `end`, in bytes per second.
    pub fn raw_bytes_per_s(&self, end: End) -> f64 {
        f64::from(self.width_bits(end)) / 8.0 * 2.0 * f64::from(self.mhz) * 1e6
    }

    pub(super) fn width_bits(&self, end: End) -> u8 {
        match end {
            End::A => self.width_ab_bits,
            End::B => self.width_ba_bits,
        }
    }
}

/// Everything about a link that training does not decide.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Time from the transmitter's pin to the receiver's, PHYs included.
    pub propagation: Ps,
    /// Receive buffers of end A and of end B.
    pub buffers: [Buffers; 2],
    /// Damage from A to B and from B to A.
    pub damage: [Damage; 2],
    /// Retries without progress before a Gen3 link gives up.
    ///
    /// Source: coreboot/AGESA set TotalRetryAttempts in F0x150 to 7.
    pub retry_attempts_max: u8,
    /// Buffers of a channel that are owed until a NOP goes before packets; at most half of them. Assumed: as
    /// many as a NOP can announce.
    pub nop_credits: u8,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            propagation: Ps::from_ns(5),
            buffers: [Buffers::FAM10H; 2],
            damage: [Damage::Never, Damage::Never],
            retry_attempts_max: 7,
            nop_credits: NOP_FIELD_MAX,
        }
    }
}
