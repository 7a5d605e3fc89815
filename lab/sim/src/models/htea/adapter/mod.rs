//! An adapter for HyperTransport over Ethernet, as a device on a HyperTransport link.
//!
//! It takes posted writes, finds the adapter of the node that an address belongs to, and hands them
//! to a virtual link of `hostwire-link`, which makes real frames. What arrives becomes writes on the
//! own link. Scope and sources: `docs/sim/htea.md`.

mod config;

pub use config::{AdapterConfig, switch};

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use hostwire_link::{Filled, LinkId, SendError};
use hostwire_packet::ht::PacketRepr;
use hostwire_plan::{AddressRange, GlobalAddress};

use crate::engine::{Component, ComponentId, Context, Ps, Wait};

use crate::models::DeviceEvent;
use crate::models::ethernet::{Driver, EtherEvent, EtherFrame};
use crate::models::ht::Port;
use crate::models::ht::carry::{Notes, write_of};
use crate::models::ht::packet_bytes;
use crate::models::ht::{Command, Packet, VirtualChannel};
use crate::models::link::LinkEvent;

/// Stages of the adapter.
#[derive(Debug)]
pub enum AdapterEvent {
    /// An outgoing packet has been mapped.
    Mapped(Box<Packet>),
    /// The frame in the encapsulation stage is ready, and the MAC takes it.
    Encapsulated,
    /// A frame has left the de-encapsulation stage.
    Deencapsulated(Box<EtherFrame>),
    /// So many more incoming packets have passed their queue.
    Queued(u16),
}

impl AdapterEvent {
    pub(in crate::models) fn digest(&self) -> u64 {
        match self {
            AdapterEvent::Mapped(packet) => 1 | packet.digest() << 8,
            AdapterEvent::Encapsulated => 2,
            AdapterEvent::Deencapsulated(frame) => 3 | frame.digest() << 8,
            AdapterEvent::Queued(packets) => 4 | u64::from(*packets) << 8,
        }
    }
}

/// Counters of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdapterCounters {
    /// Writes that a virtual link has accepted.
    pub sent: u64,
    /// Writes that have left for the own processor.
    pub received: u64,
    /// Bytes of data in the writes sent and received.
    pub data_bytes: [u64; 2],
    /// When the first write came by the own link.
    pub first_in: Option<Ps>,
    /// When the last write left on the own link.
    pub last_out: Ps,
    /// Frames sent, also those without packets and those sent again.
    pub frames: u64,
    /// Packets dropped that are not posted writes.
    pub refused: u64,
    /// Writes dropped whose address belongs to no other node.
    pub unroutable: u64,
    /// Writes dropped because their virtual link is closed.
    pub lost: u64,
    /// Frames for which the incoming MAC had no room.
    pub overrun: u64,
}

/// A write that has come over Ethernet.
struct Arrived {
    packet: Box<Packet>,
    link: LinkId,
    /// The buffer that it fills.
    filled: Filled,
}

/// The component.
pub struct Adapter {
    config: AdapterConfig,
    host: Option<Port>,
    switch: ComponentId,
    driver: Driver,
    /// The adapters, by number; the virtual link to each.
    peers: Vec<(ComponentId, Option<LinkId>)>,
    targets: Vec<(AddressRange, u16)>,
    notes: Rc<RefCell<Notes>>,
    /// Mapped writes that no virtual link has accepted yet. They keep the buffers of the own link.
    mapped: VecDeque<Box<Packet>>,
    encapsulating: Option<Box<EtherFrame>>,
    port_free: Ps,
    /// Frames in the incoming MAC and the stage behind it.
    incoming: u64,
    deencapsulation_free: Ps,
    arrived: VecDeque<Arrived>,
    /// Those of them that have passed the queue.
    queued: usize,
    counters: AdapterCounters,
    failed: Option<String>,
}

impl Adapter {
    /// Adapter `me` on a switch, which sends to others by `targets`. It is not connected yet.
    ///
    /// # Errors
    /// A text, if its endpoint cannot be made.
    pub fn new(
        config: AdapterConfig,
        (me, switch): (u16, ComponentId),
        targets: Vec<(AddressRange, u16)>,
        notes: &Rc<RefCell<Notes>>,
    ) -> Result<Adapter, String> {
        Ok(Adapter {
            driver: Driver::new(me, config.endpoint(me)?),
            config,
            host: None,
            switch,
            peers: Vec::new(),
            targets,
            notes: Rc::clone(notes),
            mapped: VecDeque::new(),
            encapsulating: None,
            port_free: Ps::ZERO,
            incoming: 0,
            deencapsulation_free: Ps::ZERO,
            arrived: VecDeque::new(),
            queued: 0,
            counters: AdapterCounters::default(),
            failed: None,
        })
    }

    /// Plugs the adapter into its link.
    pub fn attach(&mut self, host: Port) {
        self.host = Some(host);
    }

