//! Hosts with HTX boards, and the network of these boards, put together from a plan.

mod host;

pub use host::{
    BoardKind, DESTINATION_BYTES, HtxHost, Purpose, Setup, WINDOW, WINDOW_BYTES, add_host,
    add_host_with, processor,
};

use hostwire_plan::htx::{Device, HtxPlan, LinkPort, PortKind, Region};

use crate::engine::{ComponentId, Ps};
use crate::models::Fabric;
use crate::models::ht::cable::{Cable, Medium, Wiring};
use crate::models::ht::link_port::{LinkPortConfig, LinkPortCounters, PhitRate};
use crate::models::ht::nic::{Nic, NicConfig, RemoteRegion};
use crate::models::ht::opteron::OpteronConfig;
use crate::models::ht::switch::{Switch, SwitchConfig};
use crate::models::link::Damage;

/// Clocks through the crossbar of a board that has more than one cable. Assumed, as a switch's.
const CROSSBAR_CYCLES: u64 = 4;
/// Until the links of hosts are up and their buffers announced.
pub(crate) const SETTLE: Ps = Ps::from_us(20);

/// A cluster of hosts with HTX boards, ready for programs: its links are up.
pub struct HtxCluster {
    /// The simulation that everything lives in.
    pub sim: Fabric,
    plan: HtxPlan,
    hosts: Vec<HtxHost>,
    network: BoardNetwork,
}

/// The parameters of boards and switches of a network, except those in its plan.
#[derive(Clone, Debug)]
pub struct Boards {
    /// Boards. Those with a single cable have no crossbar. All link ports of the network are like their first link
    /// port, except for the rate.
    pub nic: NicConfig,
    /// Switches.
    pub switch: SwitchConfig,
    /// Cables between them; and below sockets, all traces and cables of HyperTransport.
    pub wiring: Wiring,
}

impl Default for Boards {
    fn default() -> Self {
        Boards {
            nic: NicConfig {
                crossbar_cycles: CROSSBAR_CYCLES,
                ..NicConfig::htx_board(0)
            },
            switch: SwitchConfig::default(),
            wiring: Wiring::default(),
        }
    }
}

/// The boards of a network, by number, and its switches.
#[derive(Clone, Debug, Default)]
pub struct BoardNetwork {
    /// The boards.
    pub nics: Vec<ComponentId>,
    /// The switches.
    pub switches: Vec<ComponentId>,
}

impl BoardNetwork {
    /// Adds switches and cables between boards.
    pub(super) fn join(
        sim: &mut Fabric,
        plan: &HtxPlan,
        nics: Vec<ComponentId>,
        usual: &Boards,
    ) -> Self {
        let mut network = BoardNetwork {
            nics,
            switches: Vec::new(),
        };
        network.add_switches(sim, plan, usual);
        network.add_cables(sim, plan, &usual.wiring);
        network
    }

    /// The counters of a link port.
    pub fn port(&self, sim: &Fabric, end: LinkPort) -> LinkPortCounters {
        let port = match end.device {
            Device::Host(board) => {
                let nic = self.nics.get(board);
                let nic = nic.and_then(|nic| sim.component::<Nic>(*nic));
                nic.and_then(|nic| nic.link_port(end.port))
            }
            Device::Switch(at) => {
                let switch = self.switches.get(at);
                let switch = switch.and_then(|switch| sim.component::<Switch>(*switch));
                switch.and_then(|switch| switch.port(end.port))
            }
        };
        port.map(|port| port.counters).unwrap_or_default()
    }

    fn add_switches(&mut self, sim: &mut Fabric, plan: &HtxPlan, usual: &Boards) {
        for switch in plan.switches() {
            let config = SwitchConfig {
                port: link_port(switch.port, switch.clock_mhz, &usual.nic),
                clock_mhz: switch.clock_mhz,
                ..usual.switch.clone()
            };
            let model = Switch::new(config, switch.ports, switch.routes.clone());
            self.switches.push(sim.add(switch.name.clone(), model));
        }
    }

    fn add_cables(&mut self, sim: &mut Fabric, plan: &HtxPlan, wiring: &Wiring) {
        for cable in plan.cables() {
            let propagation =
                wiring.propagation(Medium::HtxCable, cable.length.map(|length| length.um));
            let name = cable.ends.map(|end| plan.port_name(end)).join(" - ");
            let ends = cable.ends.map(|end| {
                let device = match end.device {
                    Device::Host(board) => self.nics[board],
                    Device::Switch(switch) => self.switches[switch],
                };
                (device, end.port)
            });
            join(sim, name, ends, propagation);
        }
    }
}

/// The regions that the host with this board uses.
pub(super) fn regions_at(plan: &HtxPlan, board: usize) -> impl Iterator<Item = &Region> {
    let regions = plan.regions().iter();
    regions.filter(move |region| region.at == board)
}

