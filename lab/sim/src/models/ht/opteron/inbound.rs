//! Packets that arrive on links: routed to memory, to a core, or onward.

use std::collections::VecDeque;

use crate::engine::{Context, Ps};
use crate::models::DeviceEvent;
use crate::models::ht::{Command, Packet, VirtualChannel};

use super::registers::LINKS;
use super::route::{AbortReason, Origin, Target, broadcast_links, response_link, route};
use super::{Opteron, OpteronEvent};

/// Northbridges a packet may pass. A mesh of 1,024 nodes has paths of 62 hops.
const HOPS_MAX: u8 = 128;

/// The result for the packet at the head of an input queue. `None`: it left. Otherwise
/// there is no room on this link; try again later.
pub(super) type Stopped = Option<(Box<Packet>, u8)>;

/// Packets from all links that wait for room ahead, and what the first ones wait for.
#[derive(Default)]
pub(super) struct Inputs {
    /// A bit for each queue that is not empty.
    occupied: u32,
    /// The link that the head of a queue waits for.
    stopped: [[Option<u8>; 3]; LINKS as usize],
    /// The registers by which that was found.
    version: u64,
    queues: [[VecDeque<Box<Packet>>; 3]; LINKS as usize],
}

impl Inputs {
    fn bit(port: u8, channel: VirtualChannel) -> u32 {
        1 << (usize::from(port) * 3 + channel.index())
    }

    pub(super) fn queue(&self, port: u8, channel: VirtualChannel) -> &VecDeque<Box<Packet>> {
        &self.queues[usize::from(port)][channel.index()]
    }
}

impl Opteron {
    pub(super) fn deliver(
        &mut self,
        port: u8,
        packet: Box<Packet>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let channel = packet.channel();
        if let Some(queues) = self.inputs.queues.get_mut(usize::from(port)) {
            queues[channel.index()].push_back(packet);
            self.inputs.occupied |= Inputs::bit(port, channel);
            self.pump(port, channel, ctx);
        }
    }

    pub(super) fn pump_all(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        if self.inputs.occupied == 0 {
            return;
        }
        for port in 0..LINKS {
            for channel in VirtualChannel::ALL {
                if self.inputs.occupied & Inputs::bit(port, channel) != 0 {
                    self.pump(port, channel, ctx);
                }
            }
        }
    }

    /// Passes packets on until the head of the queue finds no room.
    pub(super) fn pump(
        &mut self,
        port: u8,
        channel: VirtualChannel,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let (at, index) = (usize::from(port), channel.index());
        // An input that found no room finds none while that link is full.
        if self.inputs.version != self.registers.version() {
            self.inputs.version = self.registers.version();
            self.inputs.stopped = Default::default();
        }
        if let Some(link) = self.inputs.stopped[at][index]
            && !self.has_room(link, channel)
        {
            return;
        }
        while let Some(packet) = self.inputs.queues[at][index].pop_front() {
            let data = packet.has_data();
            if let Some((packet, link)) = self.pass(port, packet, ctx) {
                self.inputs.queues[at][index].push_front(packet);
                self.inputs.stopped[at][index] = Some(link);
                return;
            }
            if let Some(attachment) = &self.ports[at] {
                attachment.release(channel, data, ctx);
            }
        }
        self.inputs.stopped[at][index] = None;
        self.inputs.occupied &= !Inputs::bit(port, channel);
    }

    fn pass(
        &mut self,
        port: u8,
        packet: Box<Packet>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) -> Stopped {
        match packet.command {
            Command::ReadResponse | Command::MasterAbort => self.pass_response(port, packet, ctx),
            Command::Broadcast { .. } => {
                self.pass_broadcast(port, &packet, ctx);
                None
            }
            Command::WriteDwords | Command::WriteMasked { .. } | Command::Read { .. } => {
                self.pass_request(port, packet, ctx)
            }
        }
    }

    fn pass_request(
        &mut self,
        port: u8,
        packet: Box<Packet>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) -> Stopped {
        let target = match packet.hops {
            HOPS_MAX.. => Target::Abort(AbortReason::Loop),
            _ => route(
                &self.registers,
                Origin::Link(port),
                packet.address,
                self.config.memory_bytes,
            ),
        };
        match target {
            Target::Link(link) if self.crosses(port, link, &packet) => {
                return self.cross((port, link), packet, ctx);
            }
            // From one I/O link to another one.
            Target::Link(_) if self.is_device_read(port, &packet) => {
                self.refuse(AbortReason::NotOwnMemory, &packet, port, ctx);
            }
            Target::Memory if matches!(packet.command, Command::Read { .. }) => {
                let begin = self.memory_slot(self.config.inbound, ctx);
                let event = DeviceEvent::Opteron(OpteronEvent::Read { packet, port });
                ctx.schedule_at(ctx.me(), begin + self.config.memory_read, event);
            }
            Target::Memory => {
                // Paper, VI: a store over a TCCluster link invalidates no cache.
                let tccluster = self.registers.decoded().is_forced(port);
                self.enter_memory(packet, self.config.inbound, !tccluster, ctx);
            }
            Target::Link(link) => return self.forward(link, packet, ctx),
            Target::Abort(reason) => self.refuse(reason, &packet, port, ctx),
        }
        None
    }

