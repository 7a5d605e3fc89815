//! A device with a DMA engine on a PCI Express link: the copy engine of a GPU, or a network adapter
//! that sends what it reads to another one.

use std::collections::VecDeque;
use std::rc::Rc;

use hostwire_packet::pcie::{HeaderRepr, RoutingId};

use crate::engine::{Component, ComponentId, Context, Ps};
use crate::models::DeviceEvent;
use crate::models::link::{End, LinkEvent};

use super::{Tlp, parts};

/// Parameters of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoverConfig {
    /// Largest payload of a TLP.
    pub payload_bytes: u64,
    /// Largest read request.
    pub read_bytes: u64,
    /// Reads that are open.
    pub read_tags: usize,
    /// TLPs between the engine and the link.
    pub places: usize,
}

/// The way from a network adapter to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Time of a KiB on the wire.
    pub kib: Ps,
    /// Most data in a packet.
    pub packet_bytes: u64,
    /// Headers and checks of a packet.
    pub overhead_bytes: u64,
    /// From the end of a packet at one adapter's engine to the engine of the other one: both
    /// adapters, the cables, the switch.
    pub latency: Ps,
}

/// What a device is to do.
#[derive(Debug)]
pub enum MoverEvent {
    /// Write these bytes to this bus address of the host.
    Write(Box<(u64, Vec<u8>)>),
    /// Read from the host: bus address, bytes; and send them to the other adapter, to be written at
    /// the last address, if there is one.
    Read(Box<(u64, u64, Option<u64>)>),
}

/// A device.
pub struct Mover {
    config: MoverConfig,
    id: RoutingId,
    link: Option<(ComponentId, End)>,
    peer: Option<(ComponentId, Network)>,
    /// When the wire to the other adapter is free.
    wire_free: Ps,
    writes: VecDeque<Rc<Tlp>>,
    unsent: usize,
    job: Option<Job>,
    /// What was read, if it was not sent on.
    got: Vec<u8>,
}

/// A read of consecutive bytes.
struct Job {
    bus: u64,
    bytes: u64,
    asked: u64,
    /// Open reads in order: tag, length, data so far.
    open: VecDeque<(u8, usize, Vec<u8>)>,
    next_tag: u8,
    /// Bytes that have come in order.
    done: u64,
    /// Where the other adapter writes, and what does not fill a packet yet.
    to: Option<u64>,
    packet: Vec<u8>,
}

impl Mover {
    /// A device with nothing attached.
    pub fn new(id: RoutingId, config: MoverConfig) -> Mover {
        Mover {
            config,
            id,
            link: None,
            peer: None,
            wire_free: Ps::ZERO,
            writes: VecDeque::new(),
            unsent: 0,
            job: None,
            got: Vec::new(),
        }
    }

    /// Attaches its link.
    pub fn attach(&mut self, link: ComponentId, end: End) {
        self.link = Some((link, end));
    }

    /// Attaches the other adapter.
    pub fn connect(&mut self, peer: ComponentId, network: Network) {
        self.peer = Some((peer, network));
    }

    /// What it has read from the host, if it was not for the other adapter.
    pub fn got(&self) -> &[u8] {
        &self.got
    }

    fn write(&mut self, bus: u64, bytes: &[u8], ctx: &mut Context<'_, DeviceEvent>) {
        for (offset, len) in parts(bus, bytes.len() as u64, self.config.payload_bytes) {
            let data = bytes.get(offset as usize..(offset + len) as usize);
            let tlp = Tlp::write(self.id, bus + offset, data.unwrap_or_default());
            self.writes.extend(tlp.ok().map(Rc::new));
        }
        self.advance(ctx);
    }

