//! An encapsulation stage and the MAC behind it: both take frames in turn.

use super::config::{Timing, wire_bytes};
use crate::engine::Ps;

#[derive(Clone, Debug)]
pub(super) struct Egress {
    timing: Timing,
    /// When the stage can take the next frame.
    free: Ps,
    /// When the end of the last frame leaves the port.
    tail: Ps,
    /// Bytes that have left or are going to.
    pub(super) wire_bytes: u64,
}

/// When a frame passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// The stage begins with it.
    pub(super) start: Ps,
    /// The stage can take another one.
    pub(super) free: Ps,
    /// Its end leaves the port.
    pub(super) tail: Ps,
}

impl Egress {
    pub(super) fn new(timing: Timing) -> Egress {
        Egress {
            timing,
            free: Ps::ZERO,
            tail: Ps::ZERO,
            wire_bytes: 0,
        }
    }

    pub(super) fn free(&self) -> Ps {
        self.free
    }

    /// Takes a frame that is ready at `ready`, which is not before the last one was.
    pub(super) fn push(&mut self, ready: Ps, packets: u64, nops: u64) -> Passage {
        let timing = &self.timing;
        let start = ready.max(self.free);
        let done = start + timing.encapsulate(packets, nops);
        let wire = timing.wire(packets, nops);
        // The latency holds the wire time of one packet. The MAC has room for one frame: the
        // stage is not free before the frame in front has left the port.
        let latency = timing.mac_out + (wire - timing.wire(1, 0));
        self.free = done.max(self.tail);
        self.tail = (done + latency).max(self.tail + wire);
        self.wire_bytes += wire_bytes(packets, nops);
        Passage {
            start,
            free: self.free,
            tail: self.tail,
        }
    }
}