/// The board of a host of the plan.
pub(super) fn board_of(plan: &HtxPlan, id: u16, usual: &Boards) -> Option<NicConfig> {
    let host = plan.hosts().get(usize::from(id))?;
    let device = Device::Host(id.into());
    let ends = plan.cables().iter().flat_map(|cable| cable.ends);
    let cables = ends.filter(|end| end.device == device).count();
    let usual = &usual.nic;
    let regions = regions_at(plan, id.into());
    Some(NicConfig {
        id,
        user_mhz: host.user_mhz,
        crossbar_cycles: if cables > 1 { usual.crossbar_cycles } else { 0 },
        ports: vec![link_port(host.port, host.user_mhz, usual); host.ports.into()],
        routes: host.routes.clone(),
        ring_slots: host.ring_slots,
        regions: regions.map(remote_region).collect(),
        ..usual.clone()
    })
}

impl HtxCluster {
    /// Builds the cluster that `plan` describes. Processors are alike except for what the plan
    /// says of them.
    pub fn new(plan: HtxPlan, config: &OpteronConfig) -> Self {
        Self::with_boards(plan, config, &Boards::default())
    }

    /// As [`HtxCluster::new`], with boards and switches like these.
    pub fn with_boards(plan: HtxPlan, config: &OpteronConfig, usual: &Boards) -> Self {
        let mut cluster = Self {
            sim: Fabric::new(),
            plan,
            hosts: Vec::new(),
            network: BoardNetwork::default(),
        };
        cluster.add_hosts(config, usual);
        let nics = cluster.hosts.iter().map(|host| host.nic).collect();
        cluster.network = BoardNetwork::join(&mut cluster.sim, &cluster.plan, nics, usual);
        cluster.sim.run_until(SETTLE);
        cluster
    }

    /// The plan that it was built from.
    pub fn plan(&self) -> &HtxPlan {
        &self.plan
    }

    /// Its hosts, in the order of the plan.
    pub fn hosts(&self) -> &[HtxHost] {
        &self.hosts
    }

    /// The board of a host.
    pub fn board(&self, host: usize) -> Option<&Nic> {
        self.sim.component(self.hosts.get(host)?.nic)
    }

    /// Its boards and switches.
    pub fn network(&self) -> &BoardNetwork {
        &self.network
    }

    fn add_hosts(&mut self, config: &OpteronConfig, usual: &Boards) {
        for (id, host) in (0_u16..).zip(self.plan.hosts()) {
            let Some(nic) = board_of(&self.plan, id, usual) else {
                continue;
            };
            let setup = Setup {
                device: BoardKind::Model,
                width_bits: host.link_width_bits,
                link_mhz: host.link_mhz,
                user_mhz: host.user_mhz,
            };
            let config = OpteronConfig {
                memory_bytes: host.memory_bytes,
                cores: host.cores,
                ..config.clone()
            };
            let added = add_host_with(&mut self.sim, &host.name, &setup, nic, config);
            self.hosts.push(added);
        }
    }
}

/// Joins two link ports, of NICs or switches, by a cable. Ports that do not exist stay without.
pub fn join(
    sim: &mut Fabric,
    name: String,
    ends: [(ComponentId, u8); 2],
    propagation: Ps,
) -> ComponentId {
    let cable = sim.add(
        name,
        Cable::new(propagation, [Damage::Never, Damage::Never]),
    );
    // A port that is looped back sends to the first end.
    for (end, (device, port)) in [(1, ends[1]), (0, ends[0])] {
        if let Some(model) = sim.component_mut::<Cable>(cable) {
            model.plug(end, device, port);
        }
        if let Some(nic) = sim.component_mut::<Nic>(device) {
            nic.connect(port, cable, end);
        }
        if let Some(switch) = sim.component_mut::<Switch>(device) {
            switch.connect(port, cable, end);
        }
    }
    cable
}

fn remote_region(region: &Region) -> RemoteRegion {
    RemoteRegion {
        base: region.address,
        bytes: region.bytes,
        // A plan has at most `HOSTS_MAX` hosts.
        host: region.of as u16,
        target: region.offset,
    }
}

/// A link port of a board like `usual`, or of a switch in its network.
pub(crate) fn link_port(kind: PortKind, mhz: u32, usual: &NicConfig) -> LinkPortConfig {
    let like = usual.ports.first().copied();
    let like = like.unwrap_or_else(|| LinkPortConfig::atoll(mhz));
    let (rate, serdes) = match kind {
        PortKind::Atoll => (PhitRate::atoll(mhz), Ps::ZERO),
        PortKind::Sfp => (PhitRate::sfp_4g(), like.serdes),
    };
    LinkPortConfig {
        rate,
        serdes,
        ..like
    }
}
