//! From a plan to devices and links.

use hostwire_packet::pcie::{DLLP_WIRE_LEN, RoutingId};
use hostwire_plan::address_map::{MapEntry, Target};
use hostwire_plan::registers::peach2::NORTH;
use hostwire_plan::registers::{Register, RegisterWrite};
use hostwire_plan::{AddressRange, Fabric as FabricKind, NodePlan, Plan, PortId, ProcessorId};

use crate::engine::{ComponentId, Ps};
use crate::models::Fabric;
use crate::models::link::{Damage, End};
use crate::models::pcie::peach2::chip::{Chip, ChipConfig, DMA_FROM_BYTES, REGISTER_BYTES};
use crate::models::pcie::peach2::host::{GPU_BUS, Gpu, Host, HostConfig, MEMORY_BUS};
use crate::models::pcie::{Link, LinkConfig, Role};

use super::device_address::Device;
use super::dma::{DRIVER_BYTES, Engine};
use super::error::{BuildError, NODES_MAX};

/// Two boards in one host, joined by a cable (tca-peach2, figure 10): a cluster file. Its two
/// nodes are the boards.
pub const LOOPBACK: &str = r#"fabric = "peach2"

[[node]]
name = "a"
memory = "8GiB"
gpus = 2
gpu_memory = "5GiB"

[[node]]
name = "b"
memory = "8GiB"
gpus = 2
gpu_memory = "5GiB"

[[cable]]
from = "a.east"
to = "b.west"
"#;

/// Parameters of everything.
#[derive(Clone, Debug)]
pub struct Config {
    /// Hosts.
    pub host: HostConfig,
    /// Chips.
    pub chip: ChipConfig,
    /// Links, those to hosts too. Damage is that of cables between nodes only; the seeds of
    /// cable `n` are `2 n` larger, so that cables differ.
    pub link: LinkConfig,
    /// Which GPUs are attached to the other socket.
    pub gpu_on_other_socket: [bool; 2],
    /// All boards are in one host.
    pub one_host: bool,
    /// How programs on the hosts move what they put.
    pub puts: Puts,
    /// The links at the start.
    pub start: Start,
    /// Between two looks of a driver at the mailbox of its chip's management processor. **Assumed.**
    pub driver_poll: Ps,
}

impl Config {
    /// From the begin of a full TLP until its Ack is back, at most: another TLP may be on its way in front of each.
    pub(crate) fn ack_time(&self) -> Ps {
        let largest = self.chip.payload_bytes.max(self.host.completion_bytes);
        let tlp = self.link.speed.time(largest + TLP_OVERHEAD_BYTES);
        let dllp = self.link.speed.time(DLLP_WIRE_LEN as u64);
        Ps(2 * (self.link.propagation.0 + tlp.0 + dllp.0)) + self.link.dllp_wait
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            host: HostConfig::default(),
            chip: ChipConfig::default(),
            link: LinkConfig::default(),
            gpu_on_other_socket: [false; 2],
            one_host: false,
            puts: Puts::default(),
            start: Start::default(),
            driver_poll: Ps::from_us(10),
        }
    }
}

/// How the links between chips are when a sub-cluster starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// All trained, with the roles of the plan.
    #[default]
    Trained,
    /// Those of ports south are down and nothing is routed to them: rings for themselves. All
    /// ports south are endpoints, as one FPGA image for all boards makes them.
    Separate,
    /// All down, until the management processors start them.
    Down,
}

/// Number of port south.
pub(super) const SOUTH: u8 = 2;

/// A cable between two ports south.
pub(super) struct SouthCable {
    pub(super) link: ComponentId,
    /// The nodes at its ends.
    pub(super) nodes: [u16; 2],
}

/// Framing, number, the longer header and LCRC of a TLP.
const TLP_OVERHEAD_BYTES: u64 = 24;

/// Which way puts of programs go.
#[derive(Clone, Debug)]
pub struct Puts {
    /// From so many bytes on by DMA.
    pub dma_from_bytes: u64,
    /// By this controller.
    pub engine: Engine,
}