    fn advance(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let Some((link, end)) = self.link else { return };
        while self.unsent < self.config.places
            && let Some(packet) = self.writes.pop_front()
        {
            self.unsent += 1;
            let submit = LinkEvent::Submit { end, packet };
            ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(submit));
        }
        while self.unsent < self.config.places
            && let Some(packet) = self.next_read()
        {
            self.unsent += 1;
            let submit = LinkEvent::Submit { end, packet };
            ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(submit));
        }
    }

    fn next_read(&mut self) -> Option<Rc<Tlp>> {
        let (tags, step) = (self.config.read_tags, self.config.read_bytes);
        let job = self.job.as_mut()?;
        if job.asked == job.bytes || job.open.len() >= tags {
            return None;
        }
        let bus = job.bus + job.asked;
        let part = (step - bus % step).min(job.bytes - job.asked);
        let tag = job.next_tag;
        let tlp = Tlp::read(self.id, tag, bus, part as usize).ok()?;
        job.next_tag = job.next_tag.wrapping_add(1);
        job.asked += part;
        let len = tlp.memory().map_or(0, |read| read.dwords.len_bytes());
        job.open.push_back((tag, len, Vec::new()));
        Some(Rc::new(tlp))
    }

    /// A completion has come in.
    fn complete(&mut self, tlp: &Tlp, ctx: &mut Context<'_, DeviceEvent>) {
        if let (Some((link, end)), cost) = (self.link, tlp.cost()) {
            let release = LinkEvent::Release { end, cost };
            ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(release));
        }
        let (HeaderRepr::Completion(header), Some(job)) = (&tlp.header, &mut self.job) else {
            return;
        };
        let mut open = job.open.iter_mut();
        if let Some((_, _, data)) =
            open.find(|(tag, len, data)| *tag == header.tag && data.len() < *len)
        {
            data.extend_from_slice(&tlp.data);
        }
        while job
            .open
            .front()
            .is_some_and(|(_, len, data)| data.len() >= *len)
        {
            let (_, len, data) = job.open.pop_front().unwrap_or_default();
            job.done += len as u64;
            job.packet.extend(data);
        }
        self.pass_on(ctx);
        self.advance(ctx);
    }

    /// Sends packets that are full, or the last one; keeps the data if nobody is to get them.
    fn pass_on(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(job) = &mut self.job else { return };
        let is_over = job.done >= job.bytes;
        match (&self.peer, job.to) {
            (Some((peer, network)), Some(to)) => {
                let mut to = to;
                let most = network.packet_bytes as usize;
                while job.packet.len() >= most || is_over && !job.packet.is_empty() {
                    let rest = job.packet.split_off(most.min(job.packet.len()));
                    let data = std::mem::replace(&mut job.packet, rest);
                    let bytes = data.len() as u64 + network.overhead_bytes;
                    let wire = Ps(network.kib.0.saturating_mul(bytes) / 1024);
                    self.wire_free = self.wire_free.max(ctx.now()) + wire;
                    let at = self.wire_free + network.latency;
                    let len = data.len() as u64;
                    let write = MoverEvent::Write(Box::new((to, data)));
                    ctx.schedule_at(*peer, at, DeviceEvent::Mover(write));
                    to += len;
                }
                job.to = Some(to);
            }
            _ => self.got.append(&mut job.packet),
        }
        if is_over {
            self.job = None;
        }
    }
}

impl Component<DeviceEvent> for Mover {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Mover(MoverEvent::Write(write)) => self.write(write.0, &write.1, ctx),
            DeviceEvent::Mover(MoverEvent::Read(read)) => {
                let (bus, bytes, to) = *read;
                self.got.clear();
                self.job = Some(Job {
                    bus,
                    bytes,
                    asked: 0,
                    open: VecDeque::new(),
                    next_tag: 0,
                    done: 0,
                    to,
                    packet: Vec::new(),
                });
                self.advance(ctx);
            }
            DeviceEvent::Pcie(LinkEvent::Deliver { packet, .. }) => self.complete(&packet, ctx),
            DeviceEvent::Pcie(LinkEvent::Sent { .. }) => {
                self.unsent = self.unsent.saturating_sub(1);
                self.advance(ctx);
            }
            _ => {}
        }
    }
}

impl MoverEvent {
    pub(in crate::models) fn digest(&self) -> u64 {
        match self {
            MoverEvent::Write(write) => write.0.rotate_left(8) ^ write.1.len() as u64,
            MoverEvent::Read(read) => 1 ^ read.0.rotate_left(8) ^ read.1 << 1,
        }
    }
}
