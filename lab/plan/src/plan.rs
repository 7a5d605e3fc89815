//! The complete plan of a cluster, and questions about it.

use serde::Serialize;

use crate::address_map::{AddressMap, MapPart};
use crate::check::delivery::HopStatistics;
use crate::check::usage::ChannelStatistics;
use crate::diagnostic::Diagnostic;
use crate::file::Length;
use crate::htx::HtxPlan;
use crate::id::{LinkIndex, NodeId, PortId, ProcessorId};
use crate::registers::opteron::{MemoryType, Northbridge};
use crate::registers::{BootStep, Fault, RegisterWrite, Step, peach2};
use crate::route::Scheme;
use crate::spec::{
    AdapterKind, BridgePlan, CableKind, EthernetPlan, Fabric, Family, HteaPlan, Medium, ShapeSpec,
};
use hostwire_address::{AddressRange, GlobalAddress};

/// The use of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkRole {
    /// A cable that carries the traffic of the fabric. On an Opteron: forced non-coherent.
    Fabric,
    /// Coherent, inside a supernode.
    Coherent,
    /// Coherent, to another node that configures this one or is configured by it; no traffic.
    Configuration,
    /// Non-coherent, to the southbridge.
    Southbridge,
    /// PEACH2 port north: to the host and the GPUs.
    Host,
    /// Non-coherent, to an adapter: HTEA, an HTX board, or a bridge with a PEACH2 chip.
    Adapter,
}

/// A link that is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkPlan {
    /// The link.
    pub link: LinkIndex,
    /// Its use.
    pub role: LinkRole,
    /// The other end, where that is a processor of the cluster.
    pub peer: Option<PortId>,
    /// Lanes per direction; `None` for southbridges and PCI Express.
    pub width_bits: Option<u8>,
    /// Link clock in MHz; `None` for southbridges and PCI Express.
    pub frequency_mhz: Option<u16>,
}

/// A processor (or PEACH2 chip) with everything firmware writes into it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessorPlan {
    /// Which processor.
    pub id: ProcessorId,
    /// Its memory in the global map (for PEACH2: the node's interval).
    pub memory: AddressRange,
    /// Its links in use, by number.
    pub links: Vec<LinkPlan>,
    /// Register writes in the order to make them.
    pub registers: Vec<RegisterWrite>,
}

impl ProcessorPlan {
    /// The register writes of one boot step, in order.
    pub fn writes_of(&self, step: BootStep) -> impl Iterator<Item = &RegisterWrite> {
        self.registers
            .iter()
            .filter(move |w| w.register.boot_step() == Some(step))
    }
}

/// A run of remote addresses and the port they leave by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// The addresses.
    pub range: AddressRange,
    /// The way out.
    pub exit: PortId,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodePlan {
    /// Its number: its rank in the address map.
    pub id: NodeId,
    /// Its name in the file.
    pub name: String,
    /// Its interval of the global map.
    pub range: AddressRange,
    /// Bytes of its memory that it also sees at address 0; none for PEACH2.
    pub low_bytes: u64,
    /// Remote windows are write-combining by MTRR; otherwise only by page attributes.
    pub windows_write_combining: bool,
    /// Remote addresses, ascending.
    pub windows: Vec<Window>,
    /// Its processors; the first is the bootstrap processor.
    pub processors: Vec<ProcessorPlan>,
    /// Port south of its PEACH2 chip is a root complex: it joins an endpoint.
    #[serde(skip)]
    pub south_is_root: bool,
}

/// A cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CablePlan {
    /// Its two ends.
    pub ends: [PortId; 2],
    /// Its protocol.
    pub kind: CableKind,
    /// Its medium.
    pub medium: Medium,
    /// Lanes per direction; `None` for PCI Express.
    pub width_bits: Option<u8>,
    /// Link clock in MHz; `None` for PCI Express.
    pub frequency_mhz: Option<u16>,
    /// Length, if given.
    #[serde(rename = "length_um")]
    pub length: Option<Length>,
}

/// An adapter: what takes writes for other islands from a link of a processor, and what it does with
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterPlan {
    /// What it is.
    pub kind: AdapterKind,
    /// The link that it is plugged into.
    pub port: PortId,
    /// Its network. Adapters with the same number reach each other.
    pub network: usize,
    /// Its place among those of its kind in its node: see [`AdapterKind::name`].
    pub index: usize,
    /// Its number among those of its kind: its host in [`Plan::boards`], its place in
    /// [`Plan::chips`].
    pub member: usize,
    /// Addresses that it sends to other adapters, ascending, each with the number of the adapter
    /// in [`Plan::adapters`].
    pub targets: Vec<(AddressRange, usize)>,
}

