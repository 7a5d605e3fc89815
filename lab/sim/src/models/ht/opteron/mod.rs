//! An Opteron socket: cores with their store path, northbridge, memory.
//!
//! The northbridge routes only by its registers, which firmware writes. Scope,
//! parameters and validation: `docs/sim/opteron.md`.

mod config;
mod core;
mod coroutine;
mod crossing;
mod inbound;
mod loads;
mod mapping;
mod memory;
mod observer;
mod program;
pub mod registers;
pub mod route;
mod status;
mod waits;
mod write_combining;

pub use config::OpteronConfig;
pub use coroutine::{Aborted, CoreHandle, CoroutineProgram};
pub use mapping::Mapping;
pub use memory::Memory;
pub use observer::{WriteObserver, origin, origin_of, packet_number};
pub use program::{Arrival, Local, Op, Outcome, Program, Script};
pub use registers::Registers;
pub use status::{Incident, OpteronCounters};
pub use write_combining::LINE_BYTES;

use std::collections::{BTreeMap, VecDeque};

use crate::engine::{Component, Context, Ps, Wait};

use self::core::{Core, Next, Waiting};
use self::crossing::Crossing;
use self::inbound::Inputs;
use self::loads::Pending;
use crate::models::DeviceEvent;
use crate::models::ht::Port;
use crate::models::ht::{Command, Packet, VirtualChannel};
use crate::models::link::LinkEvent;
use registers::LINKS;
use route::{Origin, Target, route};

/// Events of a socket to itself, and wake-ups from outside.
#[derive(Debug)]
pub enum OpteronEvent {
    /// The core goes on. Inject one after [`Opteron::load`].
    Step {
        /// Which core.
        core: u8,
    },
    /// Ends an [`Op::Suspend`].
    Wake {
        /// Which core.
        core: u8,
    },
    /// A write has reached memory.
    Write {
        /// The write.
        packet: Box<Packet>,
        /// Whether caches are told.
        invalidates: bool,
    },
    /// A read from a link has reached memory.
    Read {
        /// The read.
        packet: Box<Packet>,
        /// Where it came from.
        port: u8,
    },
    /// The data of a core's read has arrived.
    Response {
        /// The response.
        packet: Box<Packet>,
    },
    /// A load ahead of local memory is over.
    Loaded {
        /// Its tag.
        tag: u8,
    },
    /// A polling core looks at memory.
    Sample {
        /// Which core.
        core: u8,
    },
}

impl OpteronEvent {
    pub(in crate::models) fn digest(&self) -> u64 {
        match self {
            OpteronEvent::Step { core } => 1 | u64::from(*core) << 8,
            OpteronEvent::Wake { core } => 2 | u64::from(*core) << 8,
            OpteronEvent::Write {
                packet,
                invalidates,
            } => 3 | u64::from(*invalidates) << 8 | packet.digest() << 16,
            OpteronEvent::Read { packet, port } => {
                4 | u64::from(*port) << 8 | packet.digest() << 16
            }
            OpteronEvent::Response { packet } => 5 | packet.digest() << 16,
            OpteronEvent::Sample { core } => 6 | u64::from(*core) << 8,
            OpteronEvent::Loaded { tag } => 7 | u64::from(*tag) << 8,
        }
    }
}

/// A core that polls uncached memory.
#[derive(Debug)]
struct Watch {
    core: u8,
    address: u64,
    not: Vec<u8>,
    since: Ps,
    sample_pending: bool,
}

/// The state of the first posted store of a core.
enum Egress {
    Moved,
    /// There is none.
    Empty,
    /// It waits for room on this link.
    Full(u8),
}

/// The links for which the posted stores of all cores wait, by the registers of a
/// version.
#[derive(Clone, Copy, Debug)]
struct EgressWait {
    links: u8,
    version: u64,
}

/// The component.
pub struct Opteron {
    config: OpteronConfig,
    /// Configuration space and MSRs.
    pub registers: Registers,
    /// DRAM behind this socket.
    pub memory: Memory,
    /// Whether firmware has initialised the memory controller.
    pub memory_ready: bool,
    /// The mappings that a driver has made for programs.
    pub mappings: Vec<Mapping>,
    cores: Vec<Core>,
    ports: [Option<Port>; LINKS as usize],
    inputs: Inputs,
    arbiter: usize,
    /// No store leaves the cores while these links, a bit each, are full.
    egress_waits: Option<EgressWait>,
    cores_first: bool,
    memory_free: Ps,
    watches: Vec<Watch>,
    /// What waits for the response with this tag.
    reads: BTreeMap<u8, Pending>,
    /// Reads of devices and other sockets that this one has passed on, by tag.
    crossings: BTreeMap<u8, Crossing>,
    /// One of them may wait for a tag.
    crossing_waits: bool,
    /// Cores that wait for a tag.
    tag_queue: VecDeque<u8>,
    packets: u64,
    observers: Vec<Box<dyn WriteObserver>>,
    status: status::Status,
}

