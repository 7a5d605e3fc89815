//! A bridge from HyperTransport to PCI Express.
//!
//! Posted writes of its HyperTransport link become memory writes on its PCI Express link, and the other
//! way round, to the same address; `reads` of devices below go to memory, and `loads` of the processor to
//! the devices. A buffer is free when its packet leaves on the other link. Posted writes wait for posted
//! writes only; reads and answers also wait for writes that came before them. Scope and sources:
//! `docs/sim/bridge.md`.

mod convert;
mod loads;
mod reads;

use std::collections::VecDeque;
use std::rc::Rc;

use hostwire_packet::pcie::{CreditClass, CreditCost, HeaderRepr, Operation, RoutingId};
use hostwire_plan::BridgePlan;

use crate::engine::{Component, ComponentId, Context, Ps, Wait};
use crate::models::DeviceEvent;
use crate::models::ht::opteron::packet_number;
use crate::models::ht::{Command, Packet, PacketBuffers, Port, VirtualChannel};
use crate::models::link::{End, LinkEvent};

use super::Tlp;
use convert::{packets_of, tlps_of};
use loads::Loads;
use reads::{Next, Reads};

const DWORD_BYTES: u64 = 4;

/// Stages of a bridge.
#[derive(Debug)]
pub enum BridgeEvent {
    /// A packet is ready for the PCI Express link.
    Down(Box<Packet>),
    /// A TLP is ready for the HyperTransport link.
    Up(Rc<Tlp>),
}

impl BridgeEvent {
    pub(in crate::models) fn digest(&self) -> u64 {
        match self {
            BridgeEvent::Down(packet) => 1 | packet.digest() << 8,
            BridgeEvent::Up(tlp) => 2 | tlp.digest() << 8,
        }
    }
}

/// Counters of a bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounters {
    /// Writes that came by HyperTransport.
    pub down: u64,
    /// Writes that came by PCI Express.
    pub up: u64,
    /// When the first one came by HyperTransport.
    pub first_down: Option<Ps>,
    /// When the last one was handed to the HyperTransport link.
    pub last_up: Ps,
    /// Loads of the processor.
    pub loads: u64,
    /// Read requests that came by PCI Express.
    pub reads: u64,
    /// When the last of them came.
    pub last_read: Ps,
    /// When the last completion was handed to the PCI Express link.
    pub last_completion: Ps,
    /// Packets and TLPs dropped: writes that cannot be expressed, and answers that nobody waits for.
    pub refused: u64,
}

/// The component.
pub struct Bridge {
    down: Ps,
    up: Ps,
    id: RoutingId,
    host: Option<Port>,
    below: Option<(ComponentId, End)>,
    /// For each TLP that the PCI Express link has not begun to transmit the buffers that it frees.
    going: VecDeque<Option<PacketBuffers>>,
    /// Packets that wait for the HyperTransport link, with the credits that each of them frees.
    coming: VecDeque<(Box<Packet>, Option<CreditCost>)>,
    /// Posted packets that have come and gone so, for those behind them.
    came: u64,
    gone: u64,
    reads: Reads,
    loads: Loads,
    /// Packets of its own.
    packets: u64,
    counters: BridgeCounters,
}

impl Bridge {
    /// A bridge that nothing is plugged into.
    pub fn new(id: RoutingId, plan: &BridgePlan) -> Bridge {
        Bridge {
            down: Ps(plan.down_ps),
            up: Ps(plan.up_ps),
            id,
            host: None,
            below: None,
            going: VecDeque::new(),
            coming: VecDeque::new(),
            came: 0,
            gone: 0,
            reads: Reads::new(plan),
            loads: Loads::default(),
            packets: 0,
            counters: BridgeCounters::default(),
        }
    }

    /// Plugs it into its HyperTransport link.
    pub fn attach(&mut self, host: Port) {
        self.host = Some(host);
    }

    /// Plugs a PCI Express link in below.
    pub fn attach_below(&mut self, link: ComponentId, end: End) {
        self.below = Some((link, end));
    }

    /// Its counters.
    pub fn counters(&self) -> BridgeCounters {
        self.counters
    }

    fn to_self(time: Ps, event: BridgeEvent, ctx: &mut Context<'_, DeviceEvent>) {
        ctx.schedule(ctx.me(), time, DeviceEvent::Bridge(event));
    }

