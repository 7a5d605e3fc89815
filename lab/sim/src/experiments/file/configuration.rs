//! The resolved configuration: all that a run depends on, and its hash.

use hostwire_plan::htx::{Cable, Host, HtxPlan, Region, Switch};
use hostwire_plan::{
    AdapterKind, AdapterPlan, BridgePlan, CableKind, EthernetPlan, Fabric, HteaPlan, Medium, Plan,
    Scheme, Window,
};
use serde::Serialize;

use crate::wire::CallCosts;

use super::cluster_parameters::LATER;
use super::parameter::ParameterValue;
use super::workload::Workload;

/// All that a run depends on, defaults included. Where the files lie and what
/// they are called is not part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configuration {
    /// The cluster; none for an HTX board, whose host is built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterFigures>,
    /// The cluster of HTX boards that a program runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boards: Option<BoardsFigures>,
    /// What is run.
    pub workload: Workload,
    /// Every parameter of the models.
    pub parameters: Vec<ParameterValue>,
    /// What calls of a program cost, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallCosts>,
    /// The run is given up after so many events.
    pub events_max: u64,
}

/// A planned cluster in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterFigures {
    /// What connects the nodes.
    pub fabric: Fabric,
    /// How routes were chosen.
    pub scheme: Scheme,
    /// The nodes, in the order of the address map.
    pub nodes: Vec<NodeFigures>,
    /// The cables between them.
    pub cables: Vec<CableFigures>,
    /// Routes that the file gives or has chosen; others follow from the rest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Vec<Window>>,
    /// Adapters of the nodes, and the networks between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<DeviceFigures>,
}

/// The adapters of a cluster, and their networks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceFigures {
    /// The adapters.
    pub adapters: Vec<AdapterFigures>,
    /// The parameters of all HTEA adapters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub htea: Option<HteaPlan>,
    /// Their network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ethernet: Option<EthernetPlan>,
    /// HTX boards, their switches and cables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boards: Option<BoardsFigures>,
    /// The parameters of all bridges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge: Option<BridgePlan>,
    /// Cables between chips, by the names of their ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chip_cables: Vec<[String; 2]>,
}

/// An adapter in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdapterFigures {
    /// What it is.
    pub kind: AdapterKind,
    /// The link that it is plugged into.
    pub port: String,
    /// Lanes of that link.
    pub width_bits: Option<u8>,
    /// Its clock.
    pub frequency_mhz: Option<u16>,
}

impl AdapterFigures {
    fn of(plan: &Plan, adapter: &AdapterPlan) -> AdapterFigures {
        let processor = plan.processor(adapter.port.processor);
        let mut links = processor.into_iter().flat_map(|found| &found.links);
        let link = links.find(|link| link.link == adapter.port.link);
        AdapterFigures {
            kind: adapter.kind,
            port: plan.port_name(adapter.port),
            width_bits: link.and_then(|link| link.width_bits),
            frequency_mhz: link.and_then(|link| link.frequency_mhz),
        }
    }
}

impl DeviceFigures {
    /// `None` if no node has an adapter.
    fn of(plan: &Plan) -> Option<DeviceFigures> {
        let adapters = plan.adapters().iter();
        let adapters: Vec<_> = adapters.map(|one| AdapterFigures::of(plan, one)).collect();
        let has = |kind| adapters.iter().any(|adapter| adapter.kind == kind);
        let cables = plan.chip_cables().iter();
        let cables = cables.map(|ends| ends.map(|end| plan.chip_port_name(end)));
        let [has_htea, has_chips] = [AdapterKind::Htea, AdapterKind::Peach2].map(has);
        (!adapters.is_empty()).then(|| DeviceFigures {
            htea: has_htea.then(|| *plan.htea()),
            ethernet: has_htea.then(|| *plan.ethernet()),
            boards: plan.boards().map(BoardsFigures::of),
            bridge: has_chips.then(|| *plan.bridge()),
            chip_cables: cables.collect(),
            adapters,
        })
    }
}