impl AdapterPlan {
    /// The adapter that takes an address.
    pub fn target(&self, addr: GlobalAddress) -> Option<usize> {
        let after = self
            .targets
            .partition_point(|(range, _)| range.start <= addr);
        let (range, target) = self.targets.get(after.checked_sub(1)?)?;
        (addr <= range.last()).then_some(*target)
    }
}

/// A PEACH2 chip below a bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChipPlan {
    /// Its name: that of its node and `chip`.
    pub name: String,
    /// Routing registers: for each port the addresses that leave by it, by port north those of the
    /// own island and of islands beyond.
    pub registers: Vec<RegisterWrite>,
}

/// One entry of a node's view of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ViewEntry {
    /// The addresses.
    pub range: AddressRange,
    /// How the node treats them.
    pub kind: ViewKind,
}

/// How a node treats an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewKind {
    /// Local memory.
    Dram(ProcessorId),
    /// Remote memory behind a port.
    Mmio(PortId),
}

/// A link that a packet crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hop {
    /// The port it leaves.
    pub from: PortId,
    /// The port it enters.
    pub to: PortId,
    /// The link crosses between nodes, not inside one.
    pub between_nodes: bool,
}

/// Why there is no route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The caller named a node that the plan does not have.
    #[error("the plan has no node {0}")]
    NoSuchNode(NodeId),
    /// The address belongs to no node.
    #[error("no node owns address {0}")]
    NotInMap(GlobalAddress),
    /// The registers do not lead to the address; a checked plan never returns this.
    #[error("the registers of {at} do not route the packet: {fault}")]
    Fault {
        /// Where the packet is stuck.
        at: ProcessorId,
        /// Why.
        fault: Fault,
    },
    /// The packet would circle; a checked plan never gives this.
    #[error("the packet circles")]
    Loop,
}

/// Routing function of a processor, from its registers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Router {
    Opteron(Northbridge),
    Peach2(peach2::Router),
}

impl Router {
    pub(crate) fn step(&self, addr: GlobalAddress) -> Step {
        match self {
            Self::Opteron(northbridge) => northbridge.step(addr),
            Self::Peach2(chip) => chip.step(addr),
        }
    }
}

/// A planned and checked cluster.
///
/// Made by [`plan`](crate::plan()). Every answer about routes comes from the register values,
/// as the hardware would give it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub(crate) fabric: Fabric,
    pub(crate) family: Option<Family>,
    pub(crate) scheme: Scheme,
    /// The regular shape, where the cables were generated.
    pub(crate) shape: Option<ShapeSpec>,
    pub(crate) map: AddressMap,
    pub(crate) ring_bytes: u64,
    pub(crate) nodes: Vec<NodePlan>,
    pub(crate) cables: Vec<CablePlan>,
    pub(crate) adapters: Vec<AdapterPlan>,
    pub(crate) ethernet: EthernetPlan,
    pub(crate) htea: HteaPlan,
    pub(crate) boards: Option<HtxPlan>,
    pub(crate) bridge: BridgePlan,
    pub(crate) chips: Vec<ChipPlan>,
    pub(crate) chip_cables: Vec<[(usize, u8); 2]>,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) hops: HopStatistics,
    pub(crate) channels: ChannelStatistics,
    pub(crate) routers: Vec<Router>,
    /// Number of each node's first processor, counted over all nodes.
    pub(crate) first_processor: Vec<usize>,
    /// By processor and link: the other end.
    pub(crate) peers: Vec<[Option<(u32, LinkIndex, LinkRole)>; 8]>,
}

impl Plan {
    /// What connects the nodes.
    pub fn fabric(&self) -> Fabric {
        self.fabric
    }

    /// The processor family; `None` for PEACH2.
    pub fn family(&self) -> Option<Family> {
        self.family
    }

    /// How routes were chosen.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The global address map.
    pub fn map(&self) -> &AddressMap {
        &self.map
    }

    /// The nodes, by number.
    pub fn nodes(&self) -> &[NodePlan] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> Option<&NodePlan> {
        self.nodes.get(id.index())
    }

    /// The node of this name.
    pub fn node_by_name(&self, name: &str) -> Option<&NodePlan> {
        self.nodes.iter().find(|n| n.name == name)
    }

    /// One processor.
    pub fn processor(&self, id: ProcessorId) -> Option<&ProcessorPlan> {
        self.node(id.node)?.processors.get(usize::from(id.index))
    }

    /// The cables.
    pub fn cables(&self) -> &[CablePlan] {
        &self.cables
    }

    /// The adapters: HTEA, then HTX boards, then PEACH2 chips; those of a kind by the number of
    /// their node.
    pub fn adapters(&self) -> &[AdapterPlan] {
        &self.adapters
    }

    /// The network between the adapters. Without adapters there is none.
    pub fn ethernet(&self) -> &EthernetPlan {
        &self.ethernet
    }

