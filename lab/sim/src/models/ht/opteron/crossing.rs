//! Reads that cross from an I/O link to a coherent one, or back.
//!
//! A coherent link knows NodeIDs and no UnitIDs of devices; on an I/O link a northbridge is always unit 0. So a
//! northbridge between the two asks in its own name, with one of its source tags, and passes the answer to the
//! requester with the tag of that request. So a device can read the memory of all sockets of its node, and a core the
//! devices of all of them.

use crate::engine::Context;
use crate::models::DeviceEvent;
use crate::models::ht::{Command, Packet, VirtualChannel};

use super::Opteron;
use super::inbound::Stopped;
use super::registers::LINKS;
use super::route::{AbortReason, response_link};

/// The requester behind a tag: the link of its request, and the tag of its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    port: u8,
    unit_id: u8,
    tag: u8,
}

impl Opteron {
    /// Whether a request from link `port` is a read that crosses to the other kind of link. A read of unit 0 from an
    /// I/O link is one of another host, and its answer would go to this host.
    ///
    /// Source: paper, IV.A: this is why TCCluster cannot read.
    pub(super) fn crosses(&self, port: u8, link: u8, packet: &Packet) -> bool {
        let [from, to] = [port, link].map(|link| self.registers.link_noncoherent(link));
        let is_read = matches!(packet.command, Command::Read { .. });
        is_read && from != to && (!from || packet.unit_id != 0)
    }

    /// Passes such a read on.
    pub(super) fn cross(
        &mut self,
        (port, link): (u8, u8),
        packet: Box<Packet>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) -> Stopped {
        let to_device = self.registers.link_noncoherent(link);
        // What is not memory of the node leaves it by another I/O link, from which no answer comes.
        if !to_device && self.registers.decoded().dram_at(packet.address).is_none() {
            self.refuse(AbortReason::NotOwnMemory, &packet, port, ctx);
            return None;
        }
        if !self.has_room(link, VirtualChannel::NonPosted) {
            return Some((packet, link));
        }
        let Some(tag) = self.free_tag() else {
            self.crossing_waits = true;
            return Some((packet, link));
        };
        let crossing = Crossing {
            port,
            unit_id: packet.unit_id,
            tag: packet.tag,
        };
        self.crossings.insert(tag, crossing);
        let unit_id = match to_device {
            true => 0,
            false => self.registers.node_id(),
        };
        self.forward(link, Box::new(packet.renamed(unit_id, tag)), ctx)
    }

    /// Passes the answer to a read that has crossed to its requester. `Err` if it is for a core of this socket.
    pub(super) fn cross_back(
        &mut self,
        packet: Box<Packet>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) -> Result<Stopped, Box<Packet>> {
        let Some(crossing) = self.crossings.get(&packet.tag).copied() else {
            return Err(packet);
        };
        let link = match self.registers.link_noncoherent(crossing.port) {
            true => Some(crossing.port),
            false => response_link(&self.registers, crossing.unit_id),
        };
        let Some(link) = link else {
            return Err(packet);
        };
        if !self.has_room(link, VirtualChannel::Response) {
            return Ok(Some((packet, link)));
        }
        self.crossings.remove(&packet.tag);
        let packet = Box::new(packet.renamed(crossing.unit_id, crossing.tag));
        let stopped = self.forward(link, packet, ctx);
        self.pass_tag(ctx);
        Ok(stopped)
    }

    /// A tag is free, and no core waits for it: a read that crosses may take it.
    pub(super) fn pump_crossings(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        if std::mem::take(&mut self.crossing_waits) {
            for port in 0..LINKS {
                self.pump(port, VirtualChannel::NonPosted, ctx);
            }
        }
    }
}
