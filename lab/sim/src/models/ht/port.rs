//! A device's side of a HyperTransport link.

use crate::engine::{ComponentId, Context, Ps};

use crate::models::DeviceEvent;
use crate::models::ht::PacketBuffers;
use crate::models::ht::{Packet, VirtualChannel};
use crate::models::link::{End, LinkEvent};

/// Where a device is attached, and how many of its packets the link holds.
///
/// A device asks [`room`](Self::room), takes a place by
/// [`reserve`](Self::reserve), and hands the packet over with
/// [`submit`](Self::submit) when it has passed the device's pipeline.
#[derive(Clone, Debug)]
pub struct Port {
    link: ComponentId,
    end: End,
    taken: [u16; 3],
    depth: u16,
}

impl Port {
    /// A port with `depth` transmit places per virtual channel.
    pub fn new(link: ComponentId, end: End, depth: usize) -> Port {
        Port {
            link,
            end,
            taken: [0; 3],
            depth: u16::try_from(depth).unwrap_or(u16::MAX),
        }
    }

    /// The link behind this port.
    pub fn link(&self) -> ComponentId {
        self.link
    }

    /// Whether a packet of `channel` finds a place.
    pub fn room(&self, channel: VirtualChannel) -> bool {
        self.taken[channel.index()] < self.depth
    }

    /// Takes a place; it is given back when the link has begun to transmit.
    pub fn reserve(&mut self, channel: VirtualChannel) {
        let taken = &mut self.taken[channel.index()];
        *taken = taken.saturating_add(1);
    }

    /// Gives a place back.
    pub fn sent(&mut self, channel: VirtualChannel) {
        let taken = &mut self.taken[channel.index()];
        *taken = taken.saturating_sub(1);
    }

    /// Forgets all places: the link was reset and has dropped its packets.
    pub fn reset(&mut self) {
        self.taken = [0; 3];
    }

    /// Hands a packet over after `delay`. A place must have been reserved.
    pub fn submit(&self, packet: Box<Packet>, delay: Ps, ctx: &mut Context<'_, DeviceEvent>) {
        ctx.schedule(
            self.link,
            delay,
            DeviceEvent::Ht(LinkEvent::Submit {
                end: self.end,
                packet,
            }),
        );
    }

    /// Empties the receive buffers of a packet of `channel`, with `data` or without.
    pub fn release(&self, channel: VirtualChannel, data: bool, ctx: &mut Context<'_, DeviceEvent>) {
        let event = LinkEvent::Release {
            end: self.end,
            cost: PacketBuffers { channel, data },
        };
        ctx.schedule(self.link, Ps::ZERO, DeviceEvent::Ht(event));
    }
}
