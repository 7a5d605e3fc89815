//! The plan for programs.

use serde::Serialize;

use crate::address_map::AddressMap;
use crate::diagnostic::Severity;
use crate::htx::{Cable, Host, Region, Switch};
use crate::id::NodeId;
use crate::plan::{AdapterPlan, CablePlan, ChipPlan, LinkPlan, Plan, ViewEntry};
use crate::registers::RegisterWrite;
use crate::spec::{AdapterKind, BridgePlan, EthernetPlan, Fabric, Family, HteaPlan};
use crate::{ChannelStatistics, HopStatistics, ProcessorId, Scheme};
use hostwire_address::AddressRange;

/// What the JSON holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonOptions {
    /// Register offsets and values of every processor.
    pub registers: bool,
}

impl JsonOptions {
    /// With or without registers.
    pub fn new(registers: bool) -> Self {
        Self { registers }
    }
}

#[derive(Serialize)]
struct Document<'p> {
    fabric: Fabric,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<Family>,
    scheme: Scheme,
    hops: HopStatistics,
    channels: ChannelStatistics,
    map: &'p AddressMap,
    cables: &'p [CablePlan],
    #[serde(skip_serializing_if = "<[AdapterPlan]>::is_empty")]
    adapters: &'p [AdapterPlan],
    #[serde(skip_serializing_if = "Option::is_none")]
    ethernet: Option<&'p EthernetPlan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    htea: Option<&'p HteaPlan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boards: Option<Boards<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bridge: Option<&'p BridgePlan>,
    #[serde(skip_serializing_if = "<[ChipPlan]>::is_empty")]
    chips: &'p [ChipPlan],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    chip_cables: &'p [[(usize, u8); 2]],
    nodes: Vec<Node<'p>>,
    warnings: Vec<Warning<'p>>,
}

/// HTX boards of nodes.
#[derive(Serialize)]
struct Boards<'p> {
    boards: &'p [Host],
    switches: &'p [Switch],
    cables: &'p [Cable],
    #[serde(skip_serializing_if = "<[Region]>::is_empty")]
    regions: &'p [Region],
}

#[derive(Serialize)]
struct Node<'p> {
    id: NodeId,
    name: &'p str,
    range: AddressRange,
    low_bytes: u64,
    windows_write_combining: bool,
    view: Vec<ViewEntry>,
    processors: Vec<Processor<'p>>,
}

#[derive(Serialize)]
struct Processor<'p> {
    id: ProcessorId,
    memory: AddressRange,
    links: &'p [LinkPlan],
    #[serde(skip_serializing_if = "Option::is_none")]
    registers: Option<&'p [RegisterWrite]>,
}

#[derive(Serialize)]
struct Warning<'p> {
    severity: &'static str,
    code: &'static str,
    message: &'p str,
}

/// The plan as JSON, indented. Addresses and register values are numbers.
///
/// # Errors
/// None in practice: all values have a JSON form.
pub fn json(plan: &Plan, options: JsonOptions) -> Result<String, serde_json::Error> {
    let nodes = plan.nodes().iter().map(|node| Node {
        id: node.id,
        name: &node.name,
        range: node.range,
        low_bytes: node.low_bytes,
        windows_write_combining: node.windows_write_combining,
        view: plan.view(node.id),
        processors: node
            .processors
            .iter()
            .map(|p| Processor {
                id: p.id,
                memory: p.memory,
                links: &p.links,
                registers: options.registers.then_some(p.registers.as_slice()),
            })
            .collect(),
    });
    let warnings = plan.warnings().iter().map(|w| Warning {
        severity: match w.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        code: w.code,
        message: &w.message,
    });
    let mut adapters = plan.adapters().iter();
    let has_htea = adapters.any(|adapter| adapter.kind == AdapterKind::Htea);
    let boards = plan.boards().map(|boards| Boards {
        boards: boards.hosts(),
        switches: boards.switches(),
        cables: boards.cables(),
        regions: boards.regions(),
    });
    serde_json::to_string_pretty(&Document {
        fabric: plan.fabric(),
        family: plan.family(),
        scheme: plan.scheme(),
        hops: plan.hop_statistics(),
        channels: plan.channel_statistics(),
        map: plan.map(),
        cables: plan.cables(),
        adapters: plan.adapters(),
        ethernet: has_htea.then(|| plan.ethernet()),
        htea: has_htea.then(|| plan.htea()),
        boards,
        bridge: (!plan.chips().is_empty()).then(|| plan.bridge()),
        chips: plan.chips(),
        chip_cables: plan.chip_cables(),
        nodes: nodes.collect(),
        warnings: warnings.collect(),
    })
}
