//! The inputs and outputs of an endpoint, and handles to it.

use hostwire_packet::ht::PacketRepr;
use hostwire_packet::htoe::CarriedPackets;

use crate::credits::Buffers;
use crate::error::CloseReason;
use crate::link::Out;
use crate::names::{LinkId, Node};

/// The identity of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Number of this node.
    pub node: Node,
    /// Job: endpoints of different jobs do not hear each other.
    pub job: u64,
    /// Which life of the endpoint this is: not 0, and greater than that of any
    /// earlier life under the same node and job. The wall clock in nanoseconds
    /// will do.
    pub incarnation: u64,
}

/// A frame to be sent to a peer, without Ethernet header.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// The link that it belongs to.
    pub link: LinkId,
    /// Where it goes.
    pub peer: Node,
    /// The frame. Send it before the next call, or copy it.
    pub frame: &'a [u8],
}

/// A frame that is to be sent: see [`Endpoint::poll_departure`](crate::Endpoint::poll_departure).
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub(super) link: LinkId,
    pub(super) peer: Node,
    pub(super) out: Out,
}

impl Departure {
    /// The link that it belongs to.
    pub const fn link(&self) -> LinkId {
        self.link
    }

    /// Where it goes.
    pub const fn peer(&self) -> Node {
        self.peer
    }

    /// Whether its frame is valid until the next receive or timeout of the endpoint, and not
    /// only until the next departure.
    pub const fn is_kept(&self) -> bool {
        matches!(self.out, Out::Kept { .. })
    }
}

/// Packets that have arrived, in order, each for the first time.
///
/// Each packet fills a buffer that was promised to the peer. Take what is to
/// be taken, then give the buffers back with [`Endpoint::release`](crate::Endpoint::release): all of
/// them at once with [`filled`](Self::filled), or some later.
#[derive(Clone, Debug)]
pub struct Delivery<'a> {
    /// The link.
    pub link: LinkId,
    /// The peer.
    pub peer: Node,
    /// The packets.
    pub packets: CarriedPackets<'a>,
    pub(super) filled: Filled,
}

impl Ticket {
    /// Whether it is of the packet that follows the last one before `earlier`.
    pub fn follows(&self, earlier: &Self) -> bool {
        self.epoch == earlier.epoch && self.posted == earlier.posted + 1
    }
}

impl Delivery<'_> {
    /// The buffers that all the packets fill.
    pub const fn filled(&self) -> Filled {
        self.filled
    }

    /// No buffers yet: add those of single packets with [`Filled::add`].
    pub const fn none_filled(&self) -> Filled {
        Filled {
            epoch: self.filled.epoch,
            buffers: [Buffers {
                command: 0,
                data: 0,
            }; 3],
        }
    }
}

/// Buffers that packets fill, of one session of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    pub(super) epoch: u32,
    pub(super) buffers: [Buffers; 3],
}

impl Filled {
    /// Adds the buffers of one packet. Packets of no channel fill none.
    pub fn add(&mut self, packet: &PacketRepr<'_>) {
        if let Some(cost) = packet.control().credit_cost() {
            let buffers = &mut self.buffers[cost.channel.index()];
            buffers.command = buffers.command.saturating_add(cost.command.into());
            buffers.data = buffers.data.saturating_add(cost.data.into());
        }
    }

    /// Removes the buffers of one packet, to keep it when all others are released.
    pub fn except(&mut self, packet: &PacketRepr<'_>) {
        if let Some(cost) = packet.control().credit_cost() {
            let buffers = &mut self.buffers[cost.channel.index()];
            buffers.command = buffers.command.saturating_sub(cost.command.into());
            buffers.data = buffers.data.saturating_sub(cost.data.into());
        }
    }
}

/// A point in the stream of posted packets to one peer: see
/// [`Endpoint::ticket`](crate::Endpoint::ticket).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    pub(super) epoch: u32,
    pub(super) posted: u64,
}

/// The state of the packets before a [`Ticket`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not all of them have been acknowledged.
    Pending,
    /// The peer has all of them.
    Arrived,
    /// The session has ended before they were.
    Lost(CloseReason),
}

/// Credits of one link and one channel, at both of its ends as far as this
/// endpoint knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Credits {
    /// Buffers of the peer that this endpoint may fill.
    pub has: Buffers,
    /// Own buffers that the peer may fill.
    pub granted: Buffers,
    /// Own buffers that are filled.
    pub filled: Buffers,
    /// Own free buffers whose credits the peer does not have.
    pub owed: Buffers,
}
