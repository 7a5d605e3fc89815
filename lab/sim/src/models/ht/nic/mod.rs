//! The HTX board as a NIC: HT-Core, requester, network port, link ports,
//! crossbar, completer.
//!
//! ```text
//! host link -> HT-Core in -> requester -> network port -> (crossbar) -> link port -> cable
//! host link <- HT-Core out <- completer <- network port <- (crossbar) <- link port <- cable
//! ```
//! A message is a write of at most 64 bytes into the send window; it is posted,
//! and the HT credit of its buffer returns when the link port has taken it. The
//! completer writes the payload and then a status line into a ring in host
//! memory. Between islands of processors a board is a window instead: it carries
//! writes by their address. Memory of other hosts is reached by plain loads and
//! stores: see `remote`. Parameters and sources: `docs/sim/nic.md`.

mod config;
mod remote;

pub use config::{NicConfig, RemoteRegion};
pub use remote::RemoteCounters;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use hostwire_packet::ht::PacketRepr;

use crate::engine::{Component, ComponentId, Context, Ps, Wait};

use crate::models::DeviceEvent;
use crate::models::ht::Port;
use crate::models::ht::carry::{Notes, write_of};
use crate::models::ht::link_port::{LinkPort, Message};
use crate::models::ht::{Carried, Command, Frame, Packet, VirtualChannel, packet_bytes};
use crate::models::link::LinkEvent;

use remote::Remote;

/// The board on its host's I/O link.
const UNIT: u8 = 1;

/// Stages of the NIC's pipelines.
#[derive(Debug)]
pub enum NicEvent {
    /// A packet has left the HT-Core's receive path.
    FromCore {
        /// The packet.
        packet: Box<Packet>,
        /// When it was at the pins.
        since: Ps,
    },
    /// A packet has passed the HT-Core's transmit path.
    ToLink {
        /// The packet.
        packet: Box<Packet>,
        /// When the user logic handed it over.
        since: Ps,
    },
    /// A read has been answered by the user logic.
    ReadDone {
        /// The read.
        packet: Box<Packet>,
    },
    /// A message is ready for its link port.
    ToNetwork {
        /// The write that made it; its buffer is released when the port takes it.
        packet: Box<Packet>,
    },
    /// A message has come through the network port.
    FromNetwork {
        /// The message.
        message: Box<Message>,
    },
    /// The completer is ready to write a message to the host.
    Complete {
        /// The message.
        message: Box<Message>,
    },
    /// The answer of the host to another host is ready for its link port.
    Answer {
        /// The answer.
        message: Box<Message>,
    },
}

impl NicEvent {
    pub(in crate::models) fn digest(&self) -> u64 {
        let of = |message: &Message| {
            let carried = message.carried.map_or(0, Carried::digest);
            let head = u64::from(message.destination) ^ carried;
            message.payload.iter().fold(head, |digest, &byte| {
                (digest ^ u64::from(byte))
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(7)
            })
        };
        match self {
            NicEvent::FromCore { packet, .. } => 1 | packet.digest() << 8,
            NicEvent::ToLink { packet, .. } => 6 | packet.digest() << 8,
            NicEvent::ReadDone { packet } => 2 | packet.digest() << 8,
            NicEvent::ToNetwork { packet } => 3 | packet.digest() << 8,
            NicEvent::FromNetwork { message } => 4 | of(message) << 8,
            NicEvent::Complete { message } => 5 | of(message) << 8,
            NicEvent::Answer { message } => 7 | of(message) << 8,
        }
    }
}

/// When a message was last at the stages of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Its write has left the HT-Core's receive path.
    pub from_core: Ps,
    /// A link port has taken it.
    pub to_port: Ps,
    /// Its frame has arrived whole at a link port.
    pub arrived: Ps,
    /// It has come through the network port.
    pub from_network: Ps,
    /// The completer has handed it to the HT-Core.
    pub completed: Ps,
    /// Its status has passed the HT-Core's transmit path.
    pub to_link: Ps,
}

/// Counters of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicCounters {
    /// Writes that arrived from the host.
    pub writes: u64,
    /// Their bytes of payload. A masked write counts its enabled bytes.
    pub write_bytes: u64,
    /// When the first write arrived at the HT-Core.
    pub first_write: Option<Ps>,
    /// When the last write arrived at the HT-Core.
    pub last_write: Ps,
    /// Messages sent.
    pub sent: u64,
    /// Messages written to the host.
    pub completed: u64,
    /// Messages passed on to another link port.
    pub forwarded: u64,
    /// Messages whose destination has no route.
    pub unroutable: u64,
    /// Packets that a window cannot carry: not posted writes.
    pub refused: u64,
    /// Time of the last packet through the HT-Core's receive path: from the
    /// pins to the user side.
    pub core_in: Ps,
    /// The same for the transmit path.
    pub core_out: Ps,
    /// The last message at each stage.
    pub stages: Stages,
}

