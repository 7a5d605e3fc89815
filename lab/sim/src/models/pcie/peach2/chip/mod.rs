//! A PEACH2 chip: four ports, routing by mask and bounds, a DMA controller, memory.
//!
//! A TLP that has come in at a port is routed by its address alone. Only port north converts an
//! address: from the sub-cluster's window to the host's bus. Writes go anywhere; reads are
//! served at home and refused everywhere else.

mod config;
mod descriptor;
mod dma;
mod management;
mod ports;
mod registers;

use std::collections::VecDeque;
use std::rc::Rc;

use hostwire_packet::pcie::{
    CreditClass, CreditCost, HeaderRepr, MemoryRepr, Operation, RoutingId,
};
use hostwire_plan::registers::peach2::{NORTH, PORTS};
use hostwire_plan::registers::{Fault, RegisterWrite};
use hostwire_plan::{AddressRange, GlobalAddress};

use crate::engine::{Component, ComponentId, Context, Ps, Wait};
use crate::models::DeviceEvent;
use crate::models::ht::carry::Note;
use crate::models::ht::opteron::packet_number;
use crate::models::link::{End, LinkEvent};
use crate::models::pcie::{Role, Tlp, cost_digest, parts};

use super::sparse::Sparse;
use dma::{Command, Dma, Env};
use management::Management;
use ports::Ports;
use registers::{Effect, Registers, Way};

pub use config::ChipConfig;
pub use descriptor::{
    CHAIN_BYTES_MAX, DESCRIPTOR_BYTES, DESCRIPTORS_MAX, DMA_ALIGN_BYTES, DMA_FROM_BYTES,
    Descriptor, EPLAST, LENGTH_BYTES_MAX, TABLE_BYTES, dma_part, doorbell, table,
};
pub use dma::{CONTROL_EPLAST, CONTROL_INTERRUPT, DmaStatus, INTERRUPT_ADDRESS};
pub use management::{
    Cell, Command as ManagementCommand, Instruction, Interrupts, Program, Reply, firmware,
};
pub use ports::PortView;
pub use registers::{
    COMMAND, DmaKind, LOSSES, PIPELINED_TABLE, PORT_STATUS, PORT_STRIDE, PORTS_AT, READ_TABLE,
    REGISTER_BYTES, REPLY, SHADOW, STATUS, STATUS_CABLE, STATUS_UP, WRITE_TABLE,
};

/// Events of a chip for itself.
#[derive(Debug)]
pub enum ChipEvent {
    /// A TLP has come from a port to the inside.
    Inside {
        /// The port.
        port: u8,
        /// Its offset in the internal block, if it is a request.
        offset: u64,
        /// The TLP.
        tlp: Rc<Tlp>,
    },
    /// A TLP has come to the pins of a port.
    Outside {
        /// The port.
        port: u8,
        /// Where it came from.
        origin: Origin,
        /// The TLP.
        tlp: Rc<Tlp>,
    },
    /// A receive buffer is free.
    Free {
        /// The port.
        port: u8,
        /// What was in it.
        cost: CreditCost,
    },
    /// The DMA controller goes on.
    Wake,
    /// The reset of the management processor ends.
    Boot,
    /// The management processor goes on.
    Instruction,
    /// The time of its sleep with this number is over.
    Timer {
        /// Number.
        sleep: u32,
    },
    /// Port south has its new role.
    Reconfigured {
        /// The role.
        role: Role,
    },
}

/// Where a TLP that leaves came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was received at a port.
    Port {
        /// The port.
        port: u8,
        /// It keeps its buffer for a time after it has left.
        held: bool,
    },
    /// The DMA controller wrote it.
    Dma,
    /// The chip answers.
    Chip,
}

impl ChipEvent {
    pub(in crate::models) fn digest(&self) -> u64 {
        match self {
            ChipEvent::Inside { port, offset, tlp } => tlp.digest() ^ offset ^ u64::from(*port),
            ChipEvent::Outside { port, tlp, .. } => tlp.digest() ^ 1 << 8 ^ u64::from(*port),
            ChipEvent::Free { port, cost } => cost_digest(cost) ^ u64::from(*port) << 40,
            ChipEvent::Wake => 3,
            ChipEvent::Boot => 4,
            ChipEvent::Instruction => 5,
            ChipEvent::Timer { sleep } => 6 | u64::from(*sleep) << 8,
            ChipEvent::Reconfigured { role } => 7 | (*role as u64) << 8,
        }
    }
}

