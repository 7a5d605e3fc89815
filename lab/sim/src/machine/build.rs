//! From a plan to components.

use hostwire_plan::{
    CablePlan, Fabric as PlanFabric, LinkRole, Medium as PlanMedium, Plan, PortId,
};

use crate::engine::ComponentId;
use crate::models::Fabric;
use crate::models::ht::Port;
use crate::models::ht::cable::Medium;
use crate::models::ht::opteron::{Opteron, OpteronConfig};
use crate::models::ht::southbridge::Southbridge;
use crate::models::ht::{Buffers, Link, LinkConfig};
use crate::models::link::{Damage, End};

use super::below::Below;
use super::error::BuildError;
use super::htx::BoardNetwork;
use super::{Machine, Socket, Wire, WireEnd};

impl Machine {
    /// Builds the machine that `plan` describes, all sockets alike except for
    /// the size of their memory.
    ///
    /// # Errors
    /// [`BuildError`] if the plan is not one for Opterons.
    pub fn new(plan: Plan, config: &OpteronConfig) -> Result<Machine, BuildError> {
        Self::with_below(plan, config, &Below::default())
    }

    /// As [`new`](Self::new), with HTX boards and PEACH2 chips like these.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_below(
        plan: Plan,
        config: &OpteronConfig,
        below: &Below,
    ) -> Result<Machine, BuildError> {
        if plan.fabric() != PlanFabric::TcCluster {
            return Err(BuildError::Fabric { got: plan.fabric() });
        }
        let mut machine = Machine {
            sim: Fabric::new(),
            plan,
            sockets: Vec::new(),
            wires: Vec::new(),
            systems: 0,
            adapters: Vec::new(),
            boards: BoardNetwork::default(),
            chips: Vec::new(),
            pcie: Vec::new(),
            wiring: below.boards.wiring,
            dma_from_bytes: below.dma_from_bytes,
        };
        machine.add_sockets(config);
        machine.add_wires(config)?;
        machine.add_htea(config)?;
        machine.add_boards(config, &below.boards)?;
        machine.add_chips(config, below)?;
        machine.group_systems();
        Ok(machine)
    }

    fn add_sockets(&mut self, config: &OpteronConfig) {
        for node in self.plan.nodes() {
            for processor in &node.processors {
                let bootstrap = processor
                    .links
                    .iter()
                    .any(|link| link.role == LinkRole::Southbridge);
                let config = OpteronConfig {
                    memory_bytes: processor.memory.bytes,
                    ..config.clone()
                };
                let name = match node.processors.len() {
                    1 => node.name.clone(),
                    _ => format!("{}.p{}", node.name, processor.id.index),
                };
                let component = self.sim.add(name.clone(), Opteron::new(config, bootstrap));
                self.sockets.push(Socket {
                    id: processor.id,
                    name,
                    component,
                    system: 0,
                    bootstrap,
                });
            }
        }
    }

    fn add_wires(&mut self, config: &OpteronConfig) -> Result<(), BuildError> {
        let depth = config.port_depth;
        for socket in 0..self.sockets.len() {
            let id = self.sockets[socket].id;
            let links = self
                .plan
                .processor(id)
                .map(|plan| plan.links.clone())
                .unwrap_or_default();
            for link in links {
                let here = WireEnd::Socket {
                    socket,
                    link: link.link.get(),
                };
                let port = PortId {
                    processor: id,
                    link: link.link,
                };
                match (link.role, link.peer) {
                    (LinkRole::Southbridge, _) => self.add_southbridge(here, depth),
                    (_, Some(peer)) => {
                        let other = self.find(peer.processor).ok_or(BuildError::Peer { port })?;
                        let there = WireEnd::Socket {
                            socket: other,
                            link: peer.link.get(),
                        };
                        // Every wire shows up at both ends; the first one adds it.
                        if (socket, link.link.get()) < (other, peer.link.get()) {
                            self.add_wire([here, there], link.role, self.cable(port), depth);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn cable(&self, port: PortId) -> Option<CablePlan> {
        self.plan
            .cables()
            .iter()
            .find(|cable| cable.ends.contains(&port))
            .copied()
    }

    fn add_wire(
        &mut self,
        ends: [WireEnd; 2],
        role: LinkRole,
        cable: Option<CablePlan>,
        depth: usize,
    ) {
        let medium = match cable.map(|cable| cable.medium) {
            Some(PlanMedium::Coax) => Medium::HtxCable,
            _ => Medium::Trace,
        };
        let length_um = cable.and_then(|cable| cable.length).map(|length| length.um);
        let propagation = self.wiring.propagation(medium, length_um);
        let name = |end: WireEnd| match end {
            WireEnd::Socket { socket, link } => format!("{}.l{link}", self.sockets[socket].name),
            WireEnd::Southbridge { .. } => "southbridge".to_string(),
            WireEnd::Adapter { .. } => "adapter".to_string(),
        };
        let name = format!("{} - {}", name(ends[0]), name(ends[1]));
        let config = LinkConfig {
            propagation,
            ..LinkConfig::default()
        };
        let link = self.sim.add(name, Link::new(config));
        for (end, attached) in [End::A, End::B].into_iter().zip(ends) {
            self.attach(link, end, attached, depth);
        }
        self.wires.push(Wire {
            link,
            ends,
            role,
            mhz_max: medium.mhz_max(),
        });
    }

    fn add_southbridge(&mut self, here: WireEnd, depth: usize) {
        let config = LinkConfig {
            propagation: self.wiring.propagation(Medium::Trace, None),
            buffers: [Buffers::FAM10H; 2],
            damage: [Damage::Never, Damage::Never],
            ..LinkConfig::default()
        };
        let WireEnd::Socket { socket, link } = here else {
            return;
        };
        let name = self.sockets[socket].name.clone();
        let wire = self
            .sim
            .add(format!("{name}.l{link} - southbridge"), Link::new(config));
        let bridge = Southbridge::new(Port::new(wire, End::B, depth));
        let component = self.sim.add(format!("{name}.southbridge"), bridge);
        let there = WireEnd::Southbridge { component };
        self.attach(wire, End::A, here, depth);
        self.attach(wire, End::B, there, depth);
        let ends = [here, there];
        self.wires.push(Wire {
            link: wire,
            ends,
            role: LinkRole::Southbridge,
            mhz_max: Medium::Trace.mhz_max(),
        });
    }

    pub(super) fn attach(&mut self, link: ComponentId, end: End, attached: WireEnd, depth: usize) {
        let (component, port) = match attached {
            WireEnd::Socket { socket, link: port } => {
                self.socket_mut(socket)
                    .attach(port, Port::new(link, end, depth));
                (self.sockets[socket].component, port)
            }
            WireEnd::Southbridge { component } | WireEnd::Adapter { component } => (component, 0),
        };
        if let Some(link) = self.sim.component_mut::<Link>(link) {
            link.attach(end, component, port);
        }
    }

    /// Sockets belong together if coherent links of any kind join them.
    fn group_systems(&mut self) {
        let mut group: Vec<usize> = (0..self.sockets.len()).collect();
        for wire in &self.wires {
            let coherent = matches!(wire.role, LinkRole::Coherent | LinkRole::Configuration);
            if let (
                [
                    WireEnd::Socket { socket: a, .. },
                    WireEnd::Socket { socket: b, .. },
                ],
                true,
            ) = (wire.ends, coherent)
            {
                let (from, to) = (group[a].max(group[b]), group[a].min(group[b]));
                group
                    .iter_mut()
                    .filter(|member| **member == from)
                    .for_each(|member| *member = to);
            }
        }
        let mut leaders = group.clone();
        leaders.sort_unstable();
        leaders.dedup();
        self.systems = leaders.len();
        for (socket, leader) in group.into_iter().enumerate() {
            self.sockets[socket].system = leaders.partition_point(|&other| other < leader);
        }
    }
}
