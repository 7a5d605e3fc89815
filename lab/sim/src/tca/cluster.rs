//! A sub-cluster and the calls of the programming interface.

use std::ops::ControlFlow;

use hostwire_plan::Plan;

use crate::engine::{ComponentId, Ps, RunError, Summary};
use crate::models::link::{End, LinkCounters};
use crate::models::pcie::peach2::chip::{Chip, ChipCounters, REGISTER_BYTES};
use crate::models::pcie::peach2::host::{GPU_BUS, Host, HostEvent, MEMORY_BUS, Store};
use crate::models::pcie::{Link, parts};
use crate::models::{DeviceEvent, Fabric};
use crate::record::{RecordError, Recording};

use super::build::{Built, Config, Node, SouthCable, Wire, build};
use super::chain::Chain;
use super::device_address::{Device, DeviceAddress};
use super::dma::{DRIVER_BYTES, Driver, Engine};
use super::error::{BuildError, TcaError};

/// Events after which a run is given up.
const EVENTS_MAX: u64 = 2_000_000_000;
/// Events between two calls of the watch.
const SLICE_EVENTS: u64 = 1 << 16;
/// A write-combining buffer of the processor: PIO leaves in pieces of it.
const LINE_BYTES: u64 = 64;

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

/// A sub-cluster of 2 to 16 nodes.
pub struct SubCluster<'w> {
    pub(super) sim: Fabric,
    nodes: Vec<Node>,
    wires: Vec<Wire>,
    pub(super) south: Vec<SouthCable>,
    /// The management processors run.
    pub(super) is_managed: bool,
    pub(super) drivers: Vec<Driver>,
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
        let Built {
            sim,
            nodes,
            wires,
            south,
        } = build(plan, config)?;
        Ok(SubCluster {
            sim,
            drivers: nodes.iter().map(|_| Driver::default()).collect(),
            nodes,
            wires,
            south,
            is_managed: false,
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

    /// Records what crosses its links from now on, and its events if they are wanted.
    ///
    /// # Errors
    /// [`RecordError`] if the event trace cannot begin.
    pub fn record(&mut self, recording: &Recording) -> Result<(), RecordError> {
        recording.watch_all(&mut self.sim)
    }

    pub(crate) fn sim(&self) -> &Fabric {
        &self.sim
    }

    pub(crate) fn sim_mut(&mut self) -> &mut Fabric {
        &mut self.sim
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The host of a node, and its root port for the node's chip.
    pub(crate) fn host(&self, node: u16) -> Result<(ComponentId, u8), TcaError> {
        let own = self.node(node)?;
        Ok((own.host, own.port))
    }

    /// The chip of a node.
    pub(crate) fn chip(&self, node: u16) -> Result<ComponentId, TcaError> {
        Ok(self.node(node)?.chip)
    }

    /// The name of a node.
    pub(crate) fn name(&self, node: u16) -> &str {
        let node = self.nodes.get(usize::from(node));
        node.map_or("?", |node| &node.name)
    }

    /// Bytes of a node's host for programs.
    pub(crate) fn host_bytes(&self, node: u16) -> Result<u64, TcaError> {
        Ok(self.node(node)?.backed[Device::Host.block()].saturating_sub(DRIVER_BYTES))
    }

    /// The place of an address of the window, if it is in a host's memory.
    pub(crate) fn host_place(&self, address: u64) -> Option<DeviceAddress> {
        let nodes = self.nodes.iter().enumerate();
        let mut places = nodes.filter_map(|(index, node)| {
            let first = node.base + Device::Host.block() as u64 * node.block_bytes;
            let offset = address.checked_sub(first)?;
            let inside = offset < node.block_bytes;
            inside.then(|| DeviceAddress::new(index as u16, Device::Host, offset))
        });
        places.next()
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
    pub fn address(&self, place: DeviceAddress) -> Result<u64, TcaError> {
        self.check(place, 1)?;
        let node = self.node(place.node)?;
        Ok(node.base + place.device.block() as u64 * node.block_bytes + place.offset)
    }

    /// Bytes of a device, as they are now. Takes no simulated time and uses no link: for
    /// checking results.
    ///
    /// # Errors
    /// As [`address`](Self::address).
    pub fn memory(&self, place: DeviceAddress, len: u64) -> Result<Vec<u8>, TcaError> {
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
    pub fn set_memory(&mut self, place: DeviceAddress, bytes: &[u8]) -> Result<(), TcaError> {
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
    pub fn store(&mut self, node: u16, place: DeviceAddress, bytes: &[u8]) -> Result<(), TcaError> {
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
    pub fn load(&self, node: u16, place: DeviceAddress, len: u64) -> Result<Vec<u8>, TcaError> {
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
    pub fn bare_load(
        &mut self,
        node: u16,
        place: DeviceAddress,
        len: usize,
    ) -> Result<Vec<u8>, TcaError> {
        let len = len.clamp(1, LINE_BYTES as usize);
        self.check(place, len as u64)?;
        let address = self.address(place)?;
        let issuer = self.node(node)?;
        let (host, port) = (issuer.host, issuer.port);
        match self.read(host, port, node, address, len)? {
            Some(mut bytes) => {
                let skip = (place.offset % 4) as usize;
                bytes.drain(..skip.min(bytes.len()));
                bytes.truncate(len);
                Ok(bytes)
            }
            None => Err(TcaError::Refused { target: place }),
        }
    }

    /// A read of the processor through a root port; `None` if it was refused.
    pub(super) fn read(
        &mut self,
        host: ComponentId,
        port: u8,
        node: u16,
        address: u64,
        len: usize,
    ) -> Result<Option<Vec<u8>>, TcaError> {
        let load = DeviceEvent::Host(HostEvent::Load { port, address, len });
        self.inject(host, load);
        let mut loaded = None;
        self.step_until(node, "a load", &mut |sim: &mut Fabric| {
            loaded = sim.component_mut::<Host>(host).and_then(Host::take_loaded);
            loaded.is_some()
        })?;
        Ok(loaded.and_then(Result::ok))
    }

    /// A program on `node` polls its host's memory until `bytes` are there.
    ///
    /// # Errors
    /// [`TcaError::RemoteRead`] for other nodes; [`TcaError::Never`]; as
    /// [`address`](Self::address) and [`wait`](Self::wait).
    pub fn wait_for(
        &mut self,
        node: u16,
        place: DeviceAddress,
        bytes: &[u8],
    ) -> Result<Ps, TcaError> {
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

    /// Copies between devices and waits as [`wait`](Self::wait) does: `cudaMemcpyPeer` with
    /// nodes. Runs on the node that has the source.
    ///
    /// # Errors
    /// As [`Chain::copy`], [`launch`](Self::launch) and [`wait`](Self::wait).
    pub fn memcpy_peer(
        &mut self,
        destination: DeviceAddress,
        source: DeviceAddress,
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
    /// [`TcaError::Run`] with all that wait, if something cannot arrive; as [`wait`](Self::wait).
    pub fn settle(&mut self) -> Result<Ps, TcaError> {
        self.steps(&mut |_| false)?;
        self.sim.check_stall()?;
        Ok(self.sim.now())
    }

    /// As [`settle`](Self::settle), but returns the time when the last write became visible: what
    /// links still exchange after that moves no data.
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

    pub(super) fn node(&self, node: u16) -> Result<&Node, TcaError> {
        let nodes = self.nodes.len();
        let found = self.nodes.get(usize::from(node));
        found.ok_or(TcaError::NoNode { node, nodes })
    }

    pub(super) fn check(&self, place: DeviceAddress, len: u64) -> Result<(), TcaError> {
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

    /// PIO: pieces that a write-combining buffer holds.
    pub(super) fn issue(&mut self, host: ComponentId, port: u8, address: u64, bytes: &[u8]) {
        for (offset, len) in parts(address, bytes.len() as u64, LINE_BYTES) {
            let piece = bytes.get(offset as usize..(offset + len) as usize);
            let store = Box::new(Store {
                address: address + offset,
                bytes: piece.unwrap_or_default().to_vec(),
                core: None,
            });
            let event = HostEvent::Store { port, store };
            self.inject(host, DeviceEvent::Host(event));
        }
    }

    pub(super) fn inject(&mut self, target: ComponentId, event: DeviceEvent) {
        let now = self.sim.now();
        // The host is a component, and now has not passed.
        let _ = self.sim.inject(now, target, event);
    }

    pub(super) fn step_until(
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
    pub(super) fn steps(
        &mut self,
        done: &mut dyn FnMut(&mut Fabric) -> bool,
    ) -> Result<bool, TcaError> {
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

    pub(super) fn look(&self) -> Result<(), TcaError> {
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

/// Where a place of a host or a GPU is on the host's bus.
fn bus(place: DeviceAddress) -> u64 {
    let base = match place.device {
        Device::Gpu0 => GPU_BUS[0],
        Device::Gpu1 => GPU_BUS[1],
        Device::Host | Device::Internal => MEMORY_BUS,
    };
    base.wrapping_add(place.offset)
}