impl Opteron {
    /// A socket after a cold reset. The bootstrap processor is the one with the
    /// southbridge.
    pub fn new(config: OpteronConfig, bootstrap: bool) -> Opteron {
        Opteron {
            config,
            registers: Registers::cold(bootstrap),
            memory: Memory::default(),
            memory_ready: false,
            mappings: Vec::new(),
            cores: Vec::new(),
            ports: Default::default(),
            inputs: Inputs::default(),
            arbiter: 0,
            egress_waits: None,
            cores_first: false,
            memory_free: Ps::ZERO,
            watches: Vec::new(),
            reads: BTreeMap::new(),
            crossings: BTreeMap::new(),
            crossing_waits: false,
            tag_queue: VecDeque::new(),
            packets: 0,
            observers: Vec::new(),
            status: status::Status::default(),
        }
    }

    /// Parameters.
    pub fn config(&self) -> &OpteronConfig {
        &self.config
    }

    /// Attaches a link to port `port`. `false` if there is no such port.
    pub fn attach(&mut self, port: u8, attachment: Port) -> bool {
        match self.ports.get_mut(usize::from(port)) {
            Some(slot) => {
                *slot = Some(attachment);
                true
            }
            None => false,
        }
    }

    /// Puts a program on the next free core; `None` if all are taken. The
    /// program starts with the first [`OpteronEvent::Step`] for that core.
    pub fn load(&mut self, program: impl Program + 'static) -> Option<u8> {
        let index = self.cores.len();
        if index >= usize::from(self.config.cores) {
            return None;
        }
        self.cores.push(Core::new(Box::new(program), &self.config));
        Some(index as u8)
    }

    /// Tells `observer` of every write to this socket's memory from now on.
    pub fn observe(&mut self, observer: impl WriteObserver + 'static) {
        self.observers.push(Box::new(observer));
    }

    /// Removes the observer.
    pub fn end_observation(&mut self) {
        self.observers.clear();
    }

    /// The counters of the socket.
    pub fn counters(&self) -> &OpteronCounters {
        &self.status.counters
    }

    /// Packets that it has numbered.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The first hundred faults so far, in order.
    pub fn incidents(&self) -> &[Incident] {
        &self.status.incidents
    }

    /// Empties queues and pipelines, as a reset does. Registers are reset
    /// separately, because cold and warm resets differ.
    pub fn reset(&mut self) {
        self.cores.clear();
        self.egress_waits = None;
        self.inputs = Inputs::default();
        self.watches.clear();
        self.reads.clear();
        self.crossings.clear();
        self.crossing_waits = false;
        self.tag_queue.clear();
        self.memory_ready = false;
        self.mappings.clear();
        for port in self.ports.iter_mut().flatten() {
            port.reset();
        }
    }

    fn step(&mut self, index: u8, ctx: &mut Context<'_, DeviceEvent>) {
        // The core may post stores.
        self.egress_waits = None;
        loop {
            let Some(core) = self.cores.get_mut(usize::from(index)) else {
                return;
            };
            let (registers, memory_bytes) = (&self.registers, self.config.memory_bytes);
            let is_local =
                |address| route(registers, Origin::Core, address, memory_bytes) == Target::Memory;
            let next = core.proceed(&self.config, registers, &mut self.memory, is_local);
            match next {
                None => {
                    core.advance(ctx.now(), &mut self.memory);
                    if let Some(address) = core.find_mapping(&self.mappings) {
                        core.abort();
                        self.status
                            .incident(ctx.now(), format!("page fault at {address:#x}"));
                    }
                    continue;
                }
                Some(Next::After(time)) => {
                    ctx.schedule(
                        ctx.me(),
                        time,
                        DeviceEvent::Opteron(OpteronEvent::Step { core: index }),
                    );
                }
                Some(Next::Read(packet, delay)) => self.core_read(index, packet, delay, ctx),
                Some(Next::Ahead { read, is_local }) => {
                    self.load_ahead(index, read, is_local, ctx);
                }
                Some(Next::Watch { address, not }) => self.watch(index, address, not, ctx),
                Some(Next::Broadcast(packet)) => {
                    self.core_broadcast(packet, ctx);
                    ctx.schedule(
                        ctx.me(),
                        Ps::ZERO,
                        DeviceEvent::Opteron(OpteronEvent::Step { core: index }),
                    );
                }
                Some(Next::Blocked | Next::Suspended | Next::Halted) => {}
            }
            self.egress(ctx);
            return;
        }
    }

