//! Hosts with PEACH2 chips: PEs run on cores of their processors, and store into the window of the
//! sub-cluster.
//!
//! A put is a list of [`Step`]s of the PE's core. Short ones go as lines through its
//! write-combining buffers. The middle part of a long one goes by the DMA controller of the node's
//! chip, for which PEs of a node wait in turn; the core waits for the interrupt. So everything that
//! a PE has stored before leaves the chip before what it stores next, by whichever way. A chain of a PE is
//! one table of that controller, and its sources lie in the PE's segment.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use hostwire_transport::{ChainLimits, Memory, Visibility, Window};

use crate::engine::{ComponentId, Ps, Stepped};
use crate::models::ht::carry::Note;
use crate::models::ht::opteron::{origin_of, packet_number};
use crate::models::pcie::parts;
use crate::models::pcie::peach2::HostEvent;
use crate::models::pcie::peach2::chip::{
    CHAIN_BYTES_MAX, DESCRIPTORS_MAX, DMA_ALIGN_BYTES, LENGTH_BYTES_MAX, REGISTER_BYTES, dma_part,
};
use crate::models::pcie::peach2::host::{Host, MEMORY_BUS, Signal, Store, WriteObserver};
use crate::models::{DeviceEvent, Fabric};
use crate::tca::{Chain, Device, DeviceAddress, SubCluster, TcaError, Transfer};

use super::board::{Moved, Op, Outcome, Request, Sent, SharedBoard};
use super::platform::Cores;
use super::run::Settings;
use super::{VirtualWire, WireError};

const WORD_BYTES: u64 = 8;
/// A write-combining buffer.
const LINE_BYTES: u64 = 64;
/// Room for them in the memory of a host, for each PE.
pub(super) const SOURCE_BYTES: u64 = CHAIN_BYTES_MAX.next_multiple_of(4096);

/// What a core does next.
enum Step {
    /// It is busy for a time.
    Rest(Ps),
    /// It fills a write-combining buffer, which leaves at once.
    Line { address: u64, bytes: Vec<u8> },
    /// It waits until its buffers are empty.
    Drain,
    /// Its store to memory of its host becomes visible.
    Commit { bus: u64, bytes: Vec<u8> },
    /// It asks for a chain whose sources have these bytes, and waits for the interrupt.
    Launch {
        chain: Chain,
        sources: Vec<(DeviceAddress, Vec<u8>)>,
    },
}

/// A core, which runs one PE.
struct Core {
    node: u16,
    steps: VecDeque<Step>,
    /// It carries out an operation of its PE.
    working: bool,
    busy_until: Ps,
    /// Lines in its write-combining buffers.
    lines: usize,
    /// It waits for the DMA controller.
    launched: bool,
    /// Address of the PE's segment in the window.
    address: u64,
    /// Where a chain takes the bytes of this PE.
    source: DeviceAddress,
}

/// What a node's PEs share.
struct NodeShared {
    host: ComponentId,
    /// Root port of the chip.
    port: u8,
    chip: ComponentId,
    /// Stores of its cores and writes of its chip's controllers before the job.
    before: [u64; 2],
    /// PEs whose chains wait, the first come first.
    queue: VecDeque<(usize, Chain)>,
    /// The chain at work, and whose it is.
    at_work: Option<(usize, Transfer)>,
}

/// See the [module text](self).
pub(super) struct Hosts<'a, 'w> {
    cluster: &'a mut SubCluster<'w>,
    settings: &'a Settings,
    board: SharedBoard,
    cores: Vec<Core>,
    /// By node.
    nodes: Vec<NodeShared>,
}

