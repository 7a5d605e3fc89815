//! The host of a node: processor, memory, GPUs, and the root complex between them.
//!
//! Memory, the GPUs of the chip's socket and those of the other socket differ in how the root
//! complex serves them, and reads differ from writes.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use hostwire_packet::pcie::{
    CompletionStatus, CreditClass, HeaderRepr, MemoryRepr, Operation, RoutingId,
};

use crate::engine::{Component, ComponentId, Context, Ps};
use crate::models::DeviceEvent;
use crate::models::ht::carry::Note;
use crate::models::ht::opteron::packet_number;
use crate::models::link::{End, LinkEvent};
use crate::models::pcie::{Speed, Tlp, parts};

use super::chip::INTERRUPT_ADDRESS;
use super::processor::ProcessorConfig;
use super::rate::{kib_at, per_kib};
use super::sparse::Sparse;

/// Where the host's memory begins on its bus: what lies below 4 GiB is left out.
pub const MEMORY_BUS: u64 = 1 << 32;
/// Where the GPUs' memory is on the bus: their base address registers.
pub const GPU_BUS: [u64; 2] = [1 << 44, 1 << 45];

/// Parameters of a host. Sources of the values are in `docs/sim/tca.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// From a store of the processor to the root port's pins. **Assumed.**
    pub out: Ps,
    /// From the root port's pins to visible in memory. **Assumed.**
    pub inbound: Ps,
    /// From visible in memory to the processor that polls. **Assumed.**
    pub poll: Ps,
    /// From the pins to the first byte of what is read. **Assumed.**
    pub read: Ps,
    /// From the interrupt's write in the root complex to the handler. **Fitted** to A5.
    pub interrupt: Ps,
    /// Largest completion. **Assumed.** A power of two.
    pub completion_bytes: u64,
    /// Time between two completions from memory, without the time on the wire. **Assumed**:
    /// that of the DMA controller.
    pub completion_gap: Ps,
    /// Reads of a GPU: time of a KiB. **Fitted** to A8.
    pub gpu_read_kib: Ps,
    /// Writes to a GPU of the other socket: time of a KiB. **Assumed**; the paper says
    /// "several hundred Mbytes/sec" (A9).
    pub qpi_write_kib: Ps,
    /// Reads of a GPU of the other socket: time of a KiB. **Assumed.**
    pub qpi_read_kib: Ps,
    /// Its cores.
    pub processor: ProcessorConfig,
}

impl Default for HostConfig {
    fn default() -> Self {
        HostConfig {
            out: Ps::from_ns(90),
            inbound: Ps::from_ns(110),
            poll: Ps::from_ns(50),
            read: Ps::from_ns(250),
            interrupt: Ps(1_099_400),
            completion_bytes: 256,
            completion_gap: Ps(7_035),
            gpu_read_kib: kib_at(831_610_000),
            qpi_write_kib: kib_at(300_000_000),
            qpi_read_kib: kib_at(300_000_000),
            processor: ProcessorConfig::default(),
        }
    }
}

/// A GPU of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Its memory.
    pub bytes: u64,
    /// It is attached to the other socket.
    pub other_socket: bool,
}

/// Bytes of a completion on the wires beside its data: header and framing.
const COMPLETION_BYTES: u64 = 20;

/// A store of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Bus address.
    pub address: u64,
    /// What.
    pub bytes: Vec<u8>,
    /// The core that is told when its buffer is free, if one is.
    pub core: Option<u16>,
}

/// What a program on a core is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The time that it asked for has come.
    Awake(u16),
    /// A write-combining buffer is free.
    Drained(u16),
    /// The handler of an interrupt has begun.
    Interrupted,
}

/// An observer outside of the model that is called for each write to the host. It changes nothing
/// in the model.
pub trait WriteObserver {
    /// `bytes` of the packet with this note become visible at this bus address. True if the observer keeps
    /// them, so that the host need not.
    fn wrote(&mut self, now: Ps, note: Note, bus: u64, bytes: &[u8]) -> bool;
}

