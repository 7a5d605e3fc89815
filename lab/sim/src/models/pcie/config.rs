//! The settings of a PCI Express link.

use std::fmt;

use crate::engine::Ps;
use crate::models::link::Damage;

/// Receive buffers of one end per class: posted, non-posted, completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credits {
    /// TLP headers, 1 to 127.
    pub header: [u8; 3],
    /// Data in units of 16 bytes, those of the largest payload to 2047.
    pub data: [u16; 3],
}

/// How fast a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    /// Transfers of a lane, in millions per second: one of [`RATES_MT_S`].
    pub rate_mt_s: u32,
    /// Lanes: one of [`LANES`].
    pub lanes: u8,
}

/// What a port is: a link needs one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It answers: an upstream port.
    Endpoint,
    /// It begins: a downstream port.
    RootComplex,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Endpoint => "an endpoint",
            Role::RootComplex => "a root complex",
        })
    }
}

/// Rates of the generations 1 to 5.
pub const RATES_MT_S: [u32; 5] = [2_500, 5_000, 8_000, 16_000, 32_000];
/// Widths.
pub const LANES: [u8; 5] = [1, 2, 4, 8, 16];
/// Up to this rate a byte takes 10 bits (8b/10b); from the next one on 128 bits take 130.
const RATE_8B10B_MAX_MT_S: u32 = 5_000;

impl Speed {
    /// Time of so many bytes, rounded up to a picosecond.
    ///
    /// Framing has the same length in both encodings: 8 bytes for a TLP with its number and
    /// LCRC, 2 bytes for a DLLP.
    pub fn time(self, bytes: u64) -> Ps {
        let lanes_mt_s = u64::from(self.rate_mt_s) * u64::from(self.lanes);
        let (bits, of) = if self.rate_mt_s <= RATE_8B10B_MAX_MT_S {
            (10, 1)
        } else {
            (8 * 130, 128)
        };
        let ps = bytes.saturating_mul(bits * 1_000_000);
        Ps(ps.div_ceil(lanes_mt_s.max(1) * of))
    }
}

/// A PCI Express link. Both directions are alike.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Its rate and width.
    pub speed: Speed,
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
    /// Time of a training from the start, once both ports are on.
    pub training: Ps,
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
            // 4 GB/s (tca-peach2, section IV.A.1).
            speed: Speed {
                rate_mt_s: 5_000,
                lanes: 8,
            },
            propagation: Ps::from_ns(5),
            credits: [credits; 2],
            dllp_wait: Ps::from_ns(100),
            replay_timeout: Ps::from_us(2),
            replay_places: 64,
            training: Ps::from_us(1_000),
            retrain: Ps::from_us(20),
            retrains_max: 4,
            tlp_damage: [Damage::Never, Damage::Never],
            dllp_damage: [Damage::Never, Damage::Never],
        }
    }
}

impl LinkConfig {
    /// That of cable `number` of several: what is random differs from cable to cable.
    pub(crate) fn of_cable(&self, number: usize) -> LinkConfig {
        let mut link = self.clone();
        for damage in link.tlp_damage.iter_mut().chain(&mut link.dllp_damage) {
            if let Damage::Random { seed, .. } = damage {
                *seed = seed.wrapping_add((number as u64) << 1);
            }
        }
        link
    }

    /// That of a link inside of a host, where nothing is damaged.
    pub(crate) fn undamaged(&self) -> LinkConfig {
        LinkConfig {
            tlp_damage: [Damage::Never, Damage::Never],
            dllp_damage: [Damage::Never, Damage::Never],
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_the_time_of_their_encoding() {
        let time = |rate_mt_s, lanes, bytes| Speed { rate_mt_s, lanes }.time(bytes);
        assert_eq!(time(5_000, 8, 280), Ps(70_000), "4 GB/s");
        assert_eq!(time(2_500, 1, 8), Ps::from_ns(32), "0.25 GB/s");
        assert_eq!(time(8_000, 16, 128), Ps(8_125), "130 bits for 128");
        assert_eq!(time(32_000, 16, 1), Ps(16), "15.87 ps are rounded up");
    }
}
