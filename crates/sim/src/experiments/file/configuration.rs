//! The resolved configuration: all that a run depends on, and its hash.

use hostwire_plan::{CableKind, Fabric, Medium, Plan, Scheme};
use serde::Serialize;

use crate::wire::CallCosts;

use super::parameter::ParameterValue;
use super::workload::Workload;

/// All that a run depends on, defaults included. Where the files lie and what
/// they are called is not part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configuration {
    /// The cluster; none for an HTX board, whose host is built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterFigures>,
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
            length_um: cable.length_um,
        });
        ClusterFigures {
            fabric: plan.fabric(),
            scheme: plan.scheme(),
            nodes: nodes.collect(),
            cables: cables.collect(),
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
    /// configurations have equal hashes, in any folder and on any machine.
    pub fn hash(&self) -> String {
        // These types have no maps with keys other than strings: this cannot fail.
        let json = serde_json::to_vec(self).unwrap_or_default();
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