/// Why a chip dropped a TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dropped {
    /// The routing registers have no port for the address.
    NoRoute(Fault),
    /// It would leave by the port that it came by.
    BackOut,
    /// No cable at the port.
    NoCable,
    /// The port is off, or its link is down.
    LinkDown,
    /// A read of another node: only writes cross between nodes.
    RemoteRead,
    /// A write to the chip behind its memory.
    NoMemory,
}

/// The counters of a chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChipCounters {
    /// TLPs from port to port.
    pub forwarded: u64,
    /// TLPs to the host, with a converted address.
    pub converted: u64,
    /// Writes that ended in the chip.
    pub kept: u64,
    /// Number of the last of them, as its processor has numbered it.
    pub last_kept: u64,
    /// Writes of the DMA controller that left.
    pub dma_writes: u64,
    /// TLPs that it dropped, reads among them.
    pub dropped: u64,
    /// The first one.
    pub first_dropped: Option<Dropped>,
}

/// A chip.
pub struct Chip {
    config: ChipConfig,
    id: RoutingId,
    registers: Registers,
    memory: Sparse,
    dma: Dma,
    links: [Option<(ComponentId, End)>; PORTS as usize],
    /// The TLPs that wait at each port for its link, by class.
    leaving: [[VecDeque<(Origin, CreditCost)>; 3]; PORTS as usize],
    counters: ChipCounters,
    last_store: Ps,
    ports: Ports,
    management: Management,
    /// The addresses that the chip takes from its host, if the host has told them.
    window: Option<AddressRange>,
}

impl Chip {
    /// A chip with nothing attached that routes nothing.
    pub fn new(id: RoutingId, config: ChipConfig) -> Chip {
        Chip {
            config,
            id,
            registers: Registers::new(),
            memory: Sparse::default(),
            dma: Dma::default(),
            links: [None; PORTS as usize],
            leaving: Default::default(),
            counters: ChipCounters::default(),
            last_store: Ps::ZERO,
            ports: Ports::new(),
            management: Management::default(),
            window: None,
        }
    }

    /// Attaches a link to a port; ports that do not exist take none.
    pub fn attach(&mut self, port: u8, link: ComponentId, end: End) {
        if let Some(place) = self.links.get_mut(usize::from(port)) {
            *place = Some((link, end));
        }
    }

    /// Writes routing registers, as the driver does when it is loaded.
    pub fn configure(&mut self, writes: &[RegisterWrite]) {
        self.registers.apply(writes);
    }

    /// Tells port north where the node lies in the window, and where GPU 0, GPU 1 and the host's
    /// memory are on its bus.
    pub fn place(&mut self, base: u64, block_bytes: u64, bus: [u64; 3]) {
        self.registers.place(base, block_bytes, bus);
    }

    /// Tells port north that a bridge is there, to which addresses go as they are. [`place`](Self::place)
    /// then says where the chip's internal block is, and the last bus address where memory begins.
    pub fn pass(&mut self) {
        self.registers.pass();
    }

    /// Says which addresses are the window of the sub-cluster: the chip's base address register.
    /// A DMA to one of them for which no port is set ends; without a window it goes to the host.
    pub fn set_window(&mut self, window: AddressRange) {
        self.window = Some(window);
    }

    /// How the DMA controller's last table ended.
    pub fn dma_status(&self) -> DmaStatus {
        let status = self.registers.read(STATUS, 1);
        let all = [
            DmaStatus::Busy,
            DmaStatus::Done,
            DmaStatus::BadTable,
            DmaStatus::BadDescriptor,
            DmaStatus::RemoteRead,
            DmaStatus::ReadFailed,
            DmaStatus::NoRoute,
            DmaStatus::Collision,
        ];
        let found = all
            .into_iter()
            .find(|known| *known as u32 == u32::from(status[0]));
        found.unwrap_or_default()
    }

    /// Its counters.
    pub fn counters(&self) -> ChipCounters {
        self.counters
    }