    /// Moves posted stores from the cores to memory and links, one core after
    /// the other, as far as there is room.
    fn egress(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some(wait) = self.egress_waits
            && wait.version == self.registers.version()
            && !(0..LINKS).any(|link| {
                wait.links >> link & 1 == 1 && self.has_room(link, VirtualChannel::Posted)
            })
        {
            return;
        }
        let count = self.cores.len();
        let (mut stuck, mut links) = (0, 0);
        while stuck < count {
            let index = self.arbiter % count;
            self.arbiter = index + 1;
            match self.egress_one(index, ctx) {
                Egress::Moved => (stuck, links) = (0, 0),
                Egress::Empty => stuck += 1,
                Egress::Full(link) => {
                    stuck += 1;
                    links |= 1 << link;
                }
            }
        }
        let version = self.registers.version();
        self.egress_waits = Some(EgressWait { links, version });
    }

    fn has_room(&self, link: u8, channel: VirtualChannel) -> bool {
        let port = self.ports.get(usize::from(link)).and_then(Option::as_ref);
        port.is_some_and(|port| port.room(channel))
    }

    fn egress_one(&mut self, index: usize, ctx: &mut Context<'_, DeviceEvent>) -> Egress {
        let Some(core) = self.cores.get_mut(index) else {
            return Egress::Empty;
        };
        let Some(target) = core.head_target(&self.registers, self.config.memory_bytes) else {
            return Egress::Empty;
        };
        if let Target::Link(link) = target {
            let port = self
                .ports
                .get_mut(usize::from(link))
                .and_then(Option::as_mut);
            match port {
                Some(port) if port.room(VirtualChannel::Posted) => {
                    port.reserve(VirtualChannel::Posted)
                }
                _ => return Egress::Full(link),
            }
        }
        let Some(mut packet) = core.take_posted() else {
            return Egress::Empty;
        };
        if core.waiting == Waiting::Posting {
            core.waiting = Waiting::Nothing;
            ctx.schedule(
                ctx.me(),
                Ps::ZERO,
                DeviceEvent::Opteron(OpteronEvent::Step { core: index as u8 }),
            );
        }
        packet.number = self.number(ctx);
        packet.unit_id = 0;
        match target {
            Target::Link(link) => {
                self.status.counters.writes_out += 1;
                self.status.counters.stores_sent += 1;
                if let Some(port) = &self.ports[usize::from(link)] {
                    port.submit(Box::new(packet), self.config.out, ctx);
                }
            }
            Target::Memory => {
                self.status.counters.stores_sent += 1;
                self.enter_memory(Box::new(packet), self.config.out, false, ctx);
            }
            Target::Abort(reason) => self.status.abort(ctx.now(), reason, &packet),
        }
        Egress::Moved
    }

    fn core_broadcast(&mut self, mut packet: Packet, ctx: &mut Context<'_, DeviceEvent>) {
        let me = self.registers.node_id();
        packet.unit_id = me;
        self.status.counters.interrupts += 1;
        for link in route::broadcast_links(&self.registers, Origin::Core, me) {
            packet.number = self.number(ctx);
            if let Some(port) = &mut self.ports[usize::from(link)] {
                port.reserve(VirtualChannel::Posted);
                port.submit(Box::new(packet.clone()), self.config.out, ctx);
            }
        }
    }

    fn watch(&mut self, core: u8, address: u64, not: Vec<u8>, ctx: &mut Context<'_, DeviceEvent>) {
        self.watches.push(Watch {
            core,
            address,
            not,
            since: ctx.now(),
            sample_pending: true,
        });
        let first = self.config.memory_sample();
        ctx.schedule(
            ctx.me(),
            first,
            DeviceEvent::Opteron(OpteronEvent::Sample { core }),
        );
    }

    /// The loop of a poll loads again and again, back to back; only the loads
    /// that can see a change become events.
    fn sample(&mut self, core: u8, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(index) = self.watches.iter().position(|watch| watch.core == core) else {
            return;
        };
        let watch = &mut self.watches[index];
        watch.sample_pending = false;
        let mut data = vec![0; watch.not.len()];
        self.memory.read(watch.address, &mut data);
        if data == watch.not {
            return;
        }
        self.watches.swap_remove(index);
        if let Some(core) = self.cores.get_mut(usize::from(core)) {
            core.polled(data);
        }
        let rest = self.config.memory_read - self.config.memory_sample();
        ctx.schedule(
            ctx.me(),
            rest,
            DeviceEvent::Opteron(OpteronEvent::Step { core }),
        );
    }