    /// Drops a request; a read is answered.
    pub(super) fn refuse(
        &mut self,
        reason: AbortReason,
        packet: &Packet,
        port: u8,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        self.status.abort(ctx.now(), reason, packet);
        if matches!(packet.command, Command::Read { .. }) {
            self.respond(Command::MasterAbort, packet, port, Vec::new(), ctx);
        }
    }

    /// Whether a device on an I/O link reads. Its UnitID means nothing on other links.
    fn is_device_read(&self, port: u8, packet: &Packet) -> bool {
        matches!(packet.command, Command::Read { .. })
            && packet.unit_id != 0
            && self.registers.link_noncoherent(port)
    }

    pub(super) fn forward(
        &mut self,
        link: u8,
        mut packet: Box<Packet>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) -> Stopped {
        let channel = packet.channel();
        match &mut self.ports[usize::from(link)] {
            Some(out) if out.room(channel) => {
                out.reserve(channel);
                packet.hops = packet.hops.saturating_add(1);
                out.submit(packet, self.config.hop, ctx);
                self.status.counters.forwarded += 1;
                None
            }
            _ => Some((packet, link)),
        }
    }

    fn pass_response(
        &mut self,
        port: u8,
        packet: Box<Packet>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) -> Stopped {
        if !self.registers.link_noncoherent(port)
            && let Some(link) = response_link(&self.registers, packet.unit_id)
        {
            return self.forward(link, packet, ctx);
        }
        let packet = match self.cross_back(packet, ctx) {
            Ok(stopped) => return stopped,
            Err(packet) => packet,
        };
        let event = OpteronEvent::Response { packet };
        ctx.schedule(
            ctx.me(),
            self.config.io_read_in(),
            DeviceEvent::Opteron(event),
        );
        None
    }

    fn pass_broadcast(&mut self, port: u8, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        if self.registers.link_noncoherent(port) {
            self.status.counters.foreign_interrupts += 1;
            self.status.incident(
                ctx.now(),
                format!("interrupt of another system came in on link {port}"),
            );
        } else {
            self.status.counters.interrupts += 1;
        }
        if packet.hops >= HOPS_MAX {
            return;
        }
        for link in broadcast_links(&self.registers, Origin::Link(port), packet.unit_id) {
            if let Some(out) = &mut self.ports[usize::from(link)] {
                out.reserve(VirtualChannel::Posted);
                let mut packet = Box::new(packet.clone());
                packet.hops += 1;
                out.submit(packet, self.config.hop, ctx);
            }
        }
    }

    /// A read from a link has been served by memory.
    pub(super) fn read(&mut self, packet: &Packet, port: u8, ctx: &mut Context<'_, DeviceEvent>) {
        let Command::Read { dwords } = packet.command else {
            return;
        };
        let mut data = vec![0; usize::from(dwords.clamp(1, 16)) * 4];
        if self.memory_ready {
            self.memory.read(packet.address, &mut data);
        } else {
            data.fill(0xff);
        }
        self.respond(Command::ReadResponse, packet, port, data, ctx);
    }

    /// Sends a response. Responses carry no address: on coherent links the
    /// NodeID of the requester leads them, on a non-coherent link the UnitID.
    /// A request of unit 0 comes from a host, and the only host that this
    /// bridge knows is its own.
    ///
    /// Source: paper, IV.A: this is why TCCluster cannot read.
    fn respond(
        &mut self,
        command: Command,
        request: &Packet,
        port: u8,
        data: Vec<u8>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let mut response = Packet {
            data,
            ..Packet::new(command, 0)
        };
        response.tag = request.tag;
        response.unit_id = request.unit_id;
        response.number = self.number(ctx);
        let link = match self.registers.link_noncoherent(port) {
            true => (request.unit_id != 0).then_some(port),
            false => response_link(&self.registers, request.unit_id),
        };
        match link {
            Some(link) => {
                if let Some(out) = &mut self.ports[usize::from(link)] {
                    out.reserve(VirtualChannel::Response);
                    out.submit(Box::new(response), self.config.out, ctx);
                }
            }
            None => {
                let event = OpteronEvent::Response {
                    packet: Box::new(response),
                };
                ctx.schedule(ctx.me(), Ps::ZERO, DeviceEvent::Opteron(event));
            }
        }
    }
}
