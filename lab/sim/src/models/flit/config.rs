//! The settings of links of today.

use crate::engine::Ps;
use crate::models::link::Damage;

/// How pieces lie in what crosses a link at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Flits of one length; pieces share them.
    Flits {
        /// Length on the wires.
        flit_bytes: u32,
        /// Bytes of these that hold pieces.
        capacity_bytes: u32,
    },
    /// A frame for each piece.
    Frames {
        /// Check sequence and framing.
        check_bytes: u32,
        /// A shorter frame is padded to this length.
        least_bytes: u32,
        /// Preamble and gap.
        gap_bytes: u32,
        /// Length of a unit with credits, acknowledgements and pauses.
        control_bytes: u32,
    },
}

impl Shape {
    /// Bytes on the wires of a flit or frame whose pieces take `bytes`.
    pub fn wire_bytes(self, bytes: u32) -> u64 {
        match self {
            Shape::Flits { flit_bytes, .. } => u64::from(flit_bytes),
            Shape::Frames {
                check_bytes,
                least_bytes,
                gap_bytes,
                ..
            } => u64::from((bytes + check_bytes).max(least_bytes) + gap_bytes),
        }
    }

    /// Bytes on the wires of a control unit. Flits carry such words in their heads, which cross
    /// the link anyway.
    pub fn control_bytes(self) -> u64 {
        match self {
            Shape::Flits { .. } => 0,
            Shape::Frames { control_bytes, .. } => u64::from(control_bytes),
        }
    }
}

/// What keeps a transmitter from sending more than the receiver has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It spends credits, which come back when buffers are empty.
    Credits {
        /// Buffers of the receiver.
        bytes: u32,
    },
    /// The receiver stops it, and lets it go on.
    Pause {
        /// With more than this in its buffers it says stop.
        stop_bytes: u32,
        /// With this or less it says go on.
        go_bytes: u32,
    },
    /// Nothing: what finds no room is lost.
    Drop,
}

/// Repetition on the link: Go-Back-N between its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Flits or frames that a transmitter keeps until they are acknowledged.
    pub places: usize,
    /// Without an acknowledgement for so long it repeats.
    pub timeout: Ps,
}

/// A link of today. Both directions are alike.
#[derive(Clone, Debug)]
pub struct FlitConfig {
    /// Rate of each direction, line coding taken off.
    pub bytes_per_s: u64,
    /// From the transmitter's pin to the receiver's.
    pub propagation: Ps,
    /// Flits or frames.
    pub shape: Shape,
    /// Flow control.
    pub flow: Flow,
    /// Repetition, if this link has it. Without it what is damaged is lost.
    pub retry: Option<Retry>,
    /// Time that credits and acknowledgements wait for others at most while their direction is
    /// busy.
    pub control_wait: Ps,
    /// Damage to flits or frames from A to B and from B to A. Control units are not damaged.
    pub damage: [Damage; 2],
}