impl Default for Puts {
    /// See `docs/sim/tca.md` for the source of the length.
    fn default() -> Self {
        Self {
            dma_from_bytes: DMA_FROM_BYTES,
            engine: Engine::Pipelined,
        }
    }
}

/// A node of the programming interface.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) host: ComponentId,
    /// The host's root port.
    pub(super) port: u8,
    pub(super) chip: ComponentId,
    pub(super) base: u64,
    pub(super) block_bytes: u64,
    /// Bytes behind the start of each block.
    pub(super) backed: [u64; 4],
    /// What the plan makes of port south, and its mask and bounds.
    pub(super) south: (Role, [u64; 3]),
}

/// A link, by its ends.
pub(super) struct Wire {
    pub(super) link: ComponentId,
    pub(super) ends: [String; 2],
}

pub(super) struct Built {
    pub(super) sim: Fabric,
    pub(super) nodes: Vec<Node>,
    pub(super) wires: Vec<Wire>,
    pub(super) south: Vec<SouthCable>,
}

pub(super) fn build(plan: &Plan, config: &Config) -> Result<Built, BuildError> {
    if plan.fabric() != FabricKind::Peach2 {
        return Err(BuildError::NotPeach2);
    }
    let count = plan.nodes().len();
    if !(2..=NODES_MAX).contains(&count) {
        return Err(BuildError::NodeCount { nodes: count });
    }
    let mut built = Built {
        sim: Fabric::new(),
        nodes: Vec::new(),
        wires: Vec::new(),
        south: Vec::new(),
    };
    for (node, entry) in plan.nodes().iter().zip(plan.map().entries()) {
        built.add_node(node, entry, plan, config)?;
    }
    for (index, cable) in plan.cables().iter().enumerate() {
        let link = config.link.of_cable(index);
        let names = cable.ends.map(|port| plan.port_name(port));
        let id = built.sim.add(names.join(" - "), Link::new(link));
        built.wires.push(Wire {
            link: id,
            ends: names,
        });
        for (port, end) in cable.ends.into_iter().zip([End::A, End::B]) {
            let node = port.processor.node.index();
            if let Some(chip) = built.nodes.get(node).map(|node| node.chip) {
                built.join(id, end, chip, port.link.get());
            }
        }
        if cable.ends.iter().all(|port| port.link.get() == SOUTH) {
            let nodes = cable.ends.map(|port| port.processor.node.0);
            built.south.push(SouthCable { link: id, nodes });
        }
        let is_south = built.south.last().is_some_and(|south| south.link == id);
        if config.start == Start::Down || is_south && config.start == Start::Separate {
            built.darken(id, cable.ends);
        }
    }
    Ok(built)
}

impl Built {
    fn add_node(
        &mut self,
        node: &NodePlan,
        entry: &MapEntry,
        plan: &Plan,
        config: &Config,
    ) -> Result<(), BuildError> {
        let mut backed = [0; 4];
        for part in &entry.parts {
            if let Target::Block(_, block) = part.target {
                let device = DEVICES.into_iter().find(|d| d.planned() == block);
                if let Some(device) = device {
                    backed[device.block()] = part.backed_bytes;
                }
            }
        }
        let memory_bytes = backed[Device::Host.block()];
        if memory_bytes < 2 * DRIVER_BYTES {
            return Err(BuildError::Memory {
                node: node.id.0,
                bytes: memory_bytes,
                needed: DRIVER_BYTES,
            });
        }
        let block_bytes = entry.range.bytes / 4;
        backed[Device::Internal.block()] =
            (REGISTER_BYTES + config.chip.memory_bytes).min(block_bytes);
        let id = |kind: u16| requester_id(kind, node.id.0);
        let gpu = |index: usize| {
            (backed[index] > 0).then_some(Gpu {
                bytes: backed[index],
                other_socket: config.gpu_on_other_socket[index],
            })
        };
        let shared = self.nodes.first().filter(|_| config.one_host);
        let (host, port) = match shared.map(|first| first.host) {
            Some(host) => (host, self.nodes.len() as u8),
            None => {
                let gpus = [gpu(0), gpu(1)];
                let (settings, speed) = (config.host.clone(), config.link.speed);
                let host = Host::new(id(0), memory_bytes, gpus, settings, speed);
                (self.sim.add(format!("{} host", node.name), host), 0)
            }
        };
        let base = entry.range.start.0;
        let (mut chip, south) = routed_chip(plan, node, config);
        chip.place(base, block_bytes, [GPU_BUS[0], GPU_BUS[1], MEMORY_BUS]);
        let chip = self.sim.add(format!("{} chip", node.name), chip);
        let north = LinkConfig {
            tlp_damage: [Damage::Never, Damage::Never],
            dllp_damage: [Damage::Never, Damage::Never],
            ..config.link.clone()
        };
        let ends = [
            format!("{} host", node.name),
            format!("{}.north", node.name),
        ];
        let link = self.sim.add(ends.join(" - "), Link::new(north));
        self.wires.push(Wire { link, ends });
        self.join(link, End::A, host, port);
        self.join(link, End::B, chip, NORTH);
        self.nodes.push(Node {
            name: node.name.clone(),
            host,
            port,
            chip,
            base,
            block_bytes,
            backed,
            south,
        });
        Ok(())
    }

