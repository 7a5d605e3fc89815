//! The events between the parts of the network.

use crate::engine;

/// A frame between adapters: packets one way, NOPs the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Virtual link: the sender's number.
    pub(super) link: u16,
    pub(super) packets: u16,
    pub(super) nops: u16,
    /// Number on its link. 0 for all, unless frames can be lost.
    pub(super) number: u32,
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
    /// To a sender: all frames up to this one have come through.
    Ack(u32),
    /// To a sender: this frame is missing.
    Nak(u32),
    /// To a sender: has it waited for an ack too long?
    Timeout,
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
            Event::Ack(number) => (7, u64::from(number)),
            Event::Nak(number) => (8, u64::from(number)),
            Event::Timeout => (9, 0),
        };
        kind << 56 | value
    }
}

impl Frame {
    fn digest(self) -> u64 {
        let shape =
            u64::from(self.link) << 32 | u64::from(self.packets) << 16 | u64::from(self.nops);
        shape ^ u64::from(self.number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
    }
}
