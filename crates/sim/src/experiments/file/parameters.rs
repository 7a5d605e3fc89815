//! `[parameters]`: what a file may change of the models, by family.

use hostwire_plan::file::{Findings, Section};
use hostwire_plan::{LinkRole, Plan};

use crate::devices::ht::{Buffers, LinkConfig};
use crate::devices::link::Damage;
use crate::devices::nic::NicConfig;
use crate::devices::opteron::OpteronConfig;
use crate::experiments::ExperimentError;
use crate::experiments::links::NetworkTerms;
use crate::firmware;
use crate::htea;
use crate::machine::Machine;

use super::cluster_parameters::{CLUSTER, HTX};
use super::ethernet_parameters::{ETHERNET, EthernetModels};
use super::htea_parameters::HTEA;
use super::links_parameters::LINKS;
use super::memory_parameters::{MEMORY, MemoryModels};
use super::parameter::{Parameter, ParameterValue};
use super::tca_parameters::{self, TCA, TCA_JOBS, TcaModels};

/// What is modelled; each kind has its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Opterons and links of a planned cluster.
    Cluster,
    /// An HTX board in its host.
    Htx,
    /// A memory system.
    Memory,
    /// A TCA sub-cluster.
    Tca,
    /// The same, with programs on its hosts.
    TcaJobs,
    /// Two PEACH2 boards in one host.
    TcaHost,
    /// Ethernet adapters.
    Htea,
    /// Hosts with the project's own links.
    Ethernet,
    /// Hosts on links of today.
    Links,
}

/// Everything that parameters change.
#[derive(Clone, Debug)]
pub(super) struct Models {
    pub(super) processor: OpteronConfig,
    pub(super) link: LinkConfig,
    pub(super) nic: NicConfig,
    pub(super) memory: MemoryModels,
    pub(super) tca: TcaModels,
    pub(super) htea: htea::Config,
    pub(super) ethernet: EthernetModels,
    pub(super) links: NetworkTerms,
    pub(super) damage_per_million: u32,
    pub(super) damage_seed: u64,
}

impl Models {
    pub(super) fn new(family: Family) -> Models {
        Models {
            processor: match family {
                Family::Htx => OpteronConfig::opteron_246(),
                _ => OpteronConfig::shanghai(),
            },
            link: LinkConfig {
                buffers: [Buffers::FAM10H; 2],
                ..LinkConfig::default()
            },
            nic: NicConfig::htx_board(0),
            memory: MemoryModels::default(),
            tca: TcaModels::default(),
            htea: htea::Config::default(),
            ethernet: EthernetModels::default(),
            links: NetworkTerms::default(),
            damage_per_million: 0,
            damage_seed: 1,
        }
    }

    /// A machine of this plan that has booted.
    pub(super) fn booted(&self, plan: &Plan) -> Result<Machine, ExperimentError> {
        let mut machine = Machine::new(plan.clone(), &self.processor)?;
        for wire in 0..machine.wires().len() {
            if machine.wires()[wire].role != LinkRole::Fabric {
                continue;
            }
            machine.link_mut(wire).configure(|config| {
                config.buffers = self.link.buffers;
                config.retry_attempts_max = self.link.retry_attempts_max;
                config.damage = self.damage(wire);
            });
        }
        firmware::boot_all(&mut machine)?;
        Ok(machine)
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

/// Reads `[parameters]` for one kind of workload.
pub(super) fn read(
    section: Option<Section<'_>>,
    family: Family,
    out: &mut Findings,
) -> (Models, Vec<ParameterValue>) {
    let tables: &[&[Parameter]] = match family {
        Family::Cluster => &[CLUSTER],
        Family::Htx => &[HTX],
        Family::Memory => &[MEMORY],
        Family::Tca | Family::TcaHost => &[TCA],
        Family::TcaJobs => &[TCA, TCA_JOBS],
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
        if matches!(family, Family::Tca | Family::TcaHost | Family::TcaJobs) {
            tca_parameters::check(&models.tca, &section, out);
        }
        section.finish(out);
    }
    let values = table().map(|parameter| parameter.shown(&models, &default));
    let values = values.collect();
    (models, values)
}