/// Events of a host for itself, or from a program.
#[derive(Debug)]
pub enum HostEvent {
    /// A program stores; at most up to the next multiple of 64 bytes, as a write-combining
    /// buffer does.
    Store {
        /// Root port.
        port: u8,
        /// Where and what.
        store: Box<Store>,
    },
    /// A program loads dwords from a device.
    Load {
        /// Root port.
        port: u8,
        /// Bus address.
        address: u64,
        /// How many bytes.
        len: usize,
    },
    /// A TLP comes to a root port's pins.
    Out {
        /// Root port.
        port: u8,
        /// The TLP.
        tlp: Rc<Tlp>,
        /// The core that has stored it, if one is to be told.
        core: Option<u16>,
    },
    /// A write becomes visible.
    Commit {
        /// The write.
        tlp: Rc<Tlp>,
    },
    /// Buffers of a root port are free.
    Free {
        /// Root port.
        port: u8,
        /// The TLP that was in them.
        tlp: Rc<Tlp>,
    },
    /// The next part of the data for a read has arrived.
    Serve {
        /// Root port.
        port: u8,
        /// The read.
        tlp: Rc<Tlp>,
        /// Where the part begins and how long it is; a read has at most 4 KiB.
        part: (u16, u16),
    },
    /// The handler of an interrupt begins.
    Handler {
        /// Root port.
        port: u8,
    },
    /// A core goes on.
    Wake {
        /// Which.
        core: u16,
    },
}

impl HostEvent {
    pub(in crate::models) fn digest(&self) -> u64 {
        match self {
            HostEvent::Store { port, store } => {
                store.address ^ (store.bytes.len() as u64) << 50 ^ u64::from(*port)
            }
            HostEvent::Load { port, address, len } => {
                address ^ (*len as u64) << 49 ^ u64::from(*port)
            }
            HostEvent::Out { port, tlp, .. } => tlp.digest() ^ 1 << 8 ^ u64::from(*port),
            HostEvent::Commit { tlp } => tlp.digest() ^ 2 << 8,
            HostEvent::Free { port, tlp } => tlp.digest() ^ 3 << 8 ^ u64::from(*port),
            HostEvent::Serve { port, tlp, part } => {
                tlp.digest() ^ u64::from(part.0) << 12 ^ u64::from(part.1) ^ u64::from(*port)
            }
            HostEvent::Handler { port } => 4 << 8 | u64::from(*port),
            HostEvent::Wake { core } => 5 << 16 | u64::from(*core),
        }
    }
}

/// The device behind a bus address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Interrupt,
    Memory(u64),
    Gpu(usize, u64),
    Nothing,
}

/// A host.
pub struct Host {
    config: HostConfig,
    id: RoutingId,
    /// The speed of the links at its root ports.
    speed: Speed,
    memory_bytes: u64,
    gpus: [Option<Gpu>; 2],
    memory: Sparse,
    gpu_memory: [Sparse; 2],
    roots: Vec<(ComponentId, End)>,
    /// When what serves reads, and writes to the other socket, is free again: memory, GPUs.
    reads_free: [Ps; 3],
    writes_free: [Ps; 2],
    loading: BTreeMap<u8, (usize, Vec<u8>)>,
    next_tag: u8,
    loaded: Option<Result<Vec<u8>, CompletionStatus>>,
    /// When handlers began, by root port.
    interrupts: Vec<Vec<Ps>>,
    /// The cores whose stores wait at each root port for its link.
    leaving: Vec<VecDeque<Option<u16>>>,
    /// The signals since the last look, if somebody looks.
    signals: Option<Vec<Signal>>,
    observer: Option<Box<dyn WriteObserver>>,
    last_commit: Ps,
    unclaimed: u64,
    /// Stores of cores that are told of their buffers.
    stores: u64,
}

impl Host {
    /// A host whose memory is zero, with links of `speed` at its root ports.
    pub fn new(
        id: RoutingId,
        memory_bytes: u64,
        gpus: [Option<Gpu>; 2],
        config: HostConfig,
        speed: Speed,
    ) -> Host {
        Host {
            config,
            id,
            speed,
            memory_bytes,
            gpus,
            memory: Sparse::default(),
            gpu_memory: Default::default(),
            roots: Vec::new(),
            reads_free: [Ps::ZERO; 3],
            writes_free: [Ps::ZERO; 2],
            loading: BTreeMap::new(),
            next_tag: 0,
            loaded: None,
            interrupts: Vec::new(),
            leaving: Vec::new(),
            signals: None,
            observer: None,
            last_commit: Ps::ZERO,
            unclaimed: 0,
            stores: 0,
        }
    }