    fn take_packet(&mut self, packet: Box<Packet>, ctx: &mut Context<'_, DeviceEvent>) {
        match packet.command {
            Command::WriteDwords | Command::WriteMasked { .. } => {
                self.counters.down += 1;
                self.counters.first_down.get_or_insert(ctx.now());
                Self::to_self(self.down, BridgeEvent::Down(packet), ctx);
            }
            Command::Broadcast { .. } => self.release(PacketBuffers::of(&packet), ctx),
            Command::Read { .. } => {
                self.counters.loads += 1;
                Self::to_self(self.down, BridgeEvent::Down(packet), ctx);
            }
            Command::ReadResponse | Command::MasterAbort => {
                // There is room for its data since it was asked for.
                self.release(PacketBuffers::of(&packet), ctx);
                Self::to_self(self.down, BridgeEvent::Down(packet), ctx);
            }
        }
    }

    fn refuse(&mut self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        self.counters.refused += 1;
        self.release(PacketBuffers::of(packet), ctx);
    }

    fn release(&self, place: PacketBuffers, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some(host) = &self.host {
            host.release(place.channel, place.data, ctx);
        }
    }

    fn submit(&self, tlp: Tlp, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some((link, end)) = self.below {
            let packet = Rc::new(tlp);
            let submit = LinkEvent::Submit { end, packet };
            ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(submit));
        }
    }

    /// Hands what came by HyperTransport to the PCI Express link.
    fn go_down(&mut self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        match packet.command {
            Command::Read { .. } => match self.loads.begin(self.id, packet) {
                Some(tlp) => {
                    self.loads.going.push_back(PacketBuffers::of(packet));
                    self.submit(tlp, ctx);
                }
                None => {
                    self.release(PacketBuffers::of(packet), ctx);
                    self.loads.abort(packet, self.came);
                    self.hand_over(ctx);
                }
            },
            Command::ReadResponse | Command::MasterAbort => self.complete(packet, ctx),
            _ => self.send_down(packet, ctx),
        }
    }

    /// An answer to a read of a device below.
    fn complete(&mut self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(completions) = self.reads.answer(self.id, packet) else {
            self.counters.refused += 1;
            return;
        };
        for tlp in completions {
            self.counters.last_completion = ctx.now();
            self.submit(tlp, ctx);
        }
        // A tag is free.
        self.hand_over(ctx);
    }

    /// Hands a write to the PCI Express link.
    fn send_down(&mut self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        let (Some(tlps), Some(_)) = (tlps_of(packet, self.id), self.below) else {
            return self.refuse(packet, ctx);
        };
        let count = tlps.len();
        if count == 0 {
            // A mask without bytes.
            return self.release(PacketBuffers::of(packet), ctx);
        }
        for (part, tlp) in (1..).zip(tlps) {
            self.going
                .push_back((part == count).then(|| PacketBuffers::of(packet)));
            self.submit(tlp, ctx);
        }
    }

    fn take_tlp(&mut self, tlp: Rc<Tlp>, ctx: &mut Context<'_, DeviceEvent>) {
        match tlp.header {
            HeaderRepr::Memory(request) if request.operation == Operation::Write => {
                self.counters.up += 1;
            }
            HeaderRepr::Memory(_) => {
                self.counters.reads += 1;
                self.counters.last_read = ctx.now();
            }
            HeaderRepr::Completion(_) => {}
        }
        Self::to_self(self.up, BridgeEvent::Up(tlp), ctx);
    }

    /// What came by PCI Express is ready for the HyperTransport link.
    fn go_up(&mut self, tlp: Rc<Tlp>, ctx: &mut Context<'_, DeviceEvent>) {
        match &tlp.header {
            HeaderRepr::Memory(request) if request.operation == Operation::Read => {
                self.reads.begin(tlp, self.came);
            }
            HeaderRepr::Memory(_) => self.write_up(&tlp, ctx),
            HeaderRepr::Completion(header) => {
                let known = self.loads.complete(header, &tlp.data, self.came);
                self.counters.refused += u64::from(!known);
                self.free(tlp.cost(), ctx);
            }
        }
        self.hand_over(ctx);
    }

    fn write_up(&mut self, tlp: &Tlp, ctx: &mut Context<'_, DeviceEvent>) {
        let mut packets = packets_of(tlp);
        self.came += packets.len() as u64;
        let last = packets.pop();
        self.coming
            .extend(packets.into_iter().map(|packet| (Box::new(packet), None)));
        match last {
            Some(last) => self.coming.push_back((Box::new(last), Some(tlp.cost()))),
            None => self.free(tlp.cost(), ctx),
        }
    }

    fn free(&self, cost: CreditCost, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some((link, end)) = self.below {
            let release = LinkEvent::Release { end, cost };
            ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(release));
        }
    }

    /// Hands what has come to the HyperTransport link, as far as there is room.
    fn hand_over(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        while let Some(host) = &mut self.host
            && host.room(VirtualChannel::Posted)
            && let Some((packet, cost)) = self.coming.pop_front()
        {
            host.reserve(VirtualChannel::Posted);
            host.submit(packet, Ps::ZERO, ctx);
            self.gone += 1;
            self.counters.last_up = ctx.now();
            if let Some(cost) = cost {
                self.free(cost, ctx);
            }
        }
        while self.has_room(VirtualChannel::Response)
            && let Some(answer) = self.loads.next(self.gone)
        {
            self.send_up(answer, ctx);
        }
        while self.has_room(VirtualChannel::NonPosted)
            && let Some(next) = self.reads.next(self.gone)
        {
            let cost = match next {
                Next::Ask(packet, cost) => {
                    self.send_up(packet, ctx);
                    cost
                }
                Next::Drop(cost) => Some(cost),
            };
            if let Some(cost) = cost {
                self.free(cost, ctx);
            }
        }
    }

    fn has_room(&self, channel: VirtualChannel) -> bool {
        let host = self.host.as_ref();
        host.is_some_and(|host| host.room(channel))
    }

    /// Sends a packet of its own.
    fn send_up(&mut self, mut packet: Packet, ctx: &mut Context<'_, DeviceEvent>) {
        self.packets += 1;
        packet.number = packet_number(ctx.me(), self.packets);
        if let Some(host) = &mut self.host {
            host.reserve(packet.channel());
            host.submit(Box::new(packet), Ps::ZERO, ctx);
        }
    }

    /// The PCI Express link has begun to transmit.
    fn sent_down(&mut self, class: CreditClass, ctx: &mut Context<'_, DeviceEvent>) {
        match class {
            CreditClass::Posted => {
                if let Some(Some(place)) = self.going.pop_front() {
                    self.release(place, ctx);
                }
            }
            CreditClass::NonPosted => {
                if let Some(place) = self.loads.going.pop_front() {
                    self.release(place, ctx);
                }
            }
            CreditClass::Completion => {
                self.reads.sent();
                self.hand_over(ctx);
            }
        }
    }
}