/// The component. Port 0 is the host link; cables use link ports 0 to 5.
pub struct Nic {
    config: NicConfig,
    host: Option<Port>,
    links: Vec<LinkPort>,
    /// Writes, and reads behind them, whose link port is full.
    blocked: VecDeque<Box<Packet>>,
    remote: Remote,
    /// Messages for the host that wait for the host link.
    received: VecDeque<Box<Message>>,
    /// Messages between link port and completer.
    arriving: usize,
    slot: u64,
    counters: NicCounters,
    packets: u64,
    /// Of writes between windows, shared by all boards of a network.
    notes: Rc<RefCell<Notes>>,
}

impl Nic {
    /// A NIC that is not yet connected.
    pub fn new(config: NicConfig) -> Nic {
        let links = config
            .ports
            .iter()
            .enumerate()
            .map(|(index, port)| LinkPort::new(index as u8, *port));
        Nic {
            links: links.collect(),
            config,
            host: None,
            blocked: VecDeque::new(),
            remote: Remote::default(),
            received: VecDeque::new(),
            arriving: 0,
            slot: 0,
            counters: NicCounters::default(),
            packets: 0,
            notes: Rc::default(),
        }
    }

    /// As a window of a network: its boards share notes.
    #[must_use]
    pub fn with_notes(self, notes: &Rc<RefCell<Notes>>) -> Nic {
        Nic {
            notes: Rc::clone(notes),
            ..self
        }
    }

    /// Plugs the board into its slot.
    pub fn attach(&mut self, host: Port) {
        self.host = Some(host);
    }

    /// Plugs a cable into a link port. `false` if there is no such port.
    pub fn connect(&mut self, port: u8, cable: ComponentId, end: u8) -> bool {
        self.links
            .get_mut(usize::from(port))
            .map(|port| port.connect(cable, end))
            .is_some()
    }

    /// Parameters.
    pub fn config(&self) -> &NicConfig {
        &self.config
    }

    /// The counters of the NIC.
    pub fn counters(&self) -> NicCounters {
        self.counters
    }

    /// The counters of what it did for memory of other hosts.
    pub fn remote_counters(&self) -> RemoteCounters {
        self.remote.counters
    }

    /// A link port, for its counters.
    pub fn link_port(&self, port: u8) -> Option<&LinkPort> {
        self.links.get(usize::from(port))
    }

    fn to_self(&self, time: Ps, event: NicEvent, ctx: &mut Context<'_, DeviceEvent>) {
        ctx.schedule(ctx.me(), time, DeviceEvent::Nic(event));
    }

    fn deliver(&mut self, packet: Box<Packet>, ctx: &mut Context<'_, DeviceEvent>) {
        if packet.channel() == VirtualChannel::Posted {
            let bytes = match packet.command {
                Command::WriteMasked { mask } => u64::from(mask.count_ones()),
                _ => packet.data.len() as u64,
            };
            self.counters.writes += 1;
            self.counters.write_bytes += bytes;
            self.counters.first_write.get_or_insert(ctx.now());
            self.counters.last_write = ctx.now();
        }
        let since = ctx.now();
        self.to_self(
            self.config.core_in(),
            NicEvent::FromCore { packet, since },
            ctx,
        );
    }

    fn leave_core(&mut self, packet: Box<Packet>, ctx: &mut Context<'_, DeviceEvent>) {
        let is_window = self.config.is_window();
        match packet.command {
            Command::ReadResponse | Command::MasterAbort => self.answered(packet, ctx),
            _ if self.config.region(packet.address).is_some() => {
                let cycles = self.config.requester_cycles + self.config.network_out_cycles;
                let time = self.config.user(cycles);
                self.to_self(time, NicEvent::ToNetwork { packet }, ctx);
            }
            Command::Read { .. } if is_window => {
                self.counters.refused += 1;
                self.release(&packet, ctx);
            }
            Command::Read { .. } => {
                self.release(&packet, ctx);
                self.to_self(
                    self.config.user(self.config.read_cycles),
                    NicEvent::ReadDone { packet },
                    ctx,
                );
            }
            Command::WriteDwords | Command::WriteMasked { .. }
                if is_window || packet.address >= self.config.send_base =>
            {
                self.counters.stages.from_core = ctx.now();
                let cycles = self.config.requester_cycles + self.config.network_out_cycles;
                self.to_self(
                    self.config.user(cycles),
                    NicEvent::ToNetwork { packet },
                    ctx,
                );
            }
            _ => self.release(&packet, ctx),
        }
    }

    fn release(&self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some(host) = &self.host {
            host.release(packet.channel(), packet.has_data(), ctx);
        }
    }