    /// Opens virtual links to the other adapters; all adapters by number.
    ///
    /// # Errors
    /// A text, if the endpoint does not take one of them.
    pub fn connect(&mut self, adapters: &[ComponentId]) -> Result<(), String> {
        for (number, component) in (0..).zip(adapters) {
            let link = match number == self.driver.me() {
                true => None,
                false => Some(self.driver.open(number)?),
            };
            self.peers.push((*component, link));
        }
        Ok(())
    }

    /// Parameters.
    pub fn config(&self) -> &AdapterConfig {
        &self.config
    }

    /// Its counters.
    pub fn counters(&self) -> AdapterCounters {
        self.counters
    }

    /// Its endpoint, for the counters of virtual links.
    pub fn endpoint(&self) -> &hostwire_link::Endpoint {
        self.driver.endpoint()
    }

    fn to_self(time: Ps, event: AdapterEvent, ctx: &mut Context<'_, DeviceEvent>) {
        ctx.schedule(ctx.me(), time, DeviceEvent::Adapter(event));
    }

    fn release(&self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some(host) = &self.host {
            host.release(packet.channel(), packet.has_data(), ctx);
        }
    }

    fn deliver(&mut self, packet: Box<Packet>, ctx: &mut Context<'_, DeviceEvent>) {
        match packet.command {
            Command::WriteDwords | Command::WriteMasked { .. } => {
                self.counters.first_in.get_or_insert(ctx.now());
                Self::to_self(self.config.mapping(), AdapterEvent::Mapped(packet), ctx);
            }
            Command::Broadcast { .. } => self.release(&packet, ctx),
            _ => {
                self.counters.refused += 1;
                self.release(&packet, ctx);
            }
        }
    }

    /// The adapter of the node that an address belongs to, and the virtual link to it.
    fn target(&self, address: u64) -> Option<(u16, LinkId)> {
        let address = GlobalAddress(address);
        let after = self
            .targets
            .partition_point(|(range, _)| range.start <= address);
        let (range, number) = self.targets.get(after.checked_sub(1)?)?;
        let (_, link) = self.peers.get(usize::from(*number))?;
        (address <= range.last()).then_some((*number, (*link)?))
    }

    /// Hands mapped writes to their virtual links, in order, until one has no room.
    fn accept(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        while let Some(packet) = self.mapped.front() {
            let Some((number, link)) = self.target(packet.address) else {
                self.counters.unroutable += 1;
                self.drop_mapped(ctx);
                continue;
            };
            let Ok(bytes) = packet_bytes(packet) else {
                self.counters.refused += 1;
                self.drop_mapped(ctx);
                continue;
            };
            let sent = PacketRepr::parse(&bytes)
                .map_err(SendError::Packet)
                .and_then(|write| self.driver.endpoint_mut().send(link, &write));
            match sent {
                Ok(()) => {
                    let way = (self.driver.me(), number);
                    self.notes.borrow_mut().accepted(way, packet);
                    self.counters.sent += 1;
                    self.counters.data_bytes[0] += packet.data.len() as u64;
                }
                Err(SendError::Full { .. } | SendError::Opening(_)) => return,
                Err(error) => {
                    self.counters.lost += 1;
                    self.failed.get_or_insert_with(|| error.to_string());
                }
            }
            self.drop_mapped(ctx);
        }
    }

    /// The first mapped write is done with: its buffer on the own link is free.
    fn drop_mapped(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some(packet) = self.mapped.pop_front() {
            self.release(&packet, ctx);
        }
    }

    /// Starts the encapsulation of the next frame, if the stage is free.
    fn encapsulate(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        if self.encapsulating.is_some() {
            return;
        }
        let Some(frame) = self.driver.next_frame(ctx.now()) else {
            return;
        };
        // The stage keeps its frame until the MAC has sent the one before.
        let ready = ctx.now() + self.config.encapsulation(&frame);
        let ready = ready.max(self.port_free);
        self.encapsulating = Some(frame);
        let event = DeviceEvent::Adapter(AdapterEvent::Encapsulated);
        ctx.schedule_at(ctx.me(), ready, event);
    }

    fn transmit(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(frame) = self.encapsulating.take() else {
            return;
        };
        self.counters.frames += 1;
        self.port_free = ctx.now() + self.config.wire(&frame);
        let after = self.config.mac_out(&frame);
        let arrive = DeviceEvent::Ethernet(EtherEvent::Arrive(frame));
        ctx.schedule(self.switch, after, arrive);
    }

    /// A frame has come whole: it passes the MAC and waits for the stage.
    fn arrive(&mut self, frame: Box<EtherFrame>, ctx: &mut Context<'_, DeviceEvent>) {
        let most = self.config.parts.incoming_frames;
        if most > 0 && self.incoming >= most {
            self.counters.overrun += 1;
            return;
        }
        self.incoming += 1;
        let begin = (ctx.now() + self.config.mac_in()).max(self.deencapsulation_free);
        self.deencapsulation_free = begin + self.config.deencapsulation(&frame);
        let event = DeviceEvent::Adapter(AdapterEvent::Deencapsulated(frame));
        ctx.schedule_at(ctx.me(), self.deencapsulation_free, event);
    }