/// A planned cluster of HTX boards.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardsFigures {
    /// The hosts, in the order of the file, with the routes of their boards.
    pub hosts: Vec<Host>,
    /// The switches, with their routes.
    pub switches: Vec<Switch>,
    /// The cables between link ports.
    pub cables: Vec<Cable>,
    /// Memory that hosts use of others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Region>,
}

impl BoardsFigures {
    pub(super) fn of(plan: &HtxPlan) -> BoardsFigures {
        BoardsFigures {
            hosts: plan.hosts().to_vec(),
            switches: plan.switches().to_vec(),
            cables: plan.cables().to_vec(),
            regions: plan.regions().to_vec(),
        }
    }
}

/// A node in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeFigures {
    /// Its name.
    pub name: String,
    /// First address of its memory.
    pub base: u64,
    /// Memory of each of its processors.
    pub memory_bytes: Vec<u64>,
}

/// A cable with what was agreed for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CableFigures {
    /// One end.
    pub from: String,
    /// The other end.
    pub to: String,
    /// What it carries.
    pub kind: CableKind,
    /// What it is made of.
    pub medium: Medium,
    /// Lanes per direction.
    pub width_bits: Option<u8>,
    /// Link clock.
    pub frequency_mhz: Option<u16>,
    /// Length; none: the usual one of the medium.
    pub length_um: Option<u64>,
}

impl ClusterFigures {
    pub(super) fn of(plan: &Plan) -> ClusterFigures {
        let nodes = plan.nodes().iter().map(|node| NodeFigures {
            name: node.name.clone(),
            base: node.range.start.0,
            memory_bytes: node.processors.iter().map(|p| p.memory.bytes).collect(),
        });
        let cables = plan.cables().iter().map(|cable| CableFigures {
            from: plan.port_name(cable.ends[0]),
            to: plan.port_name(cable.ends[1]),
            kind: cable.kind,
            medium: cable.medium,
            width_bits: cable.width_bits,
            frequency_mhz: cable.frequency_mhz,
            length_um: cable.length.map(|length| length.um),
        });
        ClusterFigures {
            fabric: plan.fabric(),
            scheme: plan.scheme(),
            nodes: nodes.collect(),
            cables: cables.collect(),
            routes: match plan.scheme() {
                // Islands have several ways; the policy of the file chooses.
                Scheme::File | Scheme::Islands => {
                    plan.nodes().iter().map(|n| n.windows.clone()).collect()
                }
                _ => Vec::new(),
            },
            devices: DeviceFigures::of(plan),
        }
    }
}

impl Configuration {
    /// Seed of what is random in the run, where anything is.
    pub fn seed(&self) -> Option<String> {
        if let Some(seed) = self.workload.seed() {
            return Some(seed.to_string());
        }
        let seed = |parameter: &&ParameterValue| parameter.key.ends_with("seed");
        let parameter = self.parameters.iter().find(seed)?;
        Some(parameter.value.clone())
    }

    /// Hash over the JSON of the configuration, as 16 hexadecimal digits. Equal
    /// configurations have equal hashes, in any folder and on any machine. Parameters that earlier
    /// versions did not have count if they are not the default.
    pub fn hash(&self) -> String {
        let is_later = |key: &str| {
            // Behind the name of a table.
            let key = key.rsplit('.').next().unwrap_or(key);
            let mut later = LATER.iter().copied().flatten();
            later.any(|parameter| parameter.key == key)
        };
        let mut hashed = self.clone();
        let parameters = &mut hashed.parameters;
        parameters.retain(|value| value.overridden || !is_later(&value.key));
        // These types have no maps with keys other than strings: this cannot fail.
        let json = serde_json::to_vec(&hashed).unwrap_or_default();
        format!("{:016x}", fnv1a(FNV_BASIS, &json))
    }
}

/// FNV-1a of nothing.
pub(super) const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, 64 bit (Fowler, Noll, Vo), going on from `hash`: finds differences, but does
/// not protect against manipulation.
pub(super) fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn hash_is_fnv1a() {
        // From the reference test suite of FNV.
        assert_eq!(super::fnv1a(super::FNV_BASIS, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(
            super::fnv1a(super::FNV_BASIS, b"foobar"),
            0x85944171f73967e8
        );
    }
}