    fn answer(&mut self, read: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        let Command::Read { dwords } = read.command else {
            return;
        };
        let mut response = Packet::new(Command::ReadResponse, 0);
        // The example design has no memory behind its window: reads return their
        // address, so that tests can identify each dword.
        for dword in 0..u64::from(dwords.clamp(1, 16)) {
            response
                .data
                .extend_from_slice(&((read.address + 4 * dword) as u32).to_le_bytes());
        }
        response.tag = read.tag;
        response.unit_id = read.unit_id;
        self.send_to_host(response, ctx);
    }

    fn send_to_host(&mut self, mut packet: Packet, ctx: &mut Context<'_, DeviceEvent>) {
        self.packets += 1;
        packet.number = (ctx.me().index() as u64) << 40 | self.packets;
        self.hand_to_core(packet, ctx);
    }

    fn hand_to_core(&mut self, packet: Packet, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some(host) = &mut self.host {
            host.reserve(packet.channel());
        }
        let event = NicEvent::ToLink {
            packet: Box::new(packet),
            since: ctx.now(),
        };
        self.to_self(self.config.core_out(), event, ctx);
    }

    fn enter_network(&mut self, packet: Box<Packet>, ctx: &mut Context<'_, DeviceEvent>) {
        self.blocked.push_back(packet);
        self.send_blocked(ctx);
    }

    fn send_blocked(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        self.send_answers(ctx);
        while let Some(packet) = self.blocked.front() {
            let region = self.config.region(packet.address);
            let destination = match region {
                Some(region) => Some(region.host),
                None => self.config.destination(packet.address),
            };
            let output = destination.and_then(|to| Some((to, self.output(to)?)));
            if output.is_some_and(|(_, port)| !self.links[port].has_room()) {
                return;
            }
            let carried = region.map(|region| region.carried(packet));
            let Some(packet) = self.blocked.pop_front() else {
                return;
            };
            self.release(&packet, ctx);
            match output {
                Some((destination, port)) => {
                    let payload = match carried {
                        Some(_) => Some(packet.data),
                        None => self.payload(destination, packet),
                    };
                    let Some(payload) = payload else {
                        self.counters.refused += 1;
                        continue;
                    };
                    self.counters.sent += u64::from(carried.is_none());
                    self.remote.sent(carried);
                    self.counters.stages.to_port = ctx.now();
                    let message = Message {
                        destination,
                        source: self.config.id,
                        payload,
                        carried,
                    };
                    self.links[port].send(message, ctx);
                }
                None => {
                    self.counters.unroutable += 1;
                    self.refuse(&packet, ctx);
                }
            }
        }
    }

    /// What the message of a write carries: its data, or in a window the packet as it is on a link.
    fn payload(&self, destination: u16, packet: Box<Packet>) -> Option<Vec<u8>> {
        if !self.config.is_window() {
            return Some(packet.data);
        }
        let bytes = packet_bytes(&packet).ok()?;
        let way = (self.config.id, destination);
        self.notes.borrow_mut().accepted(way, &packet);
        Some(bytes)
    }

    /// A window writes what it has got to the same address on its own link.
    fn pass_on(&mut self, message: &Message, ctx: &mut Context<'_, DeviceEvent>) {
        let carried = PacketRepr::parse(&message.payload).ok();
        let Some(mut packet) = carried.as_ref().and_then(write_of) else {
            self.counters.refused += 1;
            return;
        };
        let way = (message.source, self.config.id);
        self.notes.borrow_mut().arrived(way, &mut packet);
        self.hand_to_core(packet, ctx);
    }

    fn output(&self, destination: u16) -> Option<usize> {
        let port = usize::from(*self.config.routes.get(usize::from(destination))?);
        (port < self.links.len()).then_some(port)
    }

    fn frame(&mut self, port: u8, frame: Frame, ctx: &mut Context<'_, DeviceEvent>) {
        let room = self.received.len() + self.arriving < self.config.receive_messages_max
            || frame.carried.is_some_and(remote::always_taken);
        let Some(link) = self.links.get_mut(usize::from(port)) else {
            return;
        };
        if let Some(message) = link.receive(frame, room, ctx) {
            self.arriving += 1;
            self.counters.stages.arrived = ctx.now();
            let cycles = self.config.network_in_cycles + self.config.crossbar_cycles;
            let message = Box::new(message);
            self.to_self(
                self.config.user(cycles),
                NicEvent::FromNetwork { message },
                ctx,
            );
        }
    }

    fn leave_network(&mut self, message: Box<Message>, ctx: &mut Context<'_, DeviceEvent>) {
        if message.destination == self.config.id {
            self.counters.stages.from_network = ctx.now();
            let time = self.config.user(self.config.completer_cycles);
            self.to_self(time, NicEvent::Complete { message }, ctx);
            return;
        }
        self.arriving -= 1;
        match self.output(message.destination) {
            Some(port) => {
                self.counters.forwarded += 1;
                self.links[port].send(*message, ctx);
            }
            None => self.counters.unroutable += 1,
        }
    }

