//! From a plan to devices and links.

use hostwire_packet::pcie::RoutingId;
use hostwire_plan::address_map::{MapEntry, Target};
use hostwire_plan::registers::peach2::NORTH;
use hostwire_plan::{Fabric as FabricKind, NodePlan, Plan, ProcessorId};

use crate::devices::Fabric;
use crate::devices::link::{Damage, End};
use crate::devices::pcie::{Link, LinkConfig};
use crate::devices::peach2::chip::{Chip, ChipConfig, REGISTER_BYTES};
use crate::devices::peach2::host::{GPU_BUS, Gpu, Host, HostConfig, MEMORY_BUS};
use crate::engine::ComponentId;

use super::driver::{DRIVER_BYTES, Engine};
use super::error::{BuildError, NODES_MAX};
use super::place::Device;

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
#[derive(Clone, Debug, Default)]
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
}

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
            dma_from_bytes: 16 << 10,
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
    };
    for (node, entry) in plan.nodes().iter().zip(plan.map().entries()) {
        built.add_node(node, entry, plan, config)?;
    }
    for (index, cable) in plan.cables().iter().enumerate() {
        let mut link = config.link.clone();
        for damage in link.tlp_damage.iter_mut().chain(&mut link.dllp_damage) {
            if let Damage::Random { seed, .. } = damage {
                *seed = seed.wrapping_add((index as u64) << 1);
            }
        }
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
        let mut chip = Chip::new(id(1), config.chip.clone());
        let first = ProcessorId {
            node: node.id,
            index: 0,
        };
        if let Some(processor) = plan.processor(first) {
            chip.configure(&processor.registers);
        }
        let base = entry.range.start.0;
        chip.place(base, block_bytes, [GPU_BUS[0], GPU_BUS[1], MEMORY_BUS]);
        let chip = self.sim.add(format!("{} chip", node.name), chip);
        let north = LinkConfig {
            tlp_damage: [Damage::Never, Damage::Never],
            dllp_damage: [Damage::Never, Damage::Never],
            ..config.link.clone()
        };
        let name = format!("{}.north", node.name);
        let link = self.sim.add(&name, Link::new(north));
        self.wires.push(Wire {
            link,
            ends: [format!("{} host", node.name), name],
        });
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
        });
        Ok(())
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

/// Names a host (kind 0) or a chip (kind 1) in its TLPs.
fn requester_id(kind: u16, node: u16) -> RoutingId {
    RoutingId(kind << 8 | node)
}

/// The node of the host or the chip that a TLP names.
pub(crate) fn requester_node(id: RoutingId) -> u16 {
    id.0 & 0xff
}

const DEVICES: [Device; 4] = [Device::Gpu0, Device::Gpu1, Device::Host, Device::Internal];