impl Component<DeviceEvent> for Bridge {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Ht(LinkEvent::Deliver { packet, .. }) => self.take_packet(packet, ctx),
            DeviceEvent::Ht(LinkEvent::Sent { channel, .. }) => {
                if let Some(host) = &mut self.host {
                    host.sent(channel);
                }
                self.hand_over(ctx);
            }
            DeviceEvent::Pcie(LinkEvent::Deliver { packet, .. }) => self.take_tlp(packet, ctx),
            DeviceEvent::Pcie(LinkEvent::Sent { channel, .. }) => self.sent_down(channel, ctx),
            DeviceEvent::Bridge(BridgeEvent::Down(packet)) => self.go_down(&packet, ctx),
            DeviceEvent::Bridge(BridgeEvent::Up(tlp)) => self.go_up(tlp, ctx),
            _ => {}
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        if !self.going.is_empty() {
            waits.push(Wait {
                resource: format!("its PCI Express link to take {} TLPs", self.going.len()),
                holder: self.below.map(|(link, _)| link),
            });
        }
        if !self.coming.is_empty() {
            waits.push(Wait {
                resource: format!("room for {} writes on its link", self.coming.len()),
                holder: self.host.as_ref().map(Port::link),
            });
        }
        if self.reads.open() > 0 {
            waits.push(Wait {
                resource: format!("memory to answer {} reads", self.reads.open()),
                holder: self.host.as_ref().map(Port::link),
            });
        }
        if self.loads.open() > 0 {
            waits.push(Wait {
                resource: format!("answers to {} loads", self.loads.open()),
                holder: self.below.map(|(link, _)| link),
            });
        }
        waits
    }

    fn faults(&self) -> Vec<String> {
        let refused = self.counters.refused;
        let fault = || format!("has dropped {refused} packets that it could not pass on");
        (refused > 0).then(fault).into_iter().collect()
    }
}