    fn receive(&mut self, frame: &EtherFrame, ctx: &mut Context<'_, DeviceEvent>) {
        self.incoming = self.incoming.saturating_sub(1);
        let Some(delivery) = self.driver.receive(frame, ctx.now()) else {
            return;
        };
        let (link, none) = (delivery.link, delivery.none_filled());
        let way = (frame.from, frame.to);
        let mut packets = 0;
        for carried in delivery.packets {
            let mut filled = none;
            filled.add(&carried);
            let Some(mut packet) = write_of(&carried) else {
                continue;
            };
            self.notes.borrow_mut().arrived(way, &mut packet);
            packets += 1;
            self.arrived.push_back(Arrived {
                packet: Box::new(packet),
                link,
                filled,
            });
        }
        if packets > 0 {
            Self::to_self(self.config.queuing(), AdapterEvent::Queued(packets), ctx);
        }
    }

    /// Hands what has arrived to the own link, as far as there is room. Then its buffers are free.
    fn hand_over(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        while self.queued > 0
            && let Some(host) = &mut self.host
            && host.room(VirtualChannel::Posted)
            && let Some(arrived) = self.arrived.pop_front()
        {
            self.queued -= 1;
            host.reserve(VirtualChannel::Posted);
            self.counters.data_bytes[1] += arrived.packet.data.len() as u64;
            host.submit(arrived.packet, Ps::ZERO, ctx);
            self.counters.received += 1;
            self.counters.last_out = ctx.now();
            let released = self.driver.release(arrived.link, arrived.filled, ctx.now());
            if let Err(error) = released {
                self.failed.get_or_insert(error);
            }
        }
    }

    fn stage(&mut self, event: AdapterEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            AdapterEvent::Mapped(packet) => self.mapped.push_back(packet),
            AdapterEvent::Encapsulated => self.transmit(ctx),
            AdapterEvent::Deencapsulated(frame) => self.receive(&frame, ctx),
            AdapterEvent::Queued(packets) => {
                self.queued += usize::from(packets);
                self.hand_over(ctx);
            }
        }
    }
}

impl Component<DeviceEvent> for Adapter {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Ht(LinkEvent::Deliver { packet, .. }) => {
                return self.deliver(packet, ctx);
            }
            DeviceEvent::Ht(LinkEvent::Sent { channel, .. }) => {
                if let Some(host) = &mut self.host {
                    host.sent(channel);
                }
                self.hand_over(ctx);
            }
            DeviceEvent::Ethernet(event) => match event {
                EtherEvent::Arrive(frame) => return self.arrive(frame, ctx),
                EtherEvent::Timer if self.driver.is_due(ctx.now()) => {}
                // A timer that an earlier one has replaced, and events of others.
                EtherEvent::Timer | EtherEvent::Join(_) | EtherEvent::Free => return,
                EtherEvent::Start => {}
            },
            DeviceEvent::Adapter(event) => self.stage(event, ctx),
            _ => return,
        }
        self.driver.catch_up(ctx.now());
        self.accept(ctx);
        self.encapsulate(ctx);
        self.driver.set_timer(ctx);
    }

    fn waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        if let Some(packet) = self.mapped.front() {
            let target = self.target(packet.address);
            let peer = target.and_then(|(number, _)| self.peers.get(usize::from(number)));
            waits.push(Wait {
                resource: format!("room on a virtual link for {} writes", self.mapped.len()),
                holder: peer.map(|(component, _)| *component),
            });
        }
        for (component, link) in &self.peers {
            let Some(link) = *link else {
                continue;
            };
            let endpoint = self.driver.endpoint();
            for (count, what) in [
                (
                    endpoint.queued(link, VirtualChannel::Posted),
                    "credits for writes on a virtual link",
                ),
                (endpoint.frames_kept(link), "acknowledgements of frames"),
            ] {
                if count > 0 {
                    waits.push(Wait {
                        resource: format!("{count} {what}"),
                        holder: Some(*component),
                    });
                }
            }
        }
        if !self.arrived.is_empty() {
            waits.push(Wait {
                resource: format!("room for {} writes on its link", self.arrived.len()),
                holder: self.host.as_ref().map(Port::link),
            });
        }
        waits
    }

    fn faults(&self) -> Vec<String> {
        let counters = &self.counters;
        let mut faults = Vec::new();
        for (count, why) in [
            (counters.refused, "not posted writes"),
            (counters.unroutable, "the address belongs to no other node"),
            (counters.lost, "the virtual link is closed"),
        ] {
            if count > 0 {
                faults.push(format!("has dropped {count} packets: {why}"));
            }
        }
        faults.extend(self.failed.iter().map(|why| format!("reports: {why}")));
        faults
    }
}