    /// When something was stored into its memory last.
    pub fn last_store(&self) -> Ps {
        self.last_store
    }

    /// Bytes of its memory, by offset in the internal block.
    pub fn memory(&self, offset: u64, len: u64) -> Vec<u8> {
        self.memory.bytes(offset, len)
    }

    /// Sets bytes of its memory, outside of simulated time.
    pub fn set_memory(&mut self, offset: u64, bytes: &[u8]) {
        self.memory.write(offset, bytes);
    }

    fn drop_tlp(&mut self, port: u8, tlp: &Tlp, why: Dropped, ctx: &mut Context<'_, DeviceEvent>) {
        self.counters.dropped += 1;
        self.counters.first_dropped.get_or_insert(why);
        self.free(port, tlp.cost(), Ps::ZERO, ctx);
        // The host waits for an answer to its read.
        if port == NORTH
            && let Some(read) = tlp.memory().filter(|m| m.operation == Operation::Read)
        {
            let answer = Tlp::unsupported(self.id, read);
            self.leave(NORTH, Origin::Chip, answer, self.config.egress(), ctx);
        }
    }

    fn free(&mut self, port: u8, cost: CreditCost, after: Ps, ctx: &mut Context<'_, DeviceEvent>) {
        if after > Ps::ZERO {
            let free = DeviceEvent::Chip(ChipEvent::Free { port, cost });
            ctx.schedule(ctx.me(), after, free);
        } else if let Some(Some((link, end))) = self.links.get(usize::from(port)) {
            let release = LinkEvent::Release { end: *end, cost };
            ctx.schedule(*link, Ps::ZERO, DeviceEvent::Pcie(release));
        }
    }

    fn leave(
        &mut self,
        port: u8,
        origin: Origin,
        tlp: impl Into<Rc<Tlp>>,
        after: Ps,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        self.ports.take(port);
        let tlp = tlp.into();
        let outside = DeviceEvent::Chip(ChipEvent::Outside { port, origin, tlp });
        ctx.schedule(ctx.me(), after, outside);
    }

    /// Routes a TLP that has come in.
    fn receive(&mut self, port: u8, tlp: Rc<Tlp>, ctx: &mut Context<'_, DeviceEvent>) {
        let inside = |offset, tlp| DeviceEvent::Chip(ChipEvent::Inside { port, offset, tlp });
        let HeaderRepr::Memory(request) = tlp.header else {
            let event = inside(0, tlp);
            return ctx.schedule(ctx.me(), self.config.ingress(), event);
        };
        let way = self.registers.way(request.address);
        let is_read = request.operation == Operation::Read;
        match way {
            Way::Internal(offset) if !is_read || port == NORTH => {
                let event = inside(offset, tlp);
                ctx.schedule(ctx.me(), self.config.ingress(), event);
            }
            Way::Fault(fault) => self.drop_tlp(port, &tlp, Dropped::NoRoute(fault), ctx),
            _ if is_read => self.drop_tlp(port, &tlp, Dropped::RemoteRead, ctx),
            way => self.forward(port, way, tlp, ctx),
        }
    }

    fn forward(&mut self, from: u8, way: Way, tlp: Rc<Tlp>, ctx: &mut Context<'_, DeviceEvent>) {
        let (to, tlp, held) = match way {
            Way::Port(port) => (port, tlp, false),
            Way::Host(is_memory, bus) => (NORTH, Rc::new(tlp.readdressed(bus)), is_memory),
            Way::Internal(_) | Way::Fault(_) => return,
        };
        if to == from {
            return self.drop_tlp(from, &tlp, Dropped::BackOut, ctx);
        }
        if !matches!(self.links.get(usize::from(to)), Some(Some(_))) {
            return self.drop_tlp(from, &tlp, Dropped::NoCable, ctx);
        }
        if !self.ports.is_open(to) {
            return self.drop_tlp(from, &tlp, Dropped::LinkDown, ctx);
        }
        self.counters.forwarded += 1;
        self.counters.converted += u64::from(to == NORTH);
        let after = self.config.ingress() + self.config.egress();
        let origin = Origin::Port { port: from, held };
        self.leave(to, origin, tlp, after, ctx);
    }

