//! `[parameters]`: what a file may change of the models, by family.

use hostwire_plan::file::{Findings, Section};
use hostwire_plan::{Cluster, Fabric, LinkRole, Plan};

use crate::experiments::ExperimentError;
use crate::experiments::links::NetworkTerms;
use crate::firmware::{self, BootOptions, BootTimes};
use crate::machine::htx::Boards;
use crate::machine::{Below, Machine, WireEnd};
use crate::models::ht::cable::Wiring;
use crate::models::ht::nic::{Nic, NicConfig};
use crate::models::ht::opteron::OpteronConfig;
use crate::models::ht::switch::SwitchConfig;
use crate::models::ht::{Buffers, LinkConfig};
use crate::models::htea::adapter::Adapter;
use crate::models::htea::fast;
use crate::models::link::Damage;

use super::below_parameters;
use super::cluster_parameters::{
    BOARDS_NETWORK, BOOT, CLUSTER, HT_CORE, HTX, HTX_CROSSBAR, HTX_HOST, HTX_JOBS,
    LINKS_OF_CLUSTERS, LOADS, REMOTE, TRACES, WIRING,
};
use super::ethernet_parameters::{ETHERNET, EthernetModels};
use super::htea_parameters::HTEA;
use super::links_parameters::LINKS;
use super::memory_parameters::{MEMORY, MemoryModels};
use super::parameter::{Parameter, ParameterValue};
use super::tca_parameters::{self, TCA, TCA_COPIES, TCA_JOBS, TCA_LATER, TcaModels};

/// What is modelled; each kind has its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Opterons and links of a planned cluster.
    Cluster,
    /// An HTX board in its host.
    Htx,
    /// Hosts with HTX boards of a planned cluster.
    HtxBoards,
    /// A memory system.
    Memory,
    /// A TCA sub-cluster.
    Tca,
    /// The same, with programs on its hosts.
    TcaJobs,
    /// The same, beside three copies over InfiniBand.
    TcaCopies,
    /// Two PEACH2 boards in one host.
    TcaHost,
    /// Ethernet adapters.
    Htea,
    /// Hosts with the project's own links.
    Ethernet,
    /// Hosts on links of today.
    Links,
}

impl Family {
    /// What a program on this cluster can have as parameters.
    pub(super) fn of(cluster: &Cluster) -> Family {
        match cluster {
            Cluster::Htx(_) => Family::HtxBoards,
            Cluster::AddressMap(plan) => match plan.fabric() {
                Fabric::TcCluster => Family::Cluster,
                Fabric::Peach2 => Family::TcaJobs,
            },
        }
    }
}

/// Everything that parameters change.
#[derive(Clone, Debug)]
pub(super) struct Models {
    pub(super) processor: OpteronConfig,
    pub(super) link: LinkConfig,
    /// Receive buffers at links that are no cables: of processors, bridges and southbridges.
    pub(super) inner: Buffers,
    /// The same of HTEA adapters.
    pub(super) adapter: Buffers,
    pub(super) nic: NicConfig,
    pub(super) switch: SwitchConfig,
    pub(super) memory: MemoryModels,
    pub(super) tca: TcaModels,
    pub(super) htea: fast::Config,
    pub(super) ethernet: EthernetModels,
    pub(super) links: NetworkTerms,
    pub(super) wiring: Wiring,
    pub(super) boot: BootTimes,
    pub(super) damage_per_million: u32,
    pub(super) damage_seed: u64,
}

impl Models {
    pub(super) fn new(family: Family) -> Models {
        Models {
            processor: match family {
                Family::Htx | Family::HtxBoards => OpteronConfig::opteron_246(),
                _ => OpteronConfig::shanghai(),
            },
            link: LinkConfig {
                buffers: [Buffers::FAM10H; 2],
                ..LinkConfig::default()
            },
            inner: Buffers::FAM10H,
            adapter: Buffers::HT_CORE,
            nic: match family {
                Family::Htx => NicConfig::htx_board(0),
                _ => Boards::default().nic,
            },
            switch: SwitchConfig::default(),
            memory: MemoryModels::default(),
            tca: TcaModels::default(),
            htea: fast::Config::default(),
            ethernet: EthernetModels::default(),
            links: NetworkTerms::default(),
            wiring: Wiring::default(),
            boot: BootTimes::default(),
            damage_per_million: 0,
            damage_seed: 1,
        }
    }

    /// A machine of this plan that has booted.
    pub(super) fn booted(&self, plan: &Plan) -> Result<Machine, ExperimentError> {
        let mut machine = self.built(plan)?;
        self.boot(&mut machine)?;
        Ok(machine)
    }