    /// Attaches a link to the next root port.
    pub fn attach(&mut self, link: ComponentId, end: End) {
        self.roots.push((link, end));
        self.interrupts.push(Vec::new());
        self.leaving.push(VecDeque::new());
    }

    /// Bytes of memory or of a GPU, by bus address. `None` if no device has the
    /// address.
    pub fn read(&self, bus: u64, len: u64) -> Option<Vec<u8>> {
        match self.target(bus, len) {
            Target::Memory(offset) => Some(self.memory.bytes(offset, len)),
            Target::Gpu(gpu, offset) => Some(self.gpu_memory[gpu].bytes(offset, len)),
            Target::Interrupt | Target::Nothing => None,
        }
    }

    /// Sets bytes without simulated time. False if no device has the address.
    pub fn write(&mut self, bus: u64, bytes: &[u8]) -> bool {
        match self.target(bus, bytes.len() as u64) {
            Target::Memory(offset) => self.memory.write(offset, bytes),
            Target::Gpu(gpu, offset) => self.gpu_memory[gpu].write(offset, bytes),
            Target::Interrupt | Target::Nothing => return false,
        }
        true
    }

    /// When the handler of the interrupt with this number, from 0, of a root port began.
    pub fn interrupt(&self, port: u8, number: usize) -> Option<Ps> {
        self.interrupts.get(usize::from(port))?.get(number).copied()
    }

    /// Shows the observer every write from now on, and collects signals.
    pub fn observe(&mut self, observer: impl WriteObserver + 'static) {
        self.observer = Some(Box::new(observer));
        self.signals = Some(Vec::new());
    }

    /// Ends that.
    pub fn end_observation(&mut self) {
        self.observer = None;
        self.signals = None;
    }

    /// Takes the signals since the last look.
    pub fn take_signals(&mut self) -> Vec<Signal> {
        self.signals
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// A store of a core to memory of its host becomes visible.
    pub fn commit_local(&mut self, bus: u64, bytes: &[u8], now: Ps) {
        self.commit_bytes(Note::default(), bus, bytes, now);
    }

    fn signal(&mut self, signal: Signal) {
        if let Some(signals) = &mut self.signals {
            signals.push(signal);
        }
    }

    /// Takes the result of the last load.
    pub fn take_loaded(&mut self) -> Option<Result<Vec<u8>, CompletionStatus>> {
        self.loaded.take()
    }

    /// Stores so far of cores that are told of their buffers; each has its count as number.
    pub fn stores(&self) -> u64 {
        self.stores
    }

    /// When a write became visible last.
    pub fn last_commit(&self) -> Ps {
        self.last_commit
    }

    /// Requests for addresses that no device has.
    pub fn unclaimed(&self) -> u64 {
        self.unclaimed
    }

    fn target(&self, bus: u64, len: u64) -> Target {
        let within = |base: u64, bytes: u64| {
            let offset = bus.checked_sub(base)?;
            (offset.checked_add(len)? <= bytes).then_some(offset)
        };
        if within(INTERRUPT_ADDRESS, 1 << 20).is_some() {
            return Target::Interrupt;
        }
        if let Some(offset) = within(MEMORY_BUS, self.memory_bytes) {
            return Target::Memory(offset);
        }
        for (index, (gpu, base)) in self.gpus.iter().zip(GPU_BUS).enumerate() {
            if let Some(offset) = gpu.and_then(|gpu| within(base, gpu.bytes)) {
                return Target::Gpu(index, offset);
            }
        }
        Target::Nothing
    }

    fn on_other_socket(&self, target: Target) -> Option<usize> {
        let Target::Gpu(gpu, _) = target else {
            return None;
        };
        self.gpus[gpu].filter(|gpu| gpu.other_socket).map(|_| gpu)
    }

    fn root(&self, port: u8) -> Option<(ComponentId, End)> {
        self.roots.get(usize::from(port)).copied()
    }

    fn submit(&self, port: u8, tlp: impl Into<Rc<Tlp>>, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some((link, end)) = self.root(port) {
            let packet = tlp.into();
            let submit = LinkEvent::Submit { end, packet };
            ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(submit));
        }
    }