    /// The parts of each adapter.
    pub fn htea(&self) -> &HteaPlan {
        &self.htea
    }

    /// The HTX boards of nodes, their switches and cables. A host of it is the board of a node.
    pub fn boards(&self) -> Option<&HtxPlan> {
        self.boards.as_ref()
    }

    /// The bridges above PEACH2 chips.
    pub fn bridge(&self) -> &BridgePlan {
        &self.bridge
    }

    /// The PEACH2 chips of nodes.
    pub fn chips(&self) -> &[ChipPlan] {
        &self.chips
    }

    /// The cables between them: chip and port at both ends.
    pub fn chip_cables(&self) -> &[[(usize, u8); 2]] {
        &self.chip_cables
    }

    /// The name of a port of a chip: `a.chip.east`.
    pub fn chip_port_name(&self, (chip, port): (usize, u8)) -> String {
        let name = self.chips.get(chip).map_or("?", |chip| &chip.name);
        let port = LinkIndex::from_bits(port & 7);
        format!("{name}.{}", crate::topology::peach2_port_name(port))
    }

    /// Findings that did not stop the plan.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Lengths of routes in link crossings.
    pub fn hop_statistics(&self) -> HopStatistics {
        self.hops
    }

    /// What the routes make of the links, and that they cannot deadlock.
    pub fn channel_statistics(&self) -> ChannelStatistics {
        self.channels
    }

    /// The node that owns an address, or `None` outside the map.
    pub fn owner_of(&self, addr: GlobalAddress) -> Option<NodeId> {
        self.map.owner_of(addr)
    }

    /// The processor's memory or PEACH2 block that an address lies in.
    pub fn part_of(&self, addr: GlobalAddress) -> Option<&MapPart> {
        self.map.part_of(addr)
    }

    /// The fabric address of byte `offset` of a node's interval, or `None` past its end.
    pub fn address(&self, node: NodeId, offset: u64) -> Option<GlobalAddress> {
        let range = self.map.entry(node)?.range;
        (offset < range.bytes).then(|| GlobalAddress(range.start.0 + offset))
    }

    /// The global map as one node sees it: its own memory, everything else behind ports.
    pub fn view(&self, node: NodeId) -> Vec<ViewEntry> {
        let Some(node) = self.node(node) else {
            return Vec::new();
        };
        let local = node.processors.iter().map(|p| ViewEntry {
            range: p.memory,
            kind: ViewKind::Dram(p.id),
        });
        let remote = node.windows.iter().map(|w| ViewEntry {
            range: w.range,
            kind: ViewKind::Mmio(w.exit),
        });
        let mut view: Vec<_> = local.chain(remote).collect();
        view.sort_by_key(|entry| entry.range.start);
        view
    }

    /// The links that a posted write from processor 0 of `from` to `addr` crosses, in order.
    ///
    /// # Errors
    /// [`RouteError::NoSuchNode`] and [`RouteError::NotInMap`] are the caller's fault. The
    /// others would be wrong register values, which the checks exclude.
    pub fn route(&self, from: NodeId, addr: GlobalAddress) -> Result<Vec<Hop>, RouteError> {
        let id = ProcessorId {
            node: from,
            index: 0,
        };
        self.route_from_processor(id, addr)
    }

    /// As [`Plan::route`], from any processor.
    ///
    /// # Errors
    /// As [`Plan::route`].
    pub fn route_from_processor(
        &self,
        from: ProcessorId,
        addr: GlobalAddress,
    ) -> Result<Vec<Hop>, RouteError> {
        let mut at = self
            .processor_number(from)
            .ok_or(RouteError::NoSuchNode(from.node))?;
        self.owner_of(addr).ok_or(RouteError::NotInMap(addr))?;
        let mut hops = Vec::new();
        loop {
            let here = self.processor_id(at).ok_or(RouteError::Loop)?;
            let link = match self.router(at).step(addr) {
                Step::Deliver => return Ok(hops),
                Step::Fault(fault) => return Err(RouteError::Fault { at: here, fault }),
                Step::Forward(link) => link,
            };
            let unmapped = RouteError::Fault {
                at: here,
                fault: Fault::Unmapped,
            };
            let (next, entered, role) = self.across(at, link, addr).ok_or(unmapped)?;
            let there = self.processor_id(next).ok_or(RouteError::Loop)?;
            hops.push(Hop {
                from: PortId {
                    processor: here,
                    link,
                },
                to: PortId {
                    processor: there,
                    link: entered,
                },
                between_nodes: matches!(role, LinkRole::Fabric | LinkRole::Adapter),
            });
            if hops.len() > self.routers.len() {
                return Err(RouteError::Loop);
            }
            at = next;
        }
    }