    fn number(&mut self, ctx: &Context<'_, DeviceEvent>) -> u64 {
        self.packets += 1;
        packet_number(ctx.me(), self.packets)
    }

    /// When the memory controller begins with a line that comes after `delay`.
    fn memory_slot(&mut self, delay: Ps, ctx: &Context<'_, DeviceEvent>) -> Ps {
        let begin = (ctx.now() + delay).max(self.memory_free);
        self.memory_free = begin + self.config.memory_line;
        begin
    }

    fn enter_memory(
        &mut self,
        packet: Box<Packet>,
        delay: Ps,
        invalidates: bool,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let begin = self.memory_slot(delay, ctx);
        let event = OpteronEvent::Write {
            packet,
            invalidates,
        };
        ctx.schedule_at(
            ctx.me(),
            begin + self.config.memory_write,
            DeviceEvent::Opteron(event),
        );
    }

    fn write(&mut self, packet: &Packet, invalidates: bool, ctx: &mut Context<'_, DeviceEvent>) {
        if !self.memory_ready {
            self.status.counters.writes_lost += 1;
            self.status.incident(
                ctx.now(),
                format!(
                    "write to {:#x} lost: memory is not initialised",
                    packet.address
                ),
            );
            return;
        }
        match packet.command {
            Command::WriteMasked { mask } => {
                self.memory.write_masked(packet.address, &packet.data, mask)
            }
            _ => self.memory.write(packet.address, &packet.data),
        }
        self.status.wrote(ctx.now(), packet);
        for observer in &mut self.observers {
            observer.wrote(ctx.now(), packet);
        }
        let end = packet.address.saturating_add(packet.data.len() as u64);
        if invalidates {
            for (index, core) in self.cores.iter_mut().enumerate() {
                if core.invalidate(packet.address, packet.data.len() as u64) {
                    let core = index as u8;
                    ctx.schedule(
                        ctx.me(),
                        Ps::ZERO,
                        DeviceEvent::Opteron(OpteronEvent::Step { core }),
                    );
                }
            }
        }
        let (first, period) = (
            self.config.memory_sample(),
            self.config.memory_read.0.max(1),
        );
        for watch in &mut self.watches {
            let overlaps =
                watch.address < end && packet.address < watch.address + watch.not.len() as u64;
            if !overlaps || watch.sample_pending {
                continue;
            }
            watch.sample_pending = true;
            let since_first = (ctx.now() - (watch.since + first)).0;
            let next = watch.since + first + Ps(since_first.div_ceil(period) * period);
            ctx.schedule_at(
                ctx.me(),
                next,
                DeviceEvent::Opteron(OpteronEvent::Sample { core: watch.core }),
            );
        }
    }
}

impl Component<DeviceEvent> for Opteron {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Ht(LinkEvent::Deliver { port, packet }) => self.deliver(port, packet, ctx),
            DeviceEvent::Ht(LinkEvent::Sent { port, channel }) => {
                if let Some(port) = self
                    .ports
                    .get_mut(usize::from(port))
                    .and_then(Option::as_mut)
                {
                    port.sent(channel);
                }
                // A free place goes to packets in transit and to the cores in turn.
                self.cores_first = !self.cores_first;
                if self.cores_first {
                    self.egress(ctx);
                }
                self.pump_all(ctx);
                self.egress(ctx);
            }
            DeviceEvent::Opteron(event) => match event {
                OpteronEvent::Step { core } => self.step(core, ctx),
                OpteronEvent::Wake { core } => {
                    if self
                        .cores
                        .get(usize::from(core))
                        .is_some_and(|core| core.waiting == Waiting::Wake)
                    {
                        self.step(core, ctx);
                    }
                }
                OpteronEvent::Write {
                    packet,
                    invalidates,
                } => self.write(&packet, invalidates, ctx),
                OpteronEvent::Read { packet, port } => self.read(&packet, port, ctx),
                OpteronEvent::Response { packet } => self.response(&packet, ctx),
                OpteronEvent::Loaded { tag } => self.loaded(tag, ctx),
                OpteronEvent::Sample { core } => self.sample(core, ctx),
            },
            _ => {}
        }
    }

    fn waits(&self) -> Vec<Wait> {
        self.core_waits()
            .into_iter()
            .chain(self.stuck_inputs())
            .collect()
    }

    fn faults(&self) -> Vec<String> {
        self.lost_requests()
    }
}