    /// The link of a root port has begun to transmit.
    fn sent(&mut self, port: u8, class: CreditClass) {
        if class == CreditClass::Posted
            && let Some(leaving) = self.leaving.get_mut(usize::from(port))
            && let Some(Some(core)) = leaving.pop_front()
        {
            self.signal(Signal::Drained(core));
        }
    }

    fn free(&self, port: u8, tlp: &Tlp, ctx: &mut Context<'_, DeviceEvent>) {
        if let Some((link, end)) = self.root(port) {
            let cost = tlp.cost();
            let release = LinkEvent::Release { end, cost };
            ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(release));
        }
    }

    fn receive(&mut self, port: u8, tlp: Rc<Tlp>, ctx: &mut Context<'_, DeviceEvent>) {
        match tlp.header {
            HeaderRepr::Completion(_) => self.complete(port, &tlp, ctx),
            HeaderRepr::Memory(header) if header.operation == Operation::Read => {
                self.free(port, &tlp, ctx);
                self.begin_read(port, &header, tlp, ctx);
            }
            HeaderRepr::Memory(_) => self.begin_write(port, tlp, ctx),
        }
    }

    fn begin_write(&mut self, port: u8, tlp: Rc<Tlp>, ctx: &mut Context<'_, DeviceEvent>) {
        let me = ctx.me();
        let (address, len) = tlp
            .written()
            .map_or((0, 0), |(address, bytes)| (address, bytes.len() as u64));
        let target = self.target(address, len);
        if target == Target::Interrupt {
            self.free(port, &tlp, ctx);
            let after = self.config.inbound + self.config.interrupt;
            return ctx.schedule(me, after, DeviceEvent::Host(HostEvent::Handler { port }));
        }
        let mut visible = ctx.now() + self.config.inbound;
        match self.on_other_socket(target) {
            Some(gpu) => {
                let begin = self.writes_free[gpu].max(ctx.now());
                let end = begin + per_kib(self.config.qpi_write_kib, len);
                self.writes_free[gpu] = end;
                visible = end + self.config.inbound;
                let free = HostEvent::Free {
                    port,
                    tlp: tlp.clone(),
                };
                ctx.schedule_at(me, end, DeviceEvent::Host(free));
            }
            None => self.free(port, &tlp, ctx),
        }
        ctx.schedule_at(me, visible, DeviceEvent::Host(HostEvent::Commit { tlp }));
    }

    fn commit(&mut self, tlp: &Tlp, now: Ps) {
        if let Some((address, bytes)) = tlp.written() {
            self.commit_bytes(tlp.note, address, bytes, now);
        }
    }

    fn commit_bytes(&mut self, note: Note, bus: u64, bytes: &[u8], now: Ps) {
        let observer = self.observer.as_mut();
        let kept = observer.is_some_and(|observer| observer.wrote(now, note, bus, bytes));
        if kept || self.write(bus, bytes) {
            self.last_commit = now;
        } else {
            self.unclaimed += 1;
        }
    }

    fn begin_read(
        &mut self,
        port: u8,
        read: &MemoryRepr,
        tlp: Rc<Tlp>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let len = read.dwords.len_bytes() as u64;
        let target = self.target(read.address, len);
        let (server, per_part): (usize, Box<dyn Fn(u64) -> Ps>) = match target {
            Target::Memory(_) => {
                let gap = self.config.completion_gap;
                let speed = self.speed;
                let time = move |bytes| speed.time(bytes + COMPLETION_BYTES) + gap;
                (0, Box::new(time))
            }
            Target::Gpu(gpu, _) => {
                let kib = match self.on_other_socket(target) {
                    Some(_) => self.config.qpi_read_kib,
                    None => self.config.gpu_read_kib,
                };
                (1 + gpu, Box::new(move |bytes| per_kib(kib, bytes)))
            }
            Target::Interrupt | Target::Nothing => {
                self.unclaimed += 1;
                let tlp = Rc::new(Tlp::unsupported(self.id, read));
                let core = None;
                let out = DeviceEvent::Host(HostEvent::Out { port, tlp, core });
                return ctx.schedule(ctx.me(), self.config.read, out);
            }
        };
        let mut at = self.reads_free[server].max(ctx.now() + self.config.read);
        for part in parts(read.address, len, self.config.completion_bytes) {
            at += per_part(part.1);
            let tlp = tlp.clone();
            let time = per_part(part.1);
            let part = (part.0 as u16, part.1 as u16);
            let serve = DeviceEvent::Host(HostEvent::Serve { port, tlp, part });
            // The time of a part is that until the next one can begin.
            ctx.schedule_at(ctx.me(), at - time, serve);
        }
        self.reads_free[server] = at;
    }

    fn serve(&mut self, port: u8, tlp: &Tlp, part: (u16, u16), ctx: &mut Context<'_, DeviceEvent>) {
        let Some(read) = tlp.memory() else { return };
        let (offset, len) = part;
        let data = self.read(read.address.wrapping_add(u64::from(offset)), u64::from(len));
        let data = data.unwrap_or_default();
        if let Some(tlp) = Tlp::completion(self.id, read, usize::from(offset), &data) {
            self.submit(port, tlp, ctx);
        }
    }

    fn load(&mut self, port: u8, address: u64, len: usize, ctx: &mut Context<'_, DeviceEvent>) {
        let tag = self.next_tag;
        self.next_tag = self.next_tag.wrapping_add(1);
        let Ok(tlp) = Tlp::read(self.id, tag, address, len) else {
            self.loaded = Some(Err(CompletionStatus::UnsupportedRequest));
            return;
        };
        let asked = tlp.memory().map_or(0, |read| read.dwords.len_bytes());
        self.loading.insert(tag, (asked, Vec::new()));
        let tlp = Rc::new(tlp);
        let core = None;
        let out = DeviceEvent::Host(HostEvent::Out { port, tlp, core });
        ctx.schedule(ctx.me(), self.config.out, out);
    }

    fn complete(&mut self, port: u8, tlp: &Tlp, ctx: &mut Context<'_, DeviceEvent>) {
        self.free(port, tlp, ctx);
        let HeaderRepr::Completion(header) = &tlp.header else {
            return;
        };
        let Some((asked, mut got)) = self.loading.remove(&header.tag) else {
            return;
        };
        if header.status != CompletionStatus::Success {
            self.loaded = Some(Err(header.status));
            return;
        }
        got.extend_from_slice(&tlp.data);
        if got.len() < asked {
            self.loading.insert(header.tag, (asked, got));
        } else {
            self.loaded = Some(Ok(got));
        }
    }
}