    /// Boots a machine of this plan.
    pub(super) fn boot(&self, machine: &mut Machine) -> Result<(), ExperimentError> {
        let options = BootOptions {
            times: self.boot,
            ..BootOptions::default()
        };
        firmware::boot(machine, &options)?;
        Ok(())
    }

    /// A machine of this plan, with all its components.
    pub(super) fn built(&self, plan: &Plan) -> Result<Machine, ExperimentError> {
        let mut machine = Machine::with_below(plan.clone(), &self.processor, &self.below())?;
        for wire in 0..machine.wires().len() {
            let is_cable = machine.wires()[wire].role == LinkRole::Fabric;
            let far = self.inner_end(&machine, wire);
            machine.link_mut(wire).configure(|config| {
                config.nop_credits = self.link.nop_credits;
                if !is_cable {
                    config.buffers = [self.inner, far.unwrap_or(config.buffers[1])];
                    return;
                }
                config.buffers = self.link.buffers;
                config.retry_attempts_max = self.link.retry_attempts_max;
                config.damage = self.damage(wire);
            });
        }
        Ok(machine)
    }

    /// The receive buffers at the far end of a link that is no cable. Boards have their own.
    fn inner_end(&self, machine: &Machine, wire: usize) -> Option<Buffers> {
        let WireEnd::Adapter { component } = machine.wires()[wire].ends[1] else {
            return Some(self.inner);
        };
        if machine.sim.component::<Nic>(component).is_some() {
            return None;
        }
        match machine.sim.component::<Adapter>(component) {
            Some(_) => Some(self.adapter),
            None => Some(self.inner),
        }
    }

    /// Boards and switches.
    pub(super) fn boards(&self) -> Boards {
        Boards {
            nic: self.nic.clone(),
            switch: self.switch.clone(),
            wiring: self.wiring,
        }
    }

    /// Devices below sockets.
    fn below(&self) -> Below {
        let chips = self.tca.resolved();
        Below {
            boards: self.boards(),
            chip: chips.chip,
            chip_link: chips.link,
            dma_from_bytes: chips.puts.dma_from_bytes,
        }
    }

    /// Whether links damage packets.
    pub(super) fn damages(&self) -> bool {
        self.damage_per_million > 0
    }

    /// Damage of the two directions of a link; links differ, equal seeds repeat.
    pub(super) fn damage(&self, wire: usize) -> [Damage; 2] {
        [0u64, 1].map(|direction| match self.damage_per_million {
            0 => Damage::Never,
            hits => Damage::Random {
                hits,
                of: 1_000_000,
                seed: self
                    .damage_seed
                    .wrapping_add((wire as u64) << 1 | direction),
            },
        })
    }
}

/// Reads `[parameters]` for one kind of workload; `plan` is that of a cluster with an address map.
pub(super) fn read(
    section: Option<Section<'_>>,
    family: Family,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> (Models, Vec<ParameterValue>) {
    let tables: &[&[Parameter]] = match family {
        Family::Cluster => &[CLUSTER, WIRING, TRACES, BOOT, LOADS, LINKS_OF_CLUSTERS],
        Family::Htx => &[HTX, HTX_CROSSBAR, WIRING, HTX_HOST, HT_CORE, LOADS],
        Family::HtxBoards => &[
            HTX,
            BOARDS_NETWORK,
            REMOTE,
            HTX_JOBS,
            WIRING,
            HTX_HOST,
            HT_CORE,
            LOADS,
        ],
        Family::Memory => &[MEMORY],
        Family::Tca | Family::TcaHost => &[TCA, TCA_LATER],
        Family::TcaCopies => &[TCA, TCA_COPIES, TCA_LATER],
        Family::TcaJobs => &[TCA, TCA_JOBS, TCA_LATER],
        Family::Htea => &[HTEA],
        Family::Ethernet => &[ETHERNET],
        Family::Links => &[LINKS],
    };
    let table = || tables.iter().copied().flatten();
    let default = Models::new(family);
    let mut models = default.clone();
    if let Some(mut section) = section {
        for parameter in table() {
            parameter.set(&mut models, &mut section, out);
        }
        match family {
            Family::Tca | Family::TcaHost | Family::TcaJobs => {
                tca_parameters::check(&models.tca, &section, out);
            }
            Family::TcaCopies => {
                tca_parameters::check(&models.tca, &section, out);
                tca_parameters::check_copies(&models.tca, &section, out);
            }
            _ => {}
        }
        if family == Family::Cluster {
            below_parameters::read(&mut models, &mut section, plan, out);
        }
        section.finish(out);
    }
    let values = table().map(|parameter| parameter.shown(&models, &default));
    let mut values: Vec<_> = values.collect();
    if let (Family::Cluster, Some(plan)) = (family, plan) {
        values.extend(below_parameters::shown(&models, &default, plan));
    }
    (models, values)
}