    /// Serves a TLP that has come to the inside.
    fn serve(&mut self, port: u8, offset: u64, tlp: &Tlp, ctx: &mut Context<'_, DeviceEvent>) {
        self.free(port, tlp.cost(), Ps::ZERO, ctx);
        if let HeaderRepr::Completion(_) = tlp.header {
            return self.drive(ctx, |dma, env| dma.complete(tlp, env));
        }
        if let Some(read) = tlp.memory().filter(|m| m.operation == Operation::Read) {
            return self.answer(read, offset, ctx);
        }
        let Some((address, bytes)) = tlp.written() else {
            return;
        };
        self.counters.kept += 1;
        self.counters.last_kept = tlp.note.number();
        // The first enabled byte may lie behind the dword's first one.
        let skipped = tlp.memory().map_or(0, |m| address - m.address);
        let effect = self.store(offset + skipped, bytes, ctx.now());
        self.act(effect, ctx);
    }

    fn store(&mut self, offset: u64, bytes: &[u8], now: Ps) -> Option<Effect> {
        if offset < REGISTER_BYTES {
            return self.registers.write(offset, bytes);
        }
        let end = offset.saturating_add(bytes.len() as u64);
        if end <= REGISTER_BYTES.saturating_add(self.config.memory_bytes) {
            self.memory.write(offset, bytes);
            self.last_store = now;
        } else {
            self.counters.dropped += 1;
            self.counters.first_dropped.get_or_insert(Dropped::NoMemory);
        }
        None
    }

    /// Answers a read of the own host.
    fn answer(&mut self, read: &MemoryRepr, offset: u64, ctx: &mut Context<'_, DeviceEvent>) {
        let len = read.dwords.len_bytes();
        let bytes = if offset < REGISTER_BYTES {
            self.show_ports();
            self.registers.read(offset, len)
        } else {
            self.memory.bytes(offset, len as u64)
        };
        for (begin, part) in parts(read.address, len as u64, self.config.payload_bytes) {
            let data = bytes.get(begin as usize..(begin + part) as usize);
            let tlp = data.and_then(|data| Tlp::completion(self.id, read, begin as usize, data));
            if let Some(tlp) = tlp {
                self.leave(NORTH, Origin::Chip, tlp, self.config.egress(), ctx);
            }
        }
    }

    /// Lets the DMA controller take its steps, and carries out its actions.
    fn drive(
        &mut self,
        ctx: &mut Context<'_, DeviceEvent>,
        act: impl FnOnce(&mut Dma, &Env<'_>) -> Vec<Command>,
    ) {
        let env = Env {
            now: ctx.now(),
            config: &self.config,
            registers: &self.registers,
            memory: &self.memory,
            id: self.id,
        };
        let egress = self.config.egress();
        for command in act(&mut self.dma, &env) {
            match command {
                Command::North(mut tlp) => {
                    tlp.note = Note::PART;
                    self.leave(NORTH, Origin::Chip, tlp, egress, ctx);
                }
                Command::Put(tlp) => self.put(tlp, egress, ctx),
                Command::Keep(offset, bytes) => {
                    self.store(offset, &bytes, ctx.now());
                }
                Command::Wake(at) => {
                    ctx.schedule_at(ctx.me(), at, DeviceEvent::Chip(ChipEvent::Wake));
                }
                Command::Ended(status) => self.registers.set_status(status as u32),
            }
        }
    }

    /// A write of the DMA controller: addresses outside of the window are the own bus.
    fn put(&mut self, tlp: Tlp, egress: Ps, ctx: &mut Context<'_, DeviceEvent>) {
        let address = tlp.header.address().unwrap_or_default();
        let (port, tlp) = match self.registers.way(address) {
            Way::Port(port) => (port, tlp),
            Way::Host(_, bus) => {
                self.counters.converted += 1;
                (NORTH, tlp.readdressed(bus))
            }
            Way::Fault(_)
                if self
                    .window
                    .is_some_and(|window| window.contains(GlobalAddress(address))) =>
            {
                return self.drive(ctx, |dma, env| dma.refused(env));
            }
            Way::Fault(_) => (NORTH, tlp),
            Way::Internal(offset) => {
                if let Some((_, bytes)) = tlp.written() {
                    self.store(offset, bytes, ctx.now());
                }
                return self.drive(ctx, |dma, env| dma.sent(env));
            }
        };
        if !self.ports.is_open(port) {
            self.ports.take(port);
            return self.lose(port, Origin::Dma, tlp.cost(), ctx);
        }
        self.counters.dma_writes += 1;
        let number = packet_number(ctx.me(), self.counters.dma_writes);
        let note = Note::numbered(number);
        self.leave(port, Origin::Dma, Tlp { note, ..tlp }, egress, ctx);
    }

    fn submit(
        &mut self,
        port: u8,
        origin: Origin,
        tlp: Rc<Tlp>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let index = usize::from(port);
        let Some(Some((link, end))) = self.links.get(index).copied() else {
            self.counters.dropped += 1;
            self.counters.first_dropped.get_or_insert(Dropped::NoCable);
            self.gone(port, ctx);
            if origin == Origin::Dma {
                self.drive(ctx, |dma, env| dma.sent(env));
            }
            return;
        };
        let cost = tlp.cost();
        if !self.ports.is_up(port) {
            return self.lose(port, origin, cost, ctx);
        }
        self.leaving[index][cost.class as usize].push_back((origin, cost));
        let submit = LinkEvent::Submit { end, packet: tlp };
        ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(submit));
    }

