//! What links of all families are set to alike.

use crate::engine::Ps;
use crate::engine::random::random;

/// One of the two ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The first.
    A = 0,
    /// The second.
    B = 1,
}

impl End {
    /// The other one.
    pub fn other(self) -> End {
        match self {
            End::A => End::B,
            End::B => End::A,
        }
    }
}

/// When packets are damaged on the wire. Counted per direction, packets
/// and control units apart, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Damage {
    /// Never.
    #[default]
    Never,
    /// Every n-th transmission.
    Every(u64),
    /// Exactly these transmissions.
    At(Vec<u64>),
    /// Each transmission by chance, from a seed.
    Random {
        /// So many transmissions.
        hits: u32,
        /// Of so many, on average.
        of: u32,
        /// Start of the sequence; equal seeds give equal runs.
        seed: u64,
    },
}

impl Damage {
    pub(crate) fn hits(&mut self, transmission: u64) -> bool {
        match self {
            Damage::Never => false,
            Damage::Every(n) => *n > 0 && transmission.is_multiple_of(*n),
            Damage::At(list) => list.contains(&transmission),
            Damage::Random { hits, of, seed } => {
                random(seed) % u64::from((*of).max(1)) < u64::from(*hits)
            }
        }
    }
}

/// What the link layer of every family needs to know of its configuration.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Time from the transmitter's pin to the receiver's, PHYs included.
    pub propagation: Ps,
    /// Trainings without progress after which a link gives up.
    pub trainings_max: u32,
    /// Without an acknowledgement for so long a transmitter repeats; `None`: it waits to be told.
    pub replay_timeout: Option<Ps>,
    /// Packets that a transmitter keeps until they are acknowledged.
    pub replay_places: usize,
}