    /// The link of a cable is down, and so are the ports at its ends.
    fn darken(&mut self, link: ComponentId, ends: [PortId; 2]) {
        if let Some(link) = self.sim.component_mut::<Link>(link) {
            link.take_down("its ports are off");
        }
        for port in ends {
            let node = self.nodes.get(port.processor.node.index());
            let chip = node.map(|node| node.chip);
            if let Some(chip) = chip.and_then(|chip| self.sim.component_mut::<Chip>(chip)) {
                chip.darken(port.link.get());
            }
        }
    }

    fn join(&mut self, link: ComponentId, end: End, device: ComponentId, port: u8) {
        if let Some(link) = self.sim.component_mut::<Link>(link) {
            link.attach(end, device, port);
        }
        if let Some(chip) = self.sim.component_mut::<Chip>(device) {
            chip.attach(port, link, end);
        } else if let Some(host) = self.sim.component_mut::<Host>(device) {
            host.attach(link, end);
        }
    }
}

/// A chip with the plan's registers, and what the plan makes of its port south.
fn routed_chip(plan: &Plan, node: &NodePlan, config: &Config) -> (Chip, (Role, [u64; 3])) {
    let mut chip = Chip::new(requester_id(1, node.id.0), config.chip.clone());
    let first = ProcessorId {
        node: node.id,
        index: 0,
    };
    let registers = plan.processor(first).map(|processor| &processor.registers);
    let registers = registers.map_or(&[][..], Vec::as_slice);
    chip.configure(registers);
    let role = match node.south_is_root {
        true => Role::RootComplex,
        false => Role::Endpoint,
    };
    // Mask, lower and upper bound.
    let offsets = [0, 8, 16].map(|place| u16::from(SOUTH) * 0x20 + place);
    let find = |offset| {
        let mut writes = registers.iter();
        writes.find(|write| write.register == Register::Peach2(offset))
    };
    let routing = offsets.map(|offset| find(offset).map_or(0, |write| write.value));
    if config.start == Start::Separate {
        let [_, lower, upper] = offsets;
        let closed = [(lower, u64::MAX), (upper, 0)].into_iter();
        let writes = closed.filter_map(|(offset, value)| {
            let write = *find(offset)?;
            Some(RegisterWrite { value, ..write })
        });
        chip.configure(&writes.collect::<Vec<_>>());
    } else {
        chip.set_south(role);
    }
    let whole = plan.map().entries().iter().map(|entry| entry.range);
    let first_byte = whole.clone().map(|range| range.start.0).min().unwrap_or(0);
    let end = whole.map(|range| range.end()).max().unwrap_or(0);
    if let Some(window) = AddressRange::new(first_byte..end) {
        chip.set_window(window);
    }
    (chip, (role, routing))
}

/// Names a host (kind 0) or a chip (kind 1) in its TLPs.
fn requester_id(kind: u16, node: u16) -> RoutingId {
    RoutingId(kind << 8 | node)
}

const DEVICES: [Device; 4] = [Device::Gpu0, Device::Gpu1, Device::Host, Device::Internal];
