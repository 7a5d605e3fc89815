//! The events between the parts of the network.

use crate::engine;

/// A frame between adapters: packets one way, NOPs or a get the other. Moving events is most of the cost of a run, so a
/// frame is small: fields that no frame has at once share a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Virtual link: the sender's number.
    pub(super) link: u16,
    pub(super) packets: u16,
    pub(super) nops: u16,
    /// Number on its link: 0 for all, unless frames can be lost. Of a get, which has neither packets nor
    /// NOPs: for how many packets it asks the other end.
    pub(super) number: u32,
}

const _: () = assert!(size_of::<Event>() <= 16);

/// Dwords of a request: a HyperTransport read is a command of 8 bytes.
const REQUEST_WORDS: u64 = 2;

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
    /// To the receiver: a get for this link is through mapping.
    Get(u16),
    /// To the receiver: the oldest frame of a stage has left its port.
    Left(u16),
    /// To a sender: a get asks for so many packets.
    Asked(u32),
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
    const KINDS: &'static [&'static str] = &[
        "wake",
        "arrive",
        "deencapsulated",
        "deliver",
        "left",
        "get",
        "asked",
        "credits",
        "ack",
        "nak",
        "timeout",
    ];

    fn kind(&self) -> u8 {
        match self {
            Event::Wake => 0,
            Event::Arrive(_) => 1,
            Event::Deencapsulated => 2,
            Event::Deliver(_) => 3,
            Event::Left(_) => 4,
            Event::Get(_) => 5,
            Event::Asked(_) => 6,
            Event::Credits(_) => 7,
            Event::Ack(_) => 8,
            Event::Nak(_) => 9,
            Event::Timeout => 10,
        }
    }

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
            Event::Get(link) => (11, u64::from(link)),
            Event::Asked(packets) => (10, u64::from(packets)),
        };
        kind << 56 | value
    }
}

impl Frame {
    /// A get of so many packets for this link: a request of two dwords.
    pub(super) fn get(link: u16, packets: u32) -> Self {
        Self {
            link,
            packets: 0,
            nops: 0,
            number: packets,
        }
    }

    /// For how many packets a get asks; 0 of other frames.
    pub(super) fn asks(self) -> u32 {
        match (self.packets, self.nops) {
            (0, 0) => self.number,
            _ => 0,
        }
    }

    /// Its dwords that are no packets: NOPs or a request.
    pub(super) fn words(self) -> u64 {
        let request = if self.asks() > 0 { REQUEST_WORDS } else { 0 };
        u64::from(self.nops) + request
    }

    fn digest(self) -> u64 {
        let shape =
            u64::from(self.link) << 32 | u64::from(self.packets) << 16 | u64::from(self.nops);
        shape ^ u64::from(self.number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
    }
}
