//! What the parts of the network tell each other.

use crate::engine;

/// A frame between adapters: packets one way, NOPs the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Virtual link: the sender's number.
    pub(super) link: u16,
    pub(super) packets: u16,
    pub(super) nops: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// To a sender: there may be a payload now, or the stage is free.
    Wake,
    /// To a port of the switch: the end of a frame could leave now, if the port were free.
    Arrive(Frame),
    /// To an ingress: its stage is through with the oldest frame.
    Deencapsulated,
    /// To the receiver: the packets of a frame are out of their queue.
    Deliver(Frame),
    /// To the receiver: the oldest frame of a stage has left its port.
    Left(u16),
    /// To a sender: credits that came back.
    Credits(u32),
}

impl engine::Event for Event {
    fn digest(&self) -> u64 {
        let (kind, value) = match *self {
            Event::Wake => (1, 0),
            Event::Arrive(frame) => (2, frame.digest()),
            Event::Deencapsulated => (3, 0),
            Event::Deliver(frame) => (4, frame.digest()),
            Event::Left(stage) => (5, u64::from(stage)),
            Event::Credits(credits) => (6, u64::from(credits)),
        };
        kind << 56 | value
    }
}

impl Frame {
    fn digest(self) -> u64 {
        u64::from(self.link) << 32 | u64::from(self.packets) << 16 | u64::from(self.nops)
    }
}
