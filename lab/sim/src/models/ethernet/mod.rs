//! Ethernet: hosts and adapters that run the project's own links on real frames, and a switch between them.
//!
//! Frames are the bytes that `hostwire-link` makes. It also recovers from lost, doubled or overtaken frames; the model
//! does not. Scope and sources: `docs/sim/ethernet.md`.

mod driver;
mod host;
mod switch;

pub use driver::Driver;
pub use host::{Host, HostConfig, Log};
pub use switch::{Switch, SwitchConfig, SwitchCounters, Tap, Tapped};

use crate::engine::Ps;

/// A frame on its way, without what Ethernet adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtherFrame {
    /// Host that it comes from.
    pub from: u16,
    /// Host that it is for.
    pub to: u16,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Events on an Ethernet.
#[derive(Debug)]
pub enum EtherEvent {
    /// To the switch or a host: a frame has arrived whole.
    Arrive(Box<EtherFrame>),
    /// The switch to itself: a frame that others have overtaken joins the queue of its port.
    Join(Box<EtherFrame>),
    /// A host to itself: its port is free.
    Free,
    /// A host to itself: a deadline of its links.
    Timer,
    /// To a host: begin.
    Start,
}

impl EtherEvent {
    pub(super) fn digest(&self) -> u64 {
        match self {
            EtherEvent::Arrive(frame) => 1 | frame.digest() << 8,
            EtherEvent::Join(frame) => 2 | frame.digest() << 8,
            EtherEvent::Free => 3,
            EtherEvent::Timer => 4,
            EtherEvent::Start => 5,
        }
    }
}

impl EtherFrame {
    pub(super) fn digest(&self) -> u64 {
        let head = u64::from(self.from) << 16 | u64::from(self.to);
        self.bytes.chunks(8).fold(head, |digest, chunk| {
            let word = chunk
                .iter()
                .fold(0, |word, byte| word << 8 | u64::from(*byte));
            (digest.rotate_left(7) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
    }

    /// Bytes on the wire: header, check sequence, preamble and gap, and padding to 64 bytes.
    fn wire_bytes(&self) -> u64 {
        const HEADER_AND_CHECK: u64 = 14 + 4;
        const PREAMBLE_AND_GAP: u64 = 8 + 12;
        (self.bytes.len() as u64 + HEADER_AND_CHECK).max(64) + PREAMBLE_AND_GAP
    }

    /// How long a port sends it.
    pub fn time(&self, bytes_per_s: u64) -> Ps {
        let ps = u128::from(self.wire_bytes()) * 1_000_000_000_000;
        Ps(u64::try_from(ps / u128::from(bytes_per_s.max(1))).unwrap_or(u64::MAX))
    }
}