impl<'a, 'w> Hosts<'a, 'w> {
    /// Gives each PE a core, a segment, and after the segments of its node room for what the DMA
    /// controller takes from it.
    pub(super) fn new(
        cluster: &'a mut SubCluster<'w>,
        settings: &'a Settings,
        board: SharedBoard,
    ) -> Result<Self, WireError> {
        let nodes = cluster.nodes();
        for (pe, &socket) in settings.sockets.iter().enumerate() {
            if socket >= nodes {
                let sockets = nodes;
                return Err(WireError::NoSuchSocket {
                    pe,
                    socket,
                    sockets,
                });
            }
        }
        let mut shared = Vec::new();
        for node in 0..nodes as u16 {
            let (host, port) = cluster.host(node)?;
            shared.push(NodeShared {
                host,
                port,
                chip: cluster.chip(node)?,
                before: counted(cluster, node)?,
                queue: VecDeque::new(),
                at_work: None,
            });
        }
        let mut hosts = Self {
            cluster,
            settings,
            board,
            cores: Vec::new(),
            nodes: shared,
        };
        for (pe, &socket) in settings.sockets.iter().enumerate() {
            hosts.add_core(pe, socket as u16)?;
        }
        Ok(hosts)
    }

    fn add_core(&mut self, pe: usize, node: u16) -> Result<(), WireError> {
        let sockets = &self.settings.sockets;
        let of_node = |pes: &[usize]| pes.iter().filter(|at| **at == usize::from(node)).count();
        let (before, all) = (of_node(&sockets[..pe]) as u64, of_node(sockets) as u64);
        let pitch_bytes = self.settings.pitch_bytes();
        let offset_bytes = self.settings.offset_bytes;
        let memory_bytes = self.cluster.host_bytes(node)?;
        let end = pitch_bytes.checked_mul(all);
        let end = end.and_then(|bytes| bytes.checked_add(offset_bytes + SOURCE_BYTES * all));
        if !offset_bytes.is_multiple_of(LINE_BYTES) || end.is_none_or(|end| end > memory_bytes) {
            let memory_of = |node: usize| self.cluster.host_bytes(node as u16).unwrap_or(0);
            return Err(WireError::NoMemory {
                socket: node.into(),
                offset_bytes,
                segment_bytes: self.settings.segment_bytes,
                memory_bytes,
                fits_bytes: self.settings.fits_bytes(memory_of, SOURCE_BYTES),
            });
        }
        let at = |bytes: u64| DeviceAddress::new(node, Device::Host, offset_bytes + bytes);
        let address = self.cluster.address(at(before * pitch_bytes))?;
        self.cores.push(Core {
            node,
            steps: VecDeque::new(),
            working: false,
            busy_until: Ps::ZERO,
            lines: 0,
            launched: false,
            address,
            source: at(all * pitch_bytes + before * SOURCE_BYTES),
        });
        let shared = &self.nodes[usize::from(node)];
        let board = &mut *self.board.lock();
        for component in [shared.host.index(), shared.chip.index()] {
            board.nodes.entry(component).or_default().pes.push(pe);
        }
        // It begins at once.
        board.release(pe, Outcome::Done);
        Ok(())
    }

    fn now(&self) -> Ps {
        self.cluster.sim().now()
    }

    fn inject(&mut self, time: Ps, node: u16, event: HostEvent) {
        let time = time.max(self.now());
        let host = self.nodes[usize::from(node)].host;
        let event = DeviceEvent::Host(event);
        let injected = self.cluster.sim_mut().inject(time, host, event);
        debug_assert_eq!(injected, Ok(()));
    }

    /// The steps of a store.
    fn store(&self, pe: usize, address: u64, data: Vec<u8>) -> Option<VecDeque<Step>> {
        let place = self.cluster.host_place(address)?;
        let core = &self.cores[pe];
        let processor = &self.cluster.config().host.processor;
        let len = data.len() as u64;
        if place.node == core.node {
            let bus = MEMORY_BUS + place.offset;
            let rest = Step::Rest(processor.local(len));
            return Some([rest, Step::Commit { bus, bytes: data }].into());
        }
        let mut steps = VecDeque::new();
        let middle = dma_part(self.cluster.config().puts.dma_from_bytes, address, len);
        let (head, rest) = data.split_at(middle.start as usize);
        let (body, tail) = rest.split_at((middle.end - middle.start) as usize);
        push_lines(&mut steps, address, head);
        if !body.is_empty() {
            let target = place.after(middle.start)?;
            steps.extend(self.chains(core.source, target, body).ok()?);
        }
        push_lines(&mut steps, address + middle.end, tail);
        Some(steps)
    }