    /// Hands messages to the host while its link has room.
    fn complete(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        while let Some(message) = self.received.front() {
            if !self.can_complete(message) {
                return;
            }
            let Some(message) = self.received.pop_front() else {
                return;
            };
            match message.carried {
                Some(carried) => self.serve(carried, *message, ctx),
                None if self.config.is_window() => {
                    self.counters.completed += 1;
                    self.counters.stages.completed = ctx.now();
                    self.pass_on(&message, ctx);
                }
                None => self.fill_slot(*message, ctx),
            }
        }
    }

    /// Writes payload and status into the ring.
    fn fill_slot(&mut self, message: Message, ctx: &mut Context<'_, DeviceEvent>) {
        let slot = self.config.ring_base + self.slot * 128;
        self.slot = (self.slot + 1) % self.config.ring_slots.max(1);
        self.counters.completed += 1;
        self.counters.stages.completed = ctx.now();
        let mut payload = message.payload;
        let bytes = payload.len() as u32;
        payload.resize(payload.len().next_multiple_of(4), 0);
        let mut status = vec![0; self.config.status_bytes.clamp(8, 64).next_multiple_of(4)];
        status[0..4].copy_from_slice(&(self.counters.completed as u32).to_le_bytes());
        status[4..6].copy_from_slice(&message.source.to_le_bytes());
        status[6..8].copy_from_slice(&(bytes as u16).to_le_bytes());
        if !payload.is_empty() {
            let payload = Packet::write(slot, payload);
            self.send_to_host(
                Packet {
                    unit_id: UNIT,
                    ..payload
                },
                ctx,
            );
        }
        let status = Packet::write(slot + 64, status);
        self.send_to_host(
            Packet {
                unit_id: UNIT,
                ..status
            },
            ctx,
        );
    }
}

impl Component<DeviceEvent> for Nic {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Ht(LinkEvent::Deliver { packet, .. }) => self.deliver(packet, ctx),
            DeviceEvent::Ht(LinkEvent::Sent { channel, .. }) => {
                if let Some(host) = &mut self.host {
                    host.sent(channel);
                }
                self.complete(ctx);
            }
            DeviceEvent::Frame { port, frame } => {
                self.frame(port, *frame, ctx);
                self.send_blocked(ctx);
            }
            DeviceEvent::LinkPort(event) => {
                if let Some(port) = self.links.get_mut(usize::from(event.port())) {
                    port.handle(&event, ctx);
                }
                self.send_blocked(ctx);
            }
            DeviceEvent::Nic(event) => match event {
                NicEvent::FromCore { packet, since } => {
                    self.counters.core_in = ctx.now() - since;
                    self.leave_core(packet, ctx);
                }
                NicEvent::ToLink { packet, since } => {
                    self.counters.core_out = ctx.now() - since;
                    self.counters.stages.to_link = ctx.now();
                    if let Some(host) = &self.host {
                        host.submit(packet, Ps::ZERO, ctx);
                    }
                }
                NicEvent::ReadDone { packet } => self.answer(&packet, ctx),
                NicEvent::ToNetwork { packet } => self.enter_network(packet, ctx),
                NicEvent::FromNetwork { message } => self.leave_network(message, ctx),
                NicEvent::Complete { message } => {
                    self.arriving -= 1;
                    self.arrived(message, ctx);
                }
                NicEvent::Answer { message } => {
                    self.remote.answer(message);
                    self.send_answers(ctx);
                }
            },
            _ => {}
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let mut waits: Vec<_> = self
            .links
            .iter()
            .filter(|port| port.pending() > 0)
            .map(|port| Wait {
                resource: format!("acknowledgement of {} messages", port.pending()),
                holder: port.cable(),
            })
            .collect();
        if !self.blocked.is_empty() && self.config.is_window() {
            waits.push(Wait {
                resource: format!("room in a link port for {} writes", self.blocked.len()),
                holder: None,
            });
        }
        waits.extend(self.remote.waits(self.host.as_ref()));
        if !self.received.is_empty() {
            let resource = format!(
                "room for {} completions on the host link",
                self.received.len()
            );
            waits.push(Wait {
                resource,
                holder: self.host.as_ref().map(Port::link),
            });
        }
        waits
    }

    fn faults(&self) -> Vec<String> {
        let counters = &self.counters;
        let faults = [
            (counters.unroutable, "no board takes the address"),
            (counters.refused, "not posted writes"),
        ];
        let faults = faults.into_iter().filter(|(count, _)| *count > 0);
        faults
            .map(|(count, why)| format!("has dropped {count} packets: {why}"))
            .collect()
    }
}
