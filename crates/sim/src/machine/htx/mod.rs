//! Hosts with HTX boards, and the network of these boards, put together from a plan.

mod host;

pub use host::{DESTINATION_BYTES, HtxHost, Setup, WINDOW, add_host, add_host_with};

use hostwire_plan::htx::{Device, Host, HtxPlan, PortKind};

use crate::devices::Fabric;
use crate::devices::cable::{Cable, Medium};
use crate::devices::link::Damage;
use crate::devices::link_port::LinkPortConfig;
use crate::devices::nic::{Nic, NicConfig};
use crate::devices::opteron::OpteronConfig;
use crate::devices::switch::{Switch, SwitchConfig};
use crate::engine::{ComponentId, Ps};

/// Assumed where the plan gives no length: the cable of the TCCluster prototype.
const CABLE_INCHES: f64 = 25.0;
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
    switches: Vec<ComponentId>,
}

impl HtxCluster {
    /// Builds the cluster that `plan` describes. Processors are alike except for what the plan
    /// says of them.
    pub fn new(plan: HtxPlan, config: &OpteronConfig) -> Self {
        let mut cluster = Self {
            sim: Fabric::new(),
            plan,
            hosts: Vec::new(),
            switches: Vec::new(),
        };
        cluster.add_hosts(config);
        cluster.add_switches();
        cluster.add_cables();
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

    /// A switch.
    pub fn switch(&self, switch: usize) -> Option<&Switch> {
        self.sim.component(*self.switches.get(switch)?)
    }

    fn add_hosts(&mut self, config: &OpteronConfig) {
        for (id, host) in (0_u16..).zip(self.plan.hosts()) {
            let device = Device::Host(id.into());
            let ends = self.plan.cables().iter().flat_map(|cable| cable.ends);
            let cables = ends.filter(|end| end.device == device).count();
            let setup = Setup {
                width_bits: host.link_width_bits,
                link_mhz: host.link_mhz,
                user_mhz: host.user_mhz,
            };
            let config = OpteronConfig {
                memory_bytes: host.memory_bytes,
                cores: host.cores,
                ..config.clone()
            };
            let nic = board(id, host, cables);
            let added = add_host_with(&mut self.sim, &host.name, &setup, nic, config);
            self.hosts.push(added);
        }
    }

    fn add_switches(&mut self) {
        for switch in self.plan.switches() {
            let config = SwitchConfig {
                port: link_port(switch.port, switch.clock_mhz),
                clock_mhz: switch.clock_mhz,
                ..SwitchConfig::default()
            };
            let model = Switch::new(config, switch.ports, switch.routes.clone());
            self.switches.push(self.sim.add(switch.name.clone(), model));
        }
    }

    fn add_cables(&mut self) {
        for cable in self.plan.cables() {
            let inches = cable.length_um.map(|um| um as f64 / 25_400.0);
            let propagation = Medium::HtxCable.propagation(inches.unwrap_or(CABLE_INCHES));
            let name = cable.ends.map(|end| self.plan.port_name(end)).join(" - ");
            let ends = cable.ends.map(|end| {
                let device = match end.device {
                    Device::Host(host) => self.hosts[host].nic,
                    Device::Switch(switch) => self.switches[switch],
                };
                (device, end.port)
            });
            join(&mut self.sim, name, ends, propagation);
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

fn board(id: u16, host: &Host, cables: usize) -> NicConfig {
    NicConfig {
        crossbar_cycles: if cables > 1 { CROSSBAR_CYCLES } else { 0 },
        ports: vec![link_port(host.port, host.user_mhz); host.ports.into()],
        routes: host.routes.clone(),
        ring_slots: host.ring_slots,
        ..NicConfig::htx_board(id)
    }
}

pub(crate) fn link_port(kind: PortKind, mhz: u32) -> LinkPortConfig {
    match kind {
        PortKind::Atoll => LinkPortConfig::atoll(mhz),
        PortKind::Sfp => LinkPortConfig::sfp_4g(),
    }
}