    /// The chains of a long put, with the bytes that it has now.
    fn chains(
        &self,
        from: DeviceAddress,
        to: DeviceAddress,
        bytes: &[u8],
    ) -> Result<Vec<Step>, TcaError> {
        let most = self.chain_bytes_max();
        let mut steps = Vec::new();
        let mut to = Some(to);
        for bytes in bytes.chunks(most as usize) {
            let len = bytes.len() as u64;
            let mut chain = Chain::new();
            if let Some(to) = to {
                chain.copy(to, from, len)?;
            }
            to = to.and_then(|to| to.after(len));
            let sources = vec![(from, bytes.to_vec())];
            steps.push(Step::Launch { chain, sources });
        }
        Ok(steps)
    }

    /// Bytes of a chain: they may go through the chip's memory.
    fn chain_bytes_max(&self) -> u64 {
        let chip_bytes = self.cluster.config().chip.memory_bytes;
        let most = CHAIN_BYTES_MAX.min(chip_bytes.saturating_sub(REGISTER_BYTES));
        (most / DMA_ALIGN_BYTES * DMA_ALIGN_BYTES).max(DMA_ALIGN_BYTES)
    }

    /// The steps of a chain of a PE, with the bytes that its sources have now.
    fn chain(&self, pe: usize, blocks: Vec<Moved>) -> Option<VecDeque<Step>> {
        let core = &self.cores[pe];
        let segment = self.cluster.host_place(core.address)?;
        let (mut chain, mut sources) = (Chain::new(), Vec::new());
        for (number, block) in (0..).zip(blocks) {
            let from = match block.from {
                Some(offset) => segment.after(offset)?,
                // Words lie where long puts have theirs.
                None => core.source.after(number * WORD_BYTES)?,
            };
            let to = self.cluster.host_place(block.address)?;
            chain.copy(to, from, block.bytes.len() as u64).ok()?;
            sources.push((from, block.bytes));
        }
        Some([Step::Launch { chain, sources }].into())
    }

    /// The core of a PE does what it can do now.
    fn advance(&mut self, pe: usize) -> Result<(), WireError> {
        loop {
            let now = self.now();
            let processor = &self.cluster.config().host.processor;
            let core = &mut self.cores[pe];
            if !core.working || core.launched || now < core.busy_until {
                return Ok(());
            }
            let Some(step) = core.steps.pop_front() else {
                core.working = false;
                self.board.lock().release(pe, Outcome::Done);
                return Ok(());
            };
            let node = core.node;
            match step {
                Step::Rest(time) => self.rest(pe, time),
                Step::Line { .. } if core.lines >= processor.write_buffers => {
                    core.steps.push_front(step);
                    return Ok(());
                }
                Step::Line { address, bytes } => {
                    core.lines += 1;
                    let time = processor.issue(bytes.len() as u64);
                    let core = Some(pe as u16);
                    let store = Store {
                        address,
                        bytes,
                        core,
                    };
                    let port = self.nodes[usize::from(node)].port;
                    let store = Box::new(store);
                    self.inject(now, node, HostEvent::Store { port, store });
                    self.rest(pe, time);
                }
                Step::Drain if core.lines > 0 => {
                    core.steps.push_front(step);
                    return Ok(());
                }
                Step::Drain => {}
                Step::Commit { bus, bytes } => {
                    let host = self.nodes[usize::from(node)].host;
                    if let Some(host) = self.cluster.sim_mut().component_mut::<Host>(host) {
                        host.commit_local(bus, &bytes, now);
                    }
                }
                Step::Launch { chain, sources } => {
                    core.launched = true;
                    for (place, bytes) in sources {
                        self.cluster.set_memory(place, &bytes)?;
                    }
                    self.nodes[usize::from(node)].queue.push_back((pe, chain));
                    self.launch(node)?;
                }
            }
        }
    }

    fn rest(&mut self, pe: usize, time: Ps) {
        let until = self.now() + time;
        self.cores[pe].busy_until = until;
        self.wake(pe, until);
    }

