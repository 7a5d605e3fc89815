//! Hosts with HTX boards, and the network of these boards, put together from a plan.

pub(crate) mod device;
mod error;
mod host;
#[cfg_attr(not(target_os = "linux"), path = "rtl_missing.rs")]
pub(crate) mod rtl;

pub use error::BoardError;
pub use host::{
    DESTINATION_BYTES, HtxHost, Purpose, Setup, WINDOW, WINDOW_BYTES, add_host, add_host_with,
    processor,
};
pub use hostwire_plan::htx::BoardKind;

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
/// How much later in a clock of the core than those of the host before it the words of a host's link are, in eighths
/// of a clock of the link.
const PHASE_STEP: u16 = 5;
/// Until the links of hosts are up and their buffers announced.
pub(crate) const SETTLE: Ps = Ps::from_us(20);

/// A cluster of hosts with HTX boards, ready for programs: its links are up.
pub struct HtxCluster {
    /// The simulation that everything lives in.
    pub sim: Fabric,
    plan: HtxPlan,
    hosts: Vec<HtxHost>,
    /// What each board was built as.
    boards: Vec<NicConfig>,
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
            // The other end of one that is RTL is one, too.
            let kind = cable.ends.iter().find_map(|end| match end.device {
                Device::Host(board) => plan.hosts().get(board).map(|host| host.device),
                Device::Switch(_) => None,
            });
            let ends = cable.ends.map(|end| {
                let device = match end.device {
                    Device::Host(board) => self.nics[board],
                    Device::Switch(switch) => self.switches[switch],
                };
                (device, end.port)
            });
            device::cable(sim, kind.unwrap_or_default(), name, ends, propagation);
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
    ///
    /// # Errors
    /// [`BoardError`] if a board is RTL and was not built, or does not begin.
    pub fn new(plan: HtxPlan, config: &OpteronConfig) -> Result<Self, BoardError> {
        Self::with_boards(plan, config, &Boards::default())
    }

    /// As [`HtxCluster::new`], with boards and switches like these.
    ///
    /// # Errors
    /// As [`HtxCluster::new`].
    pub fn with_boards(
        plan: HtxPlan,
        config: &OpteronConfig,
        usual: &Boards,
    ) -> Result<Self, BoardError> {
        let mut cluster = Self {
            sim: Fabric::new(),
            plan,
            hosts: Vec::new(),
            boards: Vec::new(),
            network: BoardNetwork::default(),
        };
        cluster.add_hosts(config, usual)?;
        let nics = cluster.hosts.iter().map(|host| host.nic).collect();
        cluster.network = BoardNetwork::join(&mut cluster.sim, &cluster.plan, nics, usual);
        cluster.sim.run_until(SETTLE);
        Ok(cluster)
    }

    /// An error if a board of the plan is RTL that nobody has built.
    ///
    /// # Errors
    /// [`BoardError::NotBuilt`].
    pub fn find_designs(plan: &HtxPlan) -> Result<(), BoardError> {
        let mut boards = plan.hosts().iter().filter(|host| !host.device.is_model());
        boards.try_for_each(|host| rtl::find(host.device, host.link_width_bits))
    }

    /// An error if a board that is RTL has done what it must not.
    ///
    /// # Errors
    /// [`BoardError::Failed`].
    pub fn check(&self) -> Result<(), BoardError> {
        rtl::outcome(&self.sim)
    }

    /// The plan that it was built from.
    pub fn plan(&self) -> &HtxPlan {
        &self.plan
    }

    /// Its hosts, in the order of the plan.
    pub fn hosts(&self) -> &[HtxHost] {
        &self.hosts
    }

    /// What the board of a host was built as.
    pub fn board_config(&self, host: usize) -> Option<&NicConfig> {
        self.boards.get(host)
    }

    /// The board of a host; `None` if all of it is RTL.
    pub fn board(&self, host: usize) -> Option<&Nic> {
        self.sim.component(self.hosts.get(host)?.nic)
    }

    /// Its boards and switches.
    pub fn network(&self) -> &BoardNetwork {
        &self.network
    }

    fn add_hosts(&mut self, config: &OpteronConfig, usual: &Boards) -> Result<(), BoardError> {
        for (id, host) in (0_u16..).zip(self.plan.hosts()) {
            let Some(nic) = board_of(&self.plan, id, usual) else {
                continue;
            };
            let setup = Setup {
                device: host.device,
                width_bits: host.link_width_bits,
                link_mhz: host.link_mhz,
                user_mhz: host.user_mhz,
            };
            let config = OpteronConfig {
                memory_bytes: host.memory_bytes,
                cores: host.cores,
                ..config.clone()
            };
            self.boards.push(nic.clone());
            // The words of each link are elsewhere in the clocks of its core.
            let phase = (PHASE_STEP * id % u16::from(device::phases(host.device))) as u8;
            let (board, setup) = ((Purpose::Messages, nic), (&setup, phase));
            let added = device::add(&mut self.sim, &host.name, setup, board, config)?;
            self.hosts.push(added);
        }
        Ok(())
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
