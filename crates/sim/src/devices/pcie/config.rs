//! The settings of a PCI Express link.

use crate::devices::link::Damage;
use crate::engine::Ps;

/// Receive buffers of one end per class: posted, non-posted, completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credits {
    /// TLP headers, 1 to 127.
    pub header: [u8; 3],
    /// Data in units of 16 bytes, 16 (a payload of 256 bytes) to 2047.
    pub data: [u16; 3],
}

/// A PCI Express link. Both directions are alike.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// A symbol of each lane: 8 bytes on 8 lanes.
    pub byte: Ps,
    /// From the transmitter's pin to the receiver's.
    pub propagation: Ps,
    /// Receive buffers at end A and at end B.
    pub credits: [Credits; 2],
    /// Time that an Ack or UpdateFC waits for TLPs of its direction at most.
    pub dllp_wait: Ps,
    /// Without an Ack for so long a transmitter replays.
    pub replay_timeout: Ps,
    /// TLPs that a transmitter keeps until they are acknowledged.
    pub replay_places: usize,
    /// Time of a retraining.
    pub retrain: Ps,
    /// Retrainings without progress after which the link gives up.
    pub retrains_max: u32,
    /// Damage to TLPs from A to B and from B to A.
    pub tlp_damage: [Damage; 2],
    /// Damage to DLLPs from A to B and from B to A.
    pub dllp_damage: [Damage; 2],
}

impl Default for LinkConfig {
    fn default() -> Self {
        let credits = Credits {
            header: [16; 3],
            data: [256; 3],
        };
        LinkConfig {
            // 5 GT/s, 8 lanes, 8b/10b: 4 GB/s (tca-peach2, section IV.A.1).
            byte: Ps(250),
            propagation: Ps::from_ns(5),
            credits: [credits; 2],
            dllp_wait: Ps::from_ns(100),
            replay_timeout: Ps::from_us(2),
            replay_places: 64,
            retrain: Ps::from_us(20),
            retrains_max: 4,
            tlp_damage: [Damage::Never, Damage::Never],
            dllp_damage: [Damage::Never, Damage::Never],
        }
    }
}