    /// Starts the next chain of a node, if none is at work.
    fn launch(&mut self, node: u16) -> Result<(), TcaError> {
        let shared = &mut self.nodes[usize::from(node)];
        if shared.at_work.is_some() {
            return Ok(());
        }
        if let Some((pe, chain)) = shared.queue.pop_front() {
            let engine = self.cluster.config().puts.engine;
            let transfer = self.cluster.launch(node, &chain, engine)?;
            self.nodes[usize::from(node)].at_work = Some((pe, transfer));
        }
        Ok(())
    }

    /// The handler of a node's interrupt has begun.
    fn interrupted(&mut self, node: u16) -> Result<(), WireError> {
        if self.cluster.go_on(node)?.is_none() {
            return Ok(());
        }
        if let Some((pe, _)) = self.nodes[usize::from(node)].at_work.take() {
            self.cores[pe].launched = false;
            self.launch(node)?;
            self.advance(pe)?;
        }
        Ok(())
    }
}

impl Cores for Hosts<'_, '_> {
    fn sim(&self) -> &Fabric {
        self.cluster.sim()
    }

    fn sim_mut(&mut self) -> &mut Fabric {
        self.cluster.sim_mut()
    }

    fn attach(&mut self, segments: Vec<Memory>) -> Result<Vec<VirtualWire>, WireError> {
        let addresses: Arc<[u64]> = self.cores.iter().map(|core| core.address).collect();
        let nodes: Arc<[u16]> = self.cores.iter().map(|core| core.node).collect();
        let poll = self.cluster.config().host.poll;
        let mut observed: Vec<Vec<Observed>> = self.nodes.iter().map(|_| Vec::new()).collect();
        let mut wires = Vec::new();
        for ((pe, core), memory) in self.cores.iter().enumerate().zip(segments) {
            let segment = Window::own(memory.clone(), Visibility::Coherent);
            let place = self.cluster.host_place(core.address);
            let bus = MEMORY_BUS + place.map_or(0, |place| place.offset);
            observed[usize::from(core.node)].push(Observed {
                pe,
                bus: bus..bus + self.settings.segment_bytes as u64,
                segment: memory,
            });
            wires.push(VirtualWire {
                pe,
                board: self.board.clone(),
                segment: segment.map_err(WireError::Segment)?,
                addresses: Arc::clone(&addresses),
                nodes: Arc::clone(&nodes),
                look: poll,
                send_work: Ps::ZERO,
                dma: Vec::new(),
                chains: Some(ChainLimits {
                    blocks_max: DESCRIPTORS_MAX,
                    block_bytes_max: LENGTH_BYTES_MAX as usize,
                    bytes_max: self.chain_bytes_max() as usize,
                    align_bytes: DMA_ALIGN_BYTES as usize,
                }),
                messages: None,
            });
        }
        for (node, segments) in observed.into_iter().enumerate() {
            let observer = Observer {
                board: self.board.clone(),
                segments,
                poll,
            };
            let id = self.nodes[node].host;
            if let Some(host) = self.cluster.sim_mut().component_mut::<Host>(id) {
                host.observe(observer);
            }
        }
        Ok(wires)
    }

    fn detach(&mut self) {
        for node in &self.nodes {
            let sim = self.cluster.sim_mut();
            if let Some(host) = sim.component_mut::<Host>(node.host) {
                host.end_observation();
            }
        }
    }

    fn take(&mut self, pe: usize) -> Result<(), WireError> {
        let request = self.board.lock().pes.get_mut(pe).map(|entry| {
            // The core has it now.
            std::mem::replace(&mut entry.request, Request::Doing)
        });
        let processor = &self.cluster.config().host.processor;
        let steps = match request {
            Some(Request::Do(Op::Compute(time))) => Some([Step::Rest(time)].into()),
            Some(Request::Do(Op::Fence)) => Some([Step::Drain, Step::Rest(processor.fence)].into()),
            Some(Request::Do(Op::Store { address, data })) => self.store(pe, address, data),
            Some(Request::Chain(blocks)) => self.chain(pe, blocks),
            _ => return Ok(()),
        };
        let Some(steps) = steps else {
            self.board.lock().release(pe, Outcome::Aborted);
            return Ok(());
        };
        let core = &mut self.cores[pe];
        core.steps = steps;
        core.working = true;
        self.advance(pe)
    }