impl Component<DeviceEvent> for Host {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Pcie(LinkEvent::Deliver { port, packet }) => {
                self.receive(port, packet, ctx);
            }
            DeviceEvent::Host(HostEvent::Store { port, store }) => {
                if let Ok(mut tlp) = Tlp::write(self.id, store.address, &store.bytes) {
                    if store.core.is_some() {
                        self.stores += 1;
                        tlp.note = Note::numbered(packet_number(ctx.me(), self.stores));
                    }
                    let tlp = Rc::new(tlp);
                    let core = store.core;
                    let out = DeviceEvent::Host(HostEvent::Out { port, tlp, core });
                    ctx.schedule(ctx.me(), self.config.out, out);
                }
            }
            DeviceEvent::Host(HostEvent::Load { port, address, len }) => {
                self.load(port, address, len, ctx);
            }
            DeviceEvent::Host(HostEvent::Out { port, tlp, core }) => {
                if tlp.class() == CreditClass::Posted
                    && let Some(leaving) = self.leaving.get_mut(usize::from(port))
                {
                    leaving.push_back(core);
                }
                self.submit(port, tlp, ctx);
            }
            DeviceEvent::Pcie(LinkEvent::Sent { port, channel }) => self.sent(port, channel),
            DeviceEvent::Host(HostEvent::Wake { core }) => self.signal(Signal::Awake(core)),
            DeviceEvent::Host(HostEvent::Commit { tlp }) => self.commit(&tlp, ctx.now()),
            DeviceEvent::Host(HostEvent::Free { port, tlp }) => self.free(port, &tlp, ctx),
            DeviceEvent::Host(HostEvent::Serve { port, tlp, part }) => {
                self.serve(port, &tlp, part, ctx);
            }
            DeviceEvent::Host(HostEvent::Handler { port }) => {
                if let Some(interrupts) = self.interrupts.get_mut(usize::from(port)) {
                    interrupts.push(ctx.now());
                }
                self.signal(Signal::Interrupted);
            }
            _ => {}
        }
    }
}
