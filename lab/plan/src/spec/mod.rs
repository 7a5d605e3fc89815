//! The cluster file: TOML in, a description with places in the file out.
//!
//! This module checks the file by itself (keys, units, ranges, names). Whether
//! the described hardware can work is for [`crate::topology`] and [`crate::check`].

mod below;
mod ethernet;
mod link;
mod read;
mod routes;
pub(crate) mod section;
pub(crate) mod units;
mod whole;

pub use below::BridgePlan;
pub(crate) use below::{BelowSpec, ChipCableSpec, ChipPort};
pub(crate) use ethernet::AdapterPort;
pub use ethernet::{EthernetPlan, HteaPlan};

pub(crate) use link::parse_link_path;
pub(crate) use read::{check_name, read};
pub(crate) use routes::{RouteSpec, read_routes};
pub(crate) use whole::{is_htx, read_policy};

use crate::diagnostic::{Located, Span};
use crate::id::LinkIndex;
use crate::spec::units::Length;

/// What connects the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fabric {
    /// Opteron processors with non-coherent HyperTransport links (TCCluster).
    TcCluster,
    /// PEACH2 chips with PCI Express links.
    Peach2,
}

/// Processor family of a TCCluster: which northbridge registers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Family {
    /// Family 10h: MMIO ranges reach 40 bit; four extended ranges (base and mask) reach 48.
    #[serde(rename = "10h")]
    Fam10h,
    /// Family 15h: as 10h, and every MMIO range has high address bits up to bit 47.
    #[serde(rename = "15h")]
    Fam15h,
}

/// How routes are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The best scheme that fits the registers and cannot deadlock.
    Auto,
    /// Always shortest paths, also if there is then no plan.
    Minimal,
    /// Along a spanning tree with shortcuts; never deadlocks by itself.
    Tree,
}

/// What a cable is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    /// Traces on a backplane of FR4.
    Backplane,
    /// Traces on one board of FR4.
    Board,
    /// A coaxial cable.
    Coax,
}

impl Medium {
    /// Highest link clock that it carries.
    ///
    /// Source: TCCluster paper, section VI: the prototype's HTX cable ran 1.6 Gb/s per lane,
    /// traces on a board carry 5.2 Gb/s.
    pub const fn mhz_max(self) -> u32 {
        match self {
            Medium::Backplane | Medium::Board => 2_600,
            Medium::Coax => 800,
        }
    }

    /// Its name in messages.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Medium::Backplane => "a trace on a backplane",
            Medium::Board => "a trace on a board",
            Medium::Coax => "a coaxial cable",
        }
    }
}

/// The use of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CableKind {
    /// Carries the traffic of the fabric.
    Fabric,
    /// A coherent link between two nodes over which one configures the other; carries no traffic.
    Coherent,
}

/// How the processors of a supernode are joined by coherent links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoherentShape {
    /// A grid of these sizes, slowest dimension first.
    Grid(&'static [usize]),
    /// Every processor with every other.
    Full,
}

/// PCI Express role of port south of a PEACH2 chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SouthRole {
    RootComplex,
    Endpoint,
}

/// Where the southbridge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Southbridge {
    None,
    /// On the first free link of processor 0.
    Auto,
    /// On this link of processor 0.
    On(LinkIndex),
}

/// What takes the writes that leave an island by a link, and carries them to another island.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AdapterKind {
    /// An adapter for HyperTransport over Ethernet.
    Htea,
    /// An HTX board.
    Htx,
    /// A PEACH2 chip below a bridge from HyperTransport to PCI Express.
    Peach2,
}

impl AdapterKind {
    /// All of them, in the order in which plans list them.
    pub const ALL: [AdapterKind; 3] = [AdapterKind::Htea, AdapterKind::Htx, AdapterKind::Peach2];

    /// The key of a node that plugs one in.
    pub const fn key(self) -> &'static str {
        match self {
            AdapterKind::Htea => "adapter",
            AdapterKind::Htx => "board",
            AdapterKind::Peach2 => "chip",
        }
    }

    /// Its name behind that of its node, in a file and in reports: `board`, `board1` and so on for those
    /// of one node.
    pub fn name(self, index: usize) -> String {
        match index {
            0 => self.key().to_owned(),
            _ => format!("{}{index}", self.key()),
        }
    }

    /// The place among those of its kind in a node that such a name stands for.
    pub(crate) fn index_of(self, name: &str) -> Option<usize> {
        match name.strip_prefix(self.key())? {
            "" => Some(0),
            number if number.starts_with('0') => None,
            number => number.parse().ok().filter(|_| number.len() <= 3),
        }
    }

    /// What it is, for reports.
    pub const fn noun(self) -> &'static str {
        match self {
            AdapterKind::Htea => "HTEA",
            AdapterKind::Htx => "HTX board",
            AdapterKind::Peach2 => "PEACH2 chip below a bridge",
        }
    }
}