    fn wake(&mut self, pe: usize, time: Ps) {
        let node = self.cores[pe].node;
        self.inject(time, node, HostEvent::Wake { core: pe as u16 });
    }

    fn handled(&mut self, stepped: Stepped) -> Result<(), WireError> {
        let target = stepped.target;
        let sim = self.cluster.sim_mut();
        let Some(host) = sim.component_mut::<Host>(target) else {
            return Ok(());
        };
        for signal in host.take_signals() {
            match signal {
                Signal::Awake(pe) => {
                    let pe = usize::from(pe);
                    self.board.lock().release_due(pe, stepped.time);
                    self.advance(pe)?;
                }
                Signal::Drained(pe) => {
                    let pe = usize::from(pe);
                    self.cores[pe].lines -= 1;
                    self.advance(pe)?;
                }
                Signal::Interrupted => {
                    let mut nodes = self.nodes.iter();
                    if let Some(node) = nodes.position(|node| node.host == target) {
                        self.interrupted(node as u16)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn name(&self, pe: usize) -> &str {
        self.cluster.name(self.cores[pe].node)
    }

    fn sent(&self, pe: usize) -> Vec<Sent> {
        let node = self.cores[pe].node;
        let shared = &self.nodes[usize::from(node)];
        // The node is one of the cluster.
        let counted = counted(self.cluster, node).unwrap_or(shared.before);
        let all = [shared.host, shared.chip].into_iter().zip(counted);
        let sent = all
            .zip(shared.before)
            .map(|((component, count), before)| Sent {
                component: component.index(),
                amount: count - before,
                last: packet_number(component, count),
            });
        sent.collect()
    }

    fn is_idle_core(&self, _: &str, _: &str) -> bool {
        // Components of a sub-cluster have no cores.
        false
    }
}

/// Stores of a node's cores, and writes of its chip's controllers.
fn counted(cluster: &SubCluster<'_>, node: u16) -> Result<[u64; 2], TcaError> {
    let (host, _) = cluster.host(node)?;
    let host = cluster.sim().component::<Host>(host);
    let chip = cluster.chip_counters(node)?;
    Ok([host.map_or(0, Host::stores), chip.dma_writes])
}

/// The segment of a PE in the memory of its host.
struct Observed {
    pe: usize,
    bus: Range<u64>,
    segment: Memory,
}

/// Brings what arrives at a host into the segments of its PEs.
struct Observer {
    board: SharedBoard,
    segments: Vec<Observed>,
    /// From visible in memory to the processor that polls.
    poll: Ps,
}

impl WriteObserver for Observer {
    fn wrote(&mut self, now: Ps, note: Note, bus: u64, bytes: &[u8]) -> bool {
        let end = bus.saturating_add(bytes.len() as u64);
        let inside = |own: &&Observed| own.bus.start <= bus && end <= own.bus.end;
        let Some(own) = self.segments.iter().find(inside) else {
            return false;
        };
        let offset = (bus - own.bus.start) as usize;
        if own.segment.copy_in(offset, bytes).is_err() {
            return false;
        }
        let board = &mut *self.board.lock();
        // Stores within a host have no number: nobody waits for them.
        if note != Note::default() {
            board.arrived(origin_of(note.number()), 1, note.number(), now);
        }
        if let Some(pe) = board.pes.get_mut(own.pe) {
            pe.rings += 1;
            if let Request::Store { .. } = pe.request {
                board.wake(own.pe, now + self.poll);
            }
        }
        true
    }
}

/// Lines, none longer than a write-combining buffer.
fn push_lines(steps: &mut VecDeque<Step>, address: u64, bytes: &[u8]) {
    let lines = parts(address, bytes.len() as u64, LINE_BYTES);
    steps.extend(lines.map(|(offset, len)| {
        Step::Line {
            address: address + offset,
            bytes: bytes
                .get(offset as usize..(offset + len) as usize)
                .unwrap_or_default()
                .to_vec(),
        }
    }));
}
