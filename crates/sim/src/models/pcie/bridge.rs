//! A bridge from HyperTransport to PCI Express.
//!
//! Posted writes of its HyperTransport link become memory writes on its PCI Express link, and the other
//! way round, to the same address. A buffer is free when its packet leaves on the other link. Scope and
//! sources: `docs/sim/bridge.md`.

use std::collections::VecDeque;
use std::rc::Rc;

use hostwire_packet::pcie::{
    ByteEnables, CreditClass, CreditCost, MemoryRepr, Operation, RoutingId,
};
use hostwire_plan::BridgePlan;

use crate::engine::{Component, ComponentId, Context, Ps, Wait};
use crate::models::DeviceEvent;
use crate::models::ht::carry::Note;
use crate::models::ht::{Command, PAYLOAD_BYTES_MAX, Packet, Place, Port, VirtualChannel};
use crate::models::link::{End, LinkEvent};

use super::Tlp;

const DWORD_BYTES: u64 = 4;
/// A byte mask of HyperTransport is for an aligned block of so many bytes.
const MASK_BYTES: u64 = 32;
const ALL_BYTES: u8 = 0xf;

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
    /// Packets and TLPs dropped that are not posted writes.
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
    going: VecDeque<Option<Place>>,
    /// Packets that wait for the HyperTransport link, with the credits that each of them frees.
    coming: VecDeque<(Box<Packet>, Option<CreditCost>)>,
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
            Command::Broadcast { .. } => self.release(Place::of(&packet), ctx),
            _ => self.refuse(&packet, ctx),
        }
    }

    fn refuse(&mut self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        self.counters.refused += 1;
        self.release(Place::of(packet), ctx);
    }

    fn release(&self, place: Place, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some(host) = &self.host {
            host.release(place.channel, place.data, ctx);
        }
    }

    /// Hands a write to the PCI Express link.
    fn send_down(&mut self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        let (Some(tlps), Some((link, end))) = (tlps_of(packet, self.id), self.below) else {
            return self.refuse(packet, ctx);
        };
        let count = tlps.len();
        if count == 0 {
            // A mask without bytes.
            return self.release(Place::of(packet), ctx);
        }
        for (part, tlp) in (1..).zip(tlps) {
            self.going
                .push_back((part == count).then(|| Place::of(packet)));
            let packet = Rc::new(tlp);
            let submit = LinkEvent::Submit { end, packet };
            ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(submit));
        }
    }

    fn take_tlp(&mut self, tlp: Rc<Tlp>, ctx: &mut Context<'_, DeviceEvent>) {
        let writes = |memory: &&MemoryRepr| memory.operation == Operation::Write;
        if tlp.memory().filter(writes).is_some() {
            self.counters.up += 1;
            Self::to_self(self.up, BridgeEvent::Up(tlp), ctx);
        } else {
            self.counters.refused += 1;
            self.free(tlp.cost(), ctx);
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
            self.counters.last_up = ctx.now();
            if let Some(cost) = cost {
                self.free(cost, ctx);
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
            DeviceEvent::Pcie(LinkEvent::Sent {
                channel: CreditClass::Posted,
                ..
            }) => {
                if let Some(Some(place)) = self.going.pop_front() {
                    self.release(place, ctx);
                }
            }
            DeviceEvent::Bridge(BridgeEvent::Down(packet)) => self.send_down(&packet, ctx),
            DeviceEvent::Bridge(BridgeEvent::Up(tlp)) => {
                let mut packets = packets_of(&tlp);
                let last = packets.pop();
                self.coming
                    .extend(packets.into_iter().map(|packet| (Box::new(packet), None)));
                match last {
                    Some(last) => self.coming.push_back((Box::new(last), Some(tlp.cost()))),
                    None => self.free(tlp.cost(), ctx),
                }
                self.hand_over(ctx);
            }
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
        waits
    }

    fn faults(&self) -> Vec<String> {
        let refused = self.counters.refused;
        let fault = || format!("has dropped {refused} packets: not posted writes");
        (refused > 0).then(fault).into_iter().collect()
    }
}

/// The TLPs of a write: one, or one for each dword of a byte mask. `None` if there cannot be one.
fn tlps_of(packet: &Packet, id: RoutingId) -> Option<Vec<Tlp>> {
    let mut tlps = Vec::new();
    match packet.command {
        Command::WriteMasked { mask } => {
            let dwords = (packet.address..).step_by(DWORD_BYTES as usize);
            for (address, data) in dwords.zip(packet.data.chunks(DWORD_BYTES as usize)) {
                let enabled = mask >> (address % MASK_BYTES) & u32::from(ALL_BYTES);
                if enabled == 0 {
                    continue;
                }
                let mut tlp = Tlp::write(id, address, data).ok()?;
                let header = *tlp.memory()?;
                tlp.header = MemoryRepr {
                    first_be: ByteEnables::new(enabled as u8).ok()?,
                    ..header
                }
                .into();
                tlps.push(tlp);
            }
        }
        _ => tlps.push(Tlp::write(id, packet.address, &packet.data).ok()?),
    }
    if let Some((last, before)) = tlps.split_last_mut() {
        last.note = Note::of(packet);
        before.iter_mut().for_each(|tlp| tlp.note = Note::PART);
    }
    Some(tlps)
}

/// The HyperTransport packets of a write: dwords as long as all bytes are enabled, at most up to the
/// end of a line; others with a byte mask.
fn packets_of(tlp: &Tlp) -> Vec<Packet> {
    let Some(header) = tlp.memory() else {
        return Vec::new();
    };
    let dwords = tlp.data.len() as u64 / DWORD_BYTES;
    let enabled = |dword: u64| match dword {
        0 => header.first_be.get(),
        last if last + 1 == dwords => header.last_be.get(),
        _ => ALL_BYTES,
    };
    let mut packets: Vec<Packet> = Vec::new();
    for (dword, data) in (0..).zip(tlp.data.chunks(DWORD_BYTES as usize)) {
        let address = header.address + dword * DWORD_BYTES;
        let bytes = enabled(dword);
        match packets.last_mut() {
            Some(run)
                if bytes == ALL_BYTES
                    && run.command == Command::WriteDwords
                    && run.address + run.data.len() as u64 == address
                    && !address.is_multiple_of(PAYLOAD_BYTES_MAX as u64) =>
            {
                run.data.extend_from_slice(data);
            }
            _ if bytes == ALL_BYTES => packets.push(Packet::write(address, data.to_vec())),
            _ if bytes == 0 => {}
            _ => {
                let mask = u32::from(bytes) << (address % MASK_BYTES);
                packets.push(Packet {
                    data: data.to_vec(),
                    ..Packet::new(Command::WriteMasked { mask }, address)
                });
            }
        }
    }
    if let Some((last, before)) = packets.split_last_mut() {
        tlp.note.put(last);
        before.iter_mut().for_each(|packet| Note::PART.put(packet));
    }
    packets
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes that packets write, by address.
    fn written(packets: &[Packet]) -> std::collections::BTreeMap<u64, u8> {
        let mut memory = std::collections::BTreeMap::new();
        for packet in packets {
            for (address, byte) in (packet.address..).zip(&packet.data) {
                let enabled = match packet.command {
                    Command::WriteMasked { mask } => mask >> (address % 32) & 1 == 1,
                    _ => true,
                };
                if enabled {
                    memory.insert(address, *byte);
                }
            }
        }
        memory
    }

    fn over(packet: &Packet) -> Vec<Packet> {
        let tlps = tlps_of(packet, RoutingId(1)).unwrap();
        tlps.iter().flat_map(packets_of).collect()
    }

    #[test]
    fn a_line_is_one_tlp_and_one_packet() {
        let line = Packet {
            number: 7,
            hops: 2,
            ..Packet::write(0x9_0000_0040, (0..64).collect())
        };
        assert_eq!(tlps_of(&line, RoutingId(1)).unwrap().len(), 1);
        let got = over(&line);
        assert_eq!(got, [Packet { hops: 3, ..line }]);
    }

    #[test]
    fn only_the_last_part_counts() {
        let masked = Packet {
            data: vec![5; 8],
            number: 9,
            ..Packet::new(Command::WriteMasked { mask: 0x0f6 }, 0x1_0000_0000)
        };
        let got = over(&masked);
        let numbers: Vec<u64> = got.iter().map(|packet| packet.number).collect();
        assert_eq!(numbers, [u64::MAX, 9]);
    }

    #[test]
    fn a_long_tlp_becomes_lines() {
        let bytes: Vec<u8> = (0..=255).collect();
        let tlp = Tlp::write(RoutingId(0), 0x1020, &bytes).unwrap();
        let lengths: Vec<usize> = packets_of(&tlp).iter().map(|p| p.data.len()).collect();
        assert_eq!(lengths, [32, 64, 64, 64, 32]);
    }

    proptest! {
        #[test]
        fn the_same_bytes_are_written(
            dword in 0u64..1000,
            dwords in 1usize..9,
            mask in any::<u32>(),
            whole in any::<bool>(),
        ) {
            // A masked packet does not leave its block of 32 bytes.
            let place = 4 * dword;
            let room = ((MASK_BYTES - place % MASK_BYTES) / 4) as usize;
            let data: Vec<u8> = (0..4 * dwords.min(room)).map(|byte| byte as u8).collect();
            let packet = match whole {
                true => Packet::write(place, data),
                false => Packet { data, ..Packet::new(Command::WriteMasked { mask }, place) },
            };
            prop_assert_eq!(written(&over(&packet)), written(&[packet]));
        }
    }
}