/// Where an adapter of a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdapterPlace {
    /// On the first free link of processor 0.
    Auto,
    /// On this link of this processor.
    On(u8, LinkIndex),
}

#[derive(Debug)]
pub(crate) struct ClusterSpec {
    pub fabric: Fabric,
    pub family: Family,
    pub map: MapSpec,
    pub ring_bytes: Located<u64>,
    pub ring_region: Option<Located<u64>>,
    pub policy: Policy,
    /// Routes of the file. Where there are any, the planner chooses none.
    pub routes: Vec<RouteSpec>,
    pub link: LinkSpec,
    pub nodes: Vec<NodeSpec>,
    pub cables: Vec<CableSpec>,
    pub topology: Option<TopologySpec>,
    /// `[ethernet]`, if the file has it.
    pub ethernet: Option<Located<EthernetPlan>>,
    /// `[htea]`, if the file has it.
    pub htea: Option<Located<HteaPlan>>,
    /// HTX boards and PEACH2 chips below sockets.
    pub below: BelowSpec,
}

#[derive(Debug, Default)]
pub(crate) struct MapSpec {
    /// One of its keys was wrong, so nothing else about the map is checked.
    pub wrong: bool,
    pub base: Option<Located<u64>>,
    pub low_memory: Option<Located<u64>>,
    pub address_bits: Option<Located<u64>>,
    /// Size of the PEACH2 window.
    pub window: Option<Located<u64>>,
}

/// Properties of a cable that its description or the defaults may give.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkSpec {
    /// One of its keys was wrong, so nothing else about the link is checked.
    pub wrong: bool,
    pub width_bits: Option<Located<u64>>,
    pub frequency_mhz: Option<Located<u64>>,
    pub length: Option<Located<Length>>,
    pub medium: Option<Located<Medium>>,
}

#[derive(Debug)]
pub(crate) struct NodeSpec {
    pub name: Located<String>,
    pub base: Option<Located<u64>>,
    pub adapters: Vec<(AdapterKind, Located<AdapterPlace>)>,
    pub template: NodeTemplate,
}

/// Everything about a node except its name and place.
#[derive(Clone, Debug)]
pub(crate) struct NodeTemplate {
    /// The table header.
    pub span: Span,
    /// Memory per processor (for PEACH2: of the host).
    pub memory: Located<u64>,
    pub processors: Located<u64>,
    pub cores: Located<u64>,
    pub links: Located<u64>,
    pub southbridge: Located<Southbridge>,
    pub coherent: Option<Located<CoherentShape>>,
    pub width_bits: Located<u64>,
    pub frequency_mhz: Located<u64>,
    pub overrides: Vec<LinkOverride>,
    pub gpus: u64,
    pub gpu_memory: Option<Located<u64>>,
    pub south: Option<Located<SouthRole>>,
}

/// The abilities of one link, where they differ from the other links of its node.
#[derive(Clone, Debug)]
pub(crate) struct LinkOverride {
    pub processor: u8,
    pub link: LinkIndex,
    pub span: Span,
    pub width_bits: Option<Located<u64>>,
    pub frequency_mhz: Option<Located<u64>>,
}

#[derive(Debug)]
pub(crate) struct CableSpec {
    /// The table header.
    pub span: Span,
    pub from: Located<PortRef>,
    pub to: Located<PortRef>,
    pub kind: CableKind,
    pub link: LinkSpec,
}

/// A port as written: `left.l2`, `s0.p1.l2`, `n3.east`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortRef {
    pub node: String,
    pub processor: u8,
    pub link: LinkIndex,
}

#[derive(Debug)]
pub(crate) struct TopologySpec {
    /// Where the kind is written.
    pub span: Span,
    /// The shape of each island.
    pub shape: ShapeSpec,
    /// Copies of the shape, joined by adapters.
    pub islands: usize,
    /// Where the first node of each island has its adapters.
    pub adapters: Vec<Located<AdapterPlace>>,
    pub prefix: String,
    pub template: NodeTemplate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShapeSpec {
    /// Sizes and whether each dimension wraps around, slowest dimension first.
    Grid(Vec<Dimension>),
    /// Every node with every other.
    Full(usize),
}

/// One dimension of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dimension {
    pub size: usize,
    pub wraps: bool,
}

/// Names of the PEACH2 ports, by link number.
pub(crate) const PEACH2_PORTS: [&str; 4] = ["east", "west", "south", "north"];

pub(crate) use section::clip as clip_name;
pub(crate) use section::nearest as nearest_name;
