//! A sub-cluster and the calls of the programming interface.

use std::ops::ControlFlow;

use hostwire_plan::Plan;
use serde::Serialize;

use crate::devices::link::{End, LinkCounters, Unit};
use crate::devices::pcie::{Link, parts};
use crate::devices::peach2::chip::{
    CONTROL_EPLAST, CONTROL_INTERRUPT, Chip, ChipCounters, Descriptor, DmaKind, DmaStatus,
    REGISTER_BYTES, TABLE_BYTES,
};
use crate::devices::peach2::host::{GPU_BUS, Host, HostEvent, MEMORY_BUS, Store};
use crate::devices::{DeviceEvent, Fabric};
use crate::engine::{ComponentId, Ps, RunError, Summary};
use crate::record::{Direction, Encapsulation, Recording};

use super::build::{Built, Config, Node, Wire, build};
use super::chain::{Chain, Piece};
use super::error::{BuildError, TcaError};
use super::place::{Device, Place};

/// Memory at the end of each host that the driver keeps: a page for each kind of table.
pub(super) const DRIVER_BYTES: u64 = 4 * TABLE_BYTES;
/// Events after which a run is given up.
const EVENTS_MAX: u64 = 2_000_000_000;
/// Events between two looks at who watches.
const SLICE_EVENTS: u64 = 1 << 16;
/// A write-combining buffer of the processor: PIO leaves in pieces of it.
const LINE_BYTES: u64 = 64;

/// How a chain is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// The controller of the paper's measurements: data goes through the chip's memory. A chain
    /// from there is one DMA write and a chain into it one DMA read; any other takes two
    /// phases, with an interrupt in between.
    TwoPhase,
    /// The controller that the paper announces: reads and writes at the same time.
    Pipelined,
}

/// A chain that was launched. Nothing happens if it is dropped: the chain runs on.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "wait for it"]
pub struct Transfer {
    node: u16,
    launched: Ps,
}

impl Transfer {
    /// When it was launched.
    pub fn launched(&self) -> Ps {
        self.launched
    }
}

/// Use of one direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// From this port.
    pub from: String,
    /// To this one.
    pub to: String,
    /// What crossed.
    pub counters: LinkCounters,
}

/// The driver of a node.
#[derive(Default)]
struct Driver {
    /// Interrupts seen so far.
    interrupts: usize,
    /// Phases that are still to come, the next one first.
    phases: Vec<(DmaKind, Vec<Descriptor>)>,
    busy: bool,
}

/// A sub-cluster of 2 to 16 nodes.
pub struct SubCluster<'w> {
    sim: Fabric,
    nodes: Vec<Node>,
    wires: Vec<Wire>,
    drivers: Vec<Driver>,
    config: Config,
    events_max: u64,
    watch: Option<Watch<'w>>,
}

type Watch<'w> = &'w dyn Fn(&Summary) -> ControlFlow<()>;