    fn sent(&mut self, port: u8, class: CreditClass, ctx: &mut Context<'_, DeviceEvent>) {
        let queues = self.leaving.get_mut(usize::from(port));
        let left = queues.and_then(|queues| queues[class as usize].pop_front());
        if left.is_some() {
            self.gone(port, ctx);
        }
        match left {
            Some((Origin::Port { port: from, held }, cost)) => {
                let hold = if held {
                    self.config.host_hold
                } else {
                    Ps::ZERO
                };
                self.free(from, cost, hold, ctx);
            }
            Some((Origin::Dma, _)) => self.drive(ctx, |dma, env| dma.sent(env)),
            Some((Origin::Chip, _)) | None => {}
        }
    }
}

impl Component<DeviceEvent> for Chip {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Pcie(LinkEvent::Deliver { port, packet }) => {
                self.receive(port, packet, ctx);
            }
            DeviceEvent::Pcie(LinkEvent::Sent { port, channel }) => self.sent(port, channel, ctx),
            DeviceEvent::Chip(ChipEvent::Inside { port, offset, tlp }) => {
                self.serve(port, offset, &tlp, ctx);
            }
            DeviceEvent::Chip(ChipEvent::Outside { port, origin, tlp }) => {
                self.submit(port, origin, tlp, ctx);
            }
            DeviceEvent::Chip(ChipEvent::Free { port, cost }) => {
                self.free(port, cost, Ps::ZERO, ctx);
            }
            DeviceEvent::Chip(ChipEvent::Wake) => self.drive(ctx, |dma, env| dma.wake(env)),
            DeviceEvent::Pcie(LinkEvent::State { port, state }) => self.hear(port, state, ctx),
            DeviceEvent::Chip(ChipEvent::Boot) => self.boot(ctx),
            DeviceEvent::Chip(ChipEvent::Instruction) => self.step(ctx),
            DeviceEvent::Chip(ChipEvent::Timer { sleep }) => self.timer(sleep, ctx),
            DeviceEvent::Chip(ChipEvent::Reconfigured { role }) => self.reconfigured(role, ctx),
            _ => {}
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let waiting: usize = self.leaving.iter().flatten().map(VecDeque::len).sum();
        let busy = self.dma_status() == DmaStatus::Busy;
        let mut waits = Vec::new();
        if waiting > 0 {
            waits.push(Wait {
                resource: format!("its links to take {waiting} TLPs"),
                holder: self.links.iter().flatten().map(|(link, _)| *link).next(),
            });
        }
        if busy {
            waits.push(Wait {
                resource: "the end of a DMA table".into(),
                holder: self.links[usize::from(NORTH)].map(|(link, _)| link),
            });
        }
        waits
    }

    fn faults(&self) -> Vec<String> {
        let counters = &self.counters;
        let first = counters.first_dropped.map(|why| {
            let dropped = counters.dropped;
            format!("has dropped {dropped} TLPs, the first because of {why:?}")
        });
        first.into_iter().collect()
    }
}