    /// The memory type of an address by the MTRRs of a node's cores; `None` for PEACH2.
    pub fn memory_type(&self, node: NodeId, addr: GlobalAddress) -> Option<MemoryType> {
        let processor = self.node(node)?.processors.first()?;
        match self.fabric {
            Fabric::TcCluster => {
                crate::registers::opteron::CpuMemory::from_writes(&processor.registers)
                    .memory_type(addr)
            }
            Fabric::Peach2 => None,
        }
    }

    /// Where the ring buffer for messages of `sender` is in the memory of `receiver`.
    ///
    /// The rings of a node lie at the end of its last host memory, by number of the sender.
    /// `None` where the two are one node or a node does not exist.
    pub fn ring(&self, receiver: NodeId, sender: NodeId) -> Option<AddressRange> {
        self.node(sender)?;
        if receiver == sender {
            return None;
        }
        let memory = self.map.entry(receiver)?.last_memory()?;
        let peers = self.nodes.len() as u64 - 1;
        let index = u64::from(sender.0) - u64::from(sender > receiver);
        let start = memory
            .end()
            .checked_sub(peers.checked_mul(self.ring_bytes)?)?
            + index * self.ring_bytes;
        (start >= memory.start.0).then_some(AddressRange {
            start: GlobalAddress(start),
            bytes: self.ring_bytes,
        })
    }

    /// Processors over all nodes.
    pub(crate) fn processor_count(&self) -> usize {
        self.routers.len()
    }

    pub(crate) fn router(&self, processor: usize) -> &Router {
        &self.routers[processor]
    }

    /// The other end of a link: processor, its link, and what the link is for.
    pub(crate) fn peer(
        &self,
        processor: usize,
        link: LinkIndex,
    ) -> Option<(usize, LinkIndex, LinkRole)> {
        let (peer, link, role) = self.peers.get(processor)?[link.index()]?;
        Some((peer as usize, link, role))
    }

    /// Where a packet for `addr` that leaves by a link arrives: at its [`peer`](Self::peer), or over the network if the
    /// link leads to an adapter.
    pub(crate) fn across(
        &self,
        processor: usize,
        link: LinkIndex,
        addr: GlobalAddress,
    ) -> Option<(usize, LinkIndex, LinkRole)> {
        match self.adapter_at(processor, link) {
            None => self.peer(processor, link),
            Some(adapter) => {
                let target = self.adapters[adapter].target(addr)?;
                let port = self.adapters.get(target)?.port;
                let next = self.processor_number(port.processor)?;
                Some((next, port.link, LinkRole::Adapter))
            }
        }
    }

    /// The adapter at a link.
    pub(crate) fn adapter_at(&self, processor: usize, link: LinkIndex) -> Option<usize> {
        if self.adapters.is_empty() {
            return None;
        }
        let port = PortId {
            processor: self.processor_id(processor)?,
            link,
        };
        let mut adapters = self.adapters.iter();
        adapters.position(|adapter| adapter.port == port)
    }

    /// The number of a processor, counted over all nodes.
    pub(crate) fn processor_number(&self, id: ProcessorId) -> Option<usize> {
        self.processor(id)?;
        Some(self.first_processor.get(id.node.index())? + usize::from(id.index))
    }

    pub(crate) fn node_of_processor(&self, number: usize) -> Option<(&NodePlan, &ProcessorPlan)> {
        let id = self.processor_id(number)?;
        Some((self.node(id.node)?, self.processor(id)?))
    }

    pub(crate) fn processor_id(&self, number: usize) -> Option<ProcessorId> {
        let node = self
            .first_processor
            .partition_point(|&f| f <= number)
            .checked_sub(1)?;
        let index = u8::try_from(number - self.first_processor[node]).ok()?;
        Some(ProcessorId {
            node: NodeId(u16::try_from(node).ok()?),
            index,
        })
    }

    pub(crate) fn processor_name(&self, number: usize) -> String {
        match self.node_of_processor(number) {
            Some((node, processor)) if node.processors.len() > 1 => {
                format!("{}.p{}", node.name, processor.id.index)
            }
            Some((node, _)) => node.name.clone(),
            None => format!("processor {number}"),
        }
    }

    /// A link by the names in the file: `left.l2`, `s0.p1.l2`, `n3.east`.
    pub(crate) fn link_name(&self, processor: usize, link: LinkIndex) -> String {
        let name = self.processor_name(processor);
        match self.fabric {
            Fabric::TcCluster => format!("{name}.{link}"),
            Fabric::Peach2 => format!("{name}.{}", crate::topology::peach2_port_name(link)),
        }
    }

    /// A port by the names in the file.
    pub fn port_name(&self, port: PortId) -> String {
        match self.processor_number(port.processor) {
            Some(number) => self.link_name(number, port.link),
            None => port.to_string(),
        }
    }
}