impl<'w> SubCluster<'w> {
    /// Builds the cluster of a plan. Its drivers are loaded: the chips route as the plan says.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn new(plan: &Plan, config: &Config) -> Result<SubCluster<'w>, BuildError> {
        let Built { sim, nodes, wires } = build(plan, config)?;
        Ok(SubCluster {
            sim,
            drivers: nodes.iter().map(|_| Driver::default()).collect(),
            nodes,
            wires,
            config: config.clone(),
            events_max: EVENTS_MAX,
            watch: None,
        })
    }

    /// Gives up after so many events; `watch` is shown how far it is, and may end the run.
    pub fn limit(&mut self, events_max: u64, watch: Option<Watch<'w>>) {
        self.events_max = events_max;
        self.watch = watch;
    }

    /// Records every TLP that crosses a link from now on, one interface per link.
    pub fn record(&mut self, recording: &Recording) {
        for wire in &self.wires {
            let Some(link) = self.sim.component_mut::<Link>(wire.link) else {
                continue;
            };
            let name = format!("{} - {}", wire.ends[0], wire.ends[1]);
            let interface = recording.add_interface(name, Encapsulation::PciExpress);
            let recording = recording.clone();
            link.set_tap(Box::new(move |tapped| {
                let Unit::Packet { number, packet, .. } = tapped.unit else {
                    return;
                };
                let direction = Direction::from(tapped.from);
                let bytes = packet.on_the_link(*number).unwrap_or_default();
                let (begin, end) = (tapped.begin, tapped.end);
                recording.push(begin, end, interface, direction, packet.name(), bytes);
            }));
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The current time.
    pub fn now(&self) -> Ps {
        self.sim.now()
    }

    /// Events, time and event hash so far.
    pub fn summary(&self) -> Summary {
        self.sim.summary()
    }

    /// The address of a place in the window.
    ///
    /// # Errors
    /// [`TcaError::NoNode`], [`TcaError::NoDevice`], [`TcaError::OutOfRange`].
    pub fn address(&self, place: Place) -> Result<u64, TcaError> {
        self.check(place, 1)?;
        let node = self.node(place.node)?;
        Ok(node.base + place.device.block() as u64 * node.block_bytes + place.offset)
    }

    /// Bytes of a device, as they are now. Takes no simulated time and uses no link: for
    /// checking results.
    ///
    /// # Errors
    /// As [`address`](Self::address).
    pub fn memory(&self, place: Place, len: u64) -> Result<Vec<u8>, TcaError> {
        self.check(place, len)?;
        let node = self.node(place.node)?;
        if place.device == Device::Internal {
            let chip = self.sim.component::<Chip>(node.chip);
            return Ok(chip.map_or(Vec::new(), |chip| chip.memory(place.offset, len)));
        }
        let host = self.sim.component::<Host>(node.host);
        let bytes = host.and_then(|host| host.read(bus(place), len));
        Ok(bytes.unwrap_or_default())
    }

    /// Sets bytes of a device, in no simulated time.
    ///
    /// # Errors
    /// As [`address`](Self::address).
    pub fn set_memory(&mut self, place: Place, bytes: &[u8]) -> Result<(), TcaError> {
        self.check(place, bytes.len() as u64)?;
        let node = self.node(place.node)?;
        let (host, chip) = (node.host, node.chip);
        if place.device == Device::Internal {
            if let Some(chip) = self.sim.component_mut::<Chip>(chip) {
                chip.set_memory(place.offset, bytes);
            }
        } else if let Some(host) = self.sim.component_mut::<Host>(host) {
            host.write(bus(place), bytes);
        }
        Ok(())
    }

    /// A program on `node` stores into another node: PIO. Returns when the stores were issued;
    /// they arrive in order.
    ///
    /// Stores to the own node do not go through the chip and take no time here.
    ///
    /// # Errors
    /// As [`address`](Self::address); nothing is stored then.
    pub fn store(&mut self, node: u16, place: Place, bytes: &[u8]) -> Result<(), TcaError> {
        self.check(place, bytes.len() as u64)?;
        let issuer = self.node(node)?;
        if place.node == node {
            return self.set_memory(place, bytes);
        }
        let (host, port) = (issuer.host, issuer.port);
        let address = self.address(place)?;
        self.issue(host, port, address, bytes);
        Ok(())
    }

    /// A program on `node` loads from its own node. Loads take no time here.
    ///
    /// # Errors
    /// [`TcaError::RemoteRead`] for another node's memory; as [`address`](Self::address).
    pub fn load(&self, node: u16, place: Place, len: u64) -> Result<Vec<u8>, TcaError> {
        self.node(node)?;
        if place.node != node {
            return Err(TcaError::RemoteRead {
                node,
                target: place,
            });
        }
        self.memory(place, len)
    }

    /// A program on `node` loads up to 64 bytes by a bare load instruction, past the
    /// rules of the interface: the load goes to the chip as a read.
    ///
    /// # Errors
    /// [`TcaError::Refused`]: the chip answers reads of other nodes by Unsupported Request. As
    /// [`address`](Self::address) and [`wait`](Self::wait).
    pub fn bare_load(&mut self, node: u16, place: Place, len: usize) -> Result<Vec<u8>, TcaError> {
        let len = len.clamp(1, LINE_BYTES as usize);
        self.check(place, len as u64)?;
        let address = self.address(place)?;
        let issuer = self.node(node)?;
        let (host, port) = (issuer.host, issuer.port);
        let load = DeviceEvent::Host(HostEvent::Load { port, address, len });
        self.inject(host, load);
        let mut loaded = None;
        self.step_until(node, "a load", &mut |sim: &mut Fabric| {
            loaded = sim.component_mut::<Host>(host).and_then(Host::take_loaded);
            loaded.is_some()
        })?;
        match loaded {
            Some(Ok(mut bytes)) => {
                let skip = (place.offset % 4) as usize;
                bytes.drain(..skip.min(bytes.len()));
                bytes.truncate(len);
                Ok(bytes)
            }
            _ => Err(TcaError::Refused { target: place }),
        }
    }

    /// A program on `node` polls its host's memory until `bytes` are there.
    ///
    /// # Errors
    /// [`TcaError::RemoteRead`] for other nodes; [`TcaError::Never`]; as
    /// [`address`](Self::address) and [`wait`](Self::wait).
    pub fn wait_for(&mut self, node: u16, place: Place, bytes: &[u8]) -> Result<Ps, TcaError> {
        self.load(node, place, bytes.len() as u64)?;
        let (host, at) = (self.node(node)?.host, bus(place));
        if self.memory(place, bytes.len() as u64)? != bytes {
            self.step_until(node, "bytes in its memory", &mut |sim: &mut Fabric| {
                let now = sim.now();
                let host = sim.component::<Host>(host);
                host.is_some_and(|host| {
                    host.last_commit() == now
                        && host.read(at, bytes.len() as u64).as_deref() == Some(bytes)
                })
            })?;
        }
        let seen = self.sim.now() + self.config.host.poll;
        self.sim.run_until(seen);
        Ok(seen)
    }

    /// Lets `node` run a chain: its driver writes the table into the host's memory, and the
    /// doorbell. Writing the table takes no time here.
    ///
    /// # Errors
    /// [`TcaError::RemoteRead`] if a source is another node, [`TcaError::EmptyChain`],
    /// [`TcaError::Busy`]; as [`address`](Self::address). Nothing happens then.
    pub fn launch(
        &mut self,
        node: u16,
        chain: &Chain,
        engine: Engine,
    ) -> Result<Transfer, TcaError> {
        self.check_chain(node, chain)?;
        if self.driver(node).busy {
            return Err(TcaError::Busy { node });
        }
        let phases = self.phases(node, chain, engine)?;
        let driver = self.driver(node);
        driver.busy = true;
        driver.phases = phases;
        let launched = self.sim.now();
        self.start_phase(node)?;
        Ok(Transfer { node, launched })
    }

    /// Whether `node` could run a chain.
    ///
    /// # Errors
    /// As [`launch`](Self::launch), but for [`TcaError::Busy`].
    pub fn check_chain(&self, node: u16, chain: &Chain) -> Result<(), TcaError> {
        self.node(node)?;
        if chain.pieces().is_empty() {
            return Err(TcaError::EmptyChain);
        }
        for piece in chain.pieces() {
            if piece.source.node != node {
                return Err(TcaError::RemoteRead {
                    node,
                    target: piece.source,
                });
            }
            self.check(piece.source, piece.bytes)?;
            self.check(piece.destination, piece.bytes)?;
        }
        Ok(())
    }

    /// Waits until the handler of the transfer's last interrupt begins, and returns that time.
    ///
    /// This is local completion: the source may be used again, and all writes are under way in
    /// order. To know that they have arrived let the chain end with a word that the other node
    /// polls.
    ///
    /// # Errors
    /// [`TcaError::Dma`] if the controller ended early; [`TcaError::Never`],
    /// [`TcaError::Run`], [`TcaError::Interrupted`].
    pub fn wait(&mut self, transfer: Transfer) -> Result<Ps, TcaError> {
        let node = transfer.node;
        loop {
            let ended = self.wait_interrupt(node);
            let status = self.dma_status(node)?;
            let failed = match ended {
                Ok(_) if status == DmaStatus::Done => None,
                Ok(_) => Some(TcaError::Dma { node, status }),
                Err(ref error) => Some(error.clone()),
            };
            if let Some(error) = failed {
                *self.driver(node) = Driver {
                    interrupts: self.driver(node).interrupts,
                    ..Driver::default()
                };
                return Err(error);
            }
            if self.driver(node).phases.is_empty() {
                self.driver(node).busy = false;
                return ended;
            }
            self.start_phase(node)?;
        }
    }

    /// Copies between devices and waits as [`wait`](Self::wait) does: `cudaMemcpyPeer` with
    /// nodes. Runs on the node that has the source.
    ///
    /// # Errors
    /// As [`Chain::copy`], [`launch`](Self::launch) and [`wait`](Self::wait).
    pub fn memcpy_peer(
        &mut self,
        destination: Place,
        source: Place,
        bytes: u64,
    ) -> Result<Ps, TcaError> {
        let mut chain = Chain::new();
        chain.copy(destination, source, bytes)?;
        let transfer = self.launch(source.node, &chain, Engine::Pipelined)?;
        self.wait(transfer)
    }

    /// Lets everything that is under way arrive.
    ///
    /// # Errors
    /// [`TcaError::Run`] with everybody who waits, if something cannot; as
    /// [`wait`](Self::wait).
    pub fn settle(&mut self) -> Result<Ps, TcaError> {
        self.steps(&mut |_| false)?;
        self.sim.check_stall()?;
        Ok(self.sim.now())
    }

    /// As [`settle`](Self::settle), but the time when a write became visible last: what links
    /// still tell each other then moves no data.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub fn settle_data(&mut self) -> Result<Ps, TcaError> {
        self.settle()?;
        let hosts = self.nodes.iter().map(|node| node.host);
        let commits = hosts.filter_map(|host| self.sim.component::<Host>(host));
        let commits = commits.map(Host::last_commit).max();
        let kept = self.nodes.iter().filter_map(|node| {
            let chip = self.sim.component::<Chip>(node.chip);
            chip.map(Chip::last_store)
        });
        Ok(commits.into_iter().chain(kept).max().unwrap_or_default())
    }

    /// The counters of a node's chip.
    ///
    /// # Errors
    /// [`TcaError::NoNode`].
    pub fn chip_counters(&self, node: u16) -> Result<ChipCounters, TcaError> {
        let chip = self.node(node)?.chip;
        let chip = self.sim.component::<Chip>(chip);
        Ok(chip.map(Chip::counters).unwrap_or_default())
    }

    /// Requests to the host of a node for addresses that no device has.
    ///
    /// # Errors
    /// [`TcaError::NoNode`].
    pub fn unclaimed(&self, node: u16) -> Result<u64, TcaError> {
        let host = self.node(node)?.host;
        Ok(self.sim.component::<Host>(host).map_or(0, Host::unclaimed))
    }

    /// Use of both directions of every link, those to hosts first.
    pub fn links(&self) -> Vec<LinkUse> {
        let directions = self.wires.iter().flat_map(|wire| {
            [(End::A, 0, 1), (End::B, 1, 0)].map(|(end, from, to)| {
                let link = self.sim.component::<Link>(wire.link);
                LinkUse {
                    from: wire.ends[from].clone(),
                    to: wire.ends[to].clone(),
                    counters: link.map(|link| link.counters(end)).unwrap_or_default(),
                }
            })
        });
        directions.collect()
    }

    fn node(&self, node: u16) -> Result<&Node, TcaError> {
        let nodes = self.nodes.len();
        let found = self.nodes.get(usize::from(node));
        found.ok_or(TcaError::NoNode { node, nodes })
    }

    /// The node must exist, which the caller has checked: there is a driver for each.
    fn driver(&mut self, node: u16) -> &mut Driver {
        &mut self.drivers[usize::from(node)]
    }

    fn check(&self, place: Place, len: u64) -> Result<(), TcaError> {
        let backed = self.node(place.node)?.backed[place.device.block()];
        if backed == 0 {
            return Err(TcaError::NoDevice {
                node: place.node,
                device: place.device,
            });
        }
        let (first, end) = match place.device {
            Device::Gpu0 | Device::Gpu1 => (0, backed),
            Device::Host => (0, backed - DRIVER_BYTES),
            Device::Internal => (REGISTER_BYTES, backed),
        };
        let last = place.offset.checked_add(len);
        if place.offset < first || last.is_none_or(|last| last > end) {
            return Err(TcaError::OutOfRange {
                place,
                len,
                first,
                end,
            });
        }
        Ok(())
    }

    /// The tables that a chain takes, the first one first.
    fn phases(
        &self,
        node: u16,
        chain: &Chain,
        engine: Engine,
    ) -> Result<Vec<(DmaKind, Vec<Descriptor>)>, TcaError> {
        let own = self.node(node)?;
        let address = |place| self.address(place);
        let each = |make: &dyn Fn(&Piece) -> Result<Descriptor, TcaError>| {
            chain
                .pieces()
                .iter()
                .map(make)
                .collect::<Result<Vec<_>, _>>()
        };
        if engine == Engine::Pipelined {
            let list = each(&|piece| {
                let source = address(piece.source)? - own.base;
                Ok(descriptor(piece, source, address(piece.destination)?))
            })?;
            return Ok(vec![(DmaKind::Pipelined, list)]);
        }
        let inside = |place: &Place| place.node == node && place.device == Device::Internal;
        if chain.pieces().iter().all(|piece| inside(&piece.source)) {
            let list = each(&|piece| {
                Ok(descriptor(
                    piece,
                    piece.source.offset,
                    address(piece.destination)?,
                ))
            })?;
            return Ok(vec![(DmaKind::Write, list)]);
        }
        if chain
            .pieces()
            .iter()
            .all(|piece| inside(&piece.destination))
        {
            let list = each(&|piece| {
                Ok(descriptor(
                    piece,
                    piece.destination.offset,
                    address(piece.source)?,
                ))
            })?;
            return Ok(vec![(DmaKind::Read, list)]);
        }
        // Pieces follow each other in the chip's memory, from its end backwards in all.
        let end = own.backed[Device::Internal.block()];
        let Some(start) = end
            .checked_sub(chain.bytes())
            .filter(|start| *start >= REGISTER_BYTES)
        else {
            return Err(TcaError::OutOfRange {
                place: Place::new(node, Device::Internal, REGISTER_BYTES),
                len: chain.bytes(),
                first: REGISTER_BYTES,
                end,
            });
        };
        let mut at = start - start % 4;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for piece in chain.pieces() {
            reads.push(descriptor(piece, at, address(piece.source)?));
            writes.push(descriptor(piece, at, address(piece.destination)?));
            at += piece.bytes;
        }
        Ok(vec![(DmaKind::Read, reads), (DmaKind::Write, writes)])
    }

    /// Writes the table of the next phase into the host's memory and rings the doorbell.
    fn start_phase(&mut self, node: u16) -> Result<(), TcaError> {
        let own = self.node(node)?;
        let (host, port) = (own.host, own.port);
        let memory_bytes = own.backed[Device::Host.block()];
        let registers = own.base + Device::Internal.block() as u64 * own.block_bytes;
        let driver = self.driver(node);
        if driver.phases.is_empty() {
            return Err(TcaError::EmptyChain);
        }
        let (kind, list) = driver.phases.remove(0);
        // One table for each board of the host.
        let table = memory_bytes - DRIVER_BYTES + TABLE_BYTES * (u64::from(port) % 4);
        let table = MEMORY_BUS + table;
        let mut bytes = vec![0; 16];
        bytes.extend(
            list.iter()
                .flat_map(|d| d.encode(kind == DmaKind::Pipelined)),
        );
        if let Some(host) = self.sim.component_mut::<Host>(host) {
            host.write(table, &bytes);
        }
        let control = u32::from(CONTROL_INTERRUPT | CONTROL_EPLAST) << 16;
        let count = list.len() as u32;
        let words = [
            control | count,
            (table >> 32) as u32,
            table as u32,
            count.saturating_sub(1),
        ];
        let doorbell: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.issue(host, port, registers + kind.header(), &doorbell);
        Ok(())
    }

    fn dma_status(&self, node: u16) -> Result<DmaStatus, TcaError> {
        let chip = self.sim.component::<Chip>(self.node(node)?.chip);
        Ok(chip.map(Chip::dma_status).unwrap_or_default())
    }

    fn wait_interrupt(&mut self, node: u16) -> Result<Ps, TcaError> {
        let (host, port) = {
            let own = self.node(node)?;
            (own.host, own.port)
        };
        let seen = self.driver(node).interrupts;
        let mut time = None;
        self.step_until(node, "an interrupt", &mut |sim: &mut Fabric| {
            time = sim.component::<Host>(host).and_then(|host| {
                let mut own = host.interrupts().iter().filter(|i| i.port == port);
                own.nth(seen).map(|interrupt| interrupt.time)
            });
            time.is_some()
        })?;
        self.driver(node).interrupts += 1;
        Ok(time.unwrap_or_default())
    }

    /// PIO: pieces that a write-combining buffer holds.
    fn issue(&mut self, host: ComponentId, port: u8, address: u64, bytes: &[u8]) {
        for (offset, len) in parts(address, bytes.len() as u64, LINE_BYTES) {
            let piece = bytes.get(offset as usize..(offset + len) as usize);
            let store = Box::new(Store {
                address: address + offset,
                bytes: piece.unwrap_or_default().to_vec(),
            });
            let event = HostEvent::Store { port, store };
            self.inject(host, DeviceEvent::Host(event));
        }
    }

    fn inject(&mut self, target: ComponentId, event: DeviceEvent) {
        let now = self.sim.now();
        // The host is a component, and now has not passed.
        let _ = self.sim.inject(now, target, event);
    }

    fn step_until(
        &mut self,
        node: u16,
        what: &'static str,
        done: &mut dyn FnMut(&mut Fabric) -> bool,
    ) -> Result<(), TcaError> {
        if done(&mut self.sim) || self.steps(done)? {
            return Ok(());
        }
        self.sim.check_stall()?;
        Err(TcaError::Never { node, what })
    }

    /// Steps until `done` says so; false if no event is left first.
    fn steps(&mut self, done: &mut dyn FnMut(&mut Fabric) -> bool) -> Result<bool, TcaError> {
        let started = std::time::Instant::now();
        let mut since_look = 0;
        let ended = loop {
            if since_look >= SLICE_EVENTS {
                since_look = 0;
                if let Err(error) = self.look() {
                    break Err(error);
                }
            }
            since_look += 1;
            if self.sim.step().is_none() {
                break Ok(false);
            }
            if done(&mut self.sim) {
                break Ok(true);
            }
        };
        self.sim.add_wall(started.elapsed());
        ended.and_then(|found| self.look().map(|()| found))
    }

    fn look(&self) -> Result<(), TcaError> {
        let summary = self.sim.summary();
        let (events, time) = (summary.events, summary.virtual_time);
        if self.watch.is_some_and(|watch| watch(&summary).is_break()) {
            return Err(TcaError::Interrupted { events, time });
        }
        if events > self.events_max {
            return Err(RunError::EventsSpent {
                events: self.events_max,
                time,
            }
            .into());
        }
        Ok(())
    }
}

fn descriptor(piece: &Piece, local: u64, address: u64) -> Descriptor {
    Descriptor {
        dwords: (piece.bytes / 4) as u16,
        local,
        address,
    }
}

/// Where a place of a host or a GPU is on the host's bus.
fn bus(place: Place) -> u64 {
    let base = match place.device {
        Device::Gpu0 => GPU_BUS[0],
        Device::Gpu1 => GPU_BUS[1],
        Device::Host | Device::Internal => MEMORY_BUS,
    };
    base.wrapping_add(place.offset)
}
