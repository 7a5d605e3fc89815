//! Plans a cluster: from a description of nodes and cables to one address map, routes, and the
//! values of the registers that make both true.
//!
//! ```
//! let file = r#"
//! [[node]]
//! name = "left"
//! memory = "8GiB"
//!
//! [[node]]
//! name = "right"
//! memory = "8GiB"
//!
//! [[cable]]
//! from = "left.l2"
//! to = "right.l2"
//! width = "16bit"
//! frequency = "800MHz"
//! medium = "coax"
//! "#;
//! let plan = hostwire_plan::plan("two.toml", file.as_bytes())?;
//! let right = plan.node_by_name("right").expect("it is in the file");
//! assert_eq!(plan.owner_of(right.range.start), Some(right.id));
//! assert_eq!(plan.route(plan.nodes()[0].id, right.range.start)?.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here reads files or prints; the whole crate is a function from bytes to a [`Plan`] or a
//! list of [`Diagnostic`]s. Any input is safe: the result is always a plan or diagnostics.
//!
//! Two fabrics are known. A *TCCluster* joins Opteron processors by HyperTransport links forced
//! to be non-coherent; remote memory is memory-mapped I/O and the northbridge routes by address
//! ranges. A *PEACH2* sub-cluster joins PCI Express chips that route by mask and bounds.
//!
//! After planning, the register values are decoded again and every address is followed from
//! every processor; a plan that comes back has passed that.

#![forbid(unsafe_code)]

pub mod address_map;
mod assemble;
mod blocks;
mod check;
pub mod diagnostic;
pub mod file;
pub mod htx;
mod id;
mod plan;
pub mod registers;
pub mod report;
mod route;
mod spec;
mod topology;

pub use check::delivery::HopStatistics;
pub use check::usage::ChannelStatistics;
pub use diagnostic::{Diagnostic, Rejected};
pub use hostwire_address::{AddressRange, GlobalAddress};
pub use id::{LinkIndex, NodeId, PortId, ProcessorId};
pub use plan::{
    AdapterPlan, CablePlan, ChipPlan, Hop, LinkPlan, LinkRole, NodePlan, Plan, ProcessorPlan,
    RouteError, ViewEntry, ViewKind, Window,
};
pub use route::Scheme;
pub use spec::{
    AdapterKind, BridgePlan, CableKind, EthernetPlan, Fabric, Family, HteaPlan, Medium,
};

use diagnostic::{Findings, Located, Source, Span};
use file::Section;
use registers::opteron::{DRAM_GRANULE, DRAM_RANGES};
use spec::ClusterSpec;
use topology::Topology;

/// Nodes a plan can have.
pub const NODES_MAX: usize = 4096;
/// Processors a plan can have, over all nodes.
pub const PROCESSORS_MAX: usize = 4096;
/// Largest cluster file.
pub const FILE_BYTES_MAX: usize = 4 << 20;
const DEFAULT_LOW_BYTES: u64 = DRAM_GRANULE;

/// Plans the cluster that a file describes.
///
/// `name` is the file's name for messages, `bytes` its content.
///
/// # Errors
/// [`Rejected`] holds what is wrong with the file. It is never the environment's fault.
///
/// Never panics. The time is about proportional to the square of the number of processors.
pub fn plan(name: &str, bytes: &[u8]) -> Result<Plan, Rejected> {
    match cluster(name, bytes)? {
        Cluster::AddressMap(plan) => Ok(*plan),
        Cluster::Htx(_) => {
            let mut out = Findings::default();
            out.push(no_address_map());
            Err(rejected(name, bytes, out))
        }
    }
}

/// What a cluster file describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Cluster {
    /// Processors or chips that reach each other's memory by addresses.
    AddressMap(Box<Plan>),
    /// Hosts that send each other messages.
    Htx(htx::HtxPlan),
}

impl Cluster {
    /// The plan, if the cluster has an address map.
    pub fn plan(&self) -> Option<&Plan> {
        match self {
            Cluster::AddressMap(plan) => Some(plan),
            Cluster::Htx(_) => None,
        }
    }

    /// Findings that did not stop the plan.
    pub fn warnings(&self) -> &[Diagnostic] {
        match self {
            Cluster::AddressMap(plan) => plan.warnings(),
            Cluster::Htx(plan) => plan.warnings(),
        }
    }
}

/// Plans the cluster that a file describes, of any fabric. As [`plan()`], which is for the fabrics
/// that have an address map.
///
/// # Errors
/// As [`plan()`].
pub fn cluster(name: &str, bytes: &[u8]) -> Result<Cluster, Rejected> {
    let mut out = Findings::default();
    let cluster = file::decode(bytes, FILE_BYTES_MAX, "a cluster file", &mut out)
        .and_then(|text| plan_text(text, &mut out));
    match cluster {
        Some(mut cluster) if !out.has_errors() => {
            let warnings = match &mut cluster {
                Cluster::AddressMap(plan) => &mut plan.warnings,
                Cluster::Htx(plan) => &mut plan.warnings,
            };
            *warnings = out.into_vec();
            Ok(cluster)
        }
        _ => Err(rejected(name, bytes, out)),
    }
}

fn rejected(name: &str, bytes: &[u8], out: Findings) -> Rejected {
    let shown = bytes
        .get(..bytes.len().min(FILE_BYTES_MAX))
        .unwrap_or_default();
    let text = String::from_utf8_lossy(shown);
    Rejected {
        source: Source::new(name, text),
        diagnostics: out.into_vec(),
    }
}

fn no_address_map() -> Diagnostic {
    Diagnostic::error(
        "fabric",
        "HTX boards carry messages and have no address map",
    )
    .help("name a cluster of fabric \"tccluster\" or \"peach2\" here")
}

fn plan_text(text: &str, out: &mut Findings) -> Option<Cluster> {
    let root = file::parse(text, out)?;
    let whole = Span { start: 0, end: 0 };
    let file = Section::new("a cluster file", root.get_ref(), whole);
    cluster_table(file, out)
}

/// Plans the cluster that a table of some file describes, with the keys of a cluster file.
///
/// Faults and warnings go to `out`; if there is no plan, at least one finding is an error.
/// Never panics.
pub fn cluster_table(table: Section<'_>, out: &mut Findings) -> Option<Cluster> {
    if spec::is_htx(&table) {
        return htx::plan(table, out).map(Cluster::Htx);
    }
    plan_table(table, out).map(|plan| Cluster::AddressMap(Box::new(plan)))
}

fn plan_table(table: Section<'_>, out: &mut Findings) -> Option<Plan> {
    let (spec, is_read) = out.step(|out| spec::read(table, out));
    let mut spec = spec?;
    let (topology, is_built) = out.step(|out| topology::build(&mut spec, out));
    let mut topology = topology?;
    let is_whole = is_read && is_built;
    let (_, is_reached) = out.step(|out| {
        check::links::check_lengths(&topology, out);
        if is_whole {
            check::links::check_overrides(&topology, out);
            check::reach::check_connected(&topology, &topology.adjacency(), out);
            check::adapters::check(&spec, &topology, out);
            check::reach::check_southbridges(&topology, out);
        }
    });
    let (numbered, is_ordered) = out.step(|out| check::map::order_by_base(&mut topology, out));
    let (low_bytes, _) = out.step(|out| low_memory(&spec, &topology, out));
    if !(is_whole && is_reached && is_ordered) {
        // Routing is not possible, but the places of nodes in the map do not depend on
        // it.
        if is_ordered && !spec.map.wrong {
            out.step(|out| check::map::lay_out(&topology, &spec.map, out));
        }
        return None;
    }
    let (routes, rules) = match spec.routes.is_empty() {
        true => (
            route::choose(&mut topology, &spec.map, spec.policy, numbered, out)?,
            None,
        ),
        false => {
            let (routes, rules) = route::own::choose(&topology, &spec, out)?;
            (routes, Some(rules))
        }
    };
    check::rings::check(
        &topology,
        &routes.map,
        spec.ring_bytes,
        spec.ring_region,
        out,
    );
    let windows = route::ranges::windows_of_all(&routes.map, &routes.next);
    check::ranges::check_windows(&topology, &routes, &windows, out);
    check::chips::check_bounds(&topology, &routes, out);
    let mut memory = Vec::new();
    if topology.fabric == Fabric::TcCluster {
        check::ranges::check_dram(
            &topology,
            &low_bytes,
            spec.map.low_memory.map(|l| l.span),
            out,
        );
        memory = check::memory_types::plan_all(&topology, &routes.map, &low_bytes, out)?;
    }
    if out.has_errors() {
        return None;
    }
    let mut plan = assemble::assemble(assemble::Decided {
        topology: &topology,
        adjacency: &topology.ways(),
        routes,
        windows: &windows,
        low_bytes: &low_bytes,
        memory: &memory,
        ring_bytes: spec.ring_bytes.value,
        ethernet: spec.ethernet.map(|given| given.value).unwrap_or_default(),
        htea: spec.htea.map(|given| given.value).unwrap_or_default(),
    });
    check::chips::check_delivery(&plan, out);
    let (hops, statistics) = check::delivery::check(&plan, out)?;
    plan.hops = statistics;
    let proof = check::deadlock::check(&topology, &plan, &hops, rules.as_ref(), out)?;
    let usage = check::usage::Usage::count(&plan, &hops);
    plan.channels = usage.statistics(&plan, &proof);
    check::adapters::check_unused(&topology, &plan, out);
    let used = usage.used_cables(&plan);
    check::links::check_unused(&topology, plan.scheme, &used, out);
    (!out.has_errors()).then_some(plan)
}

/// Low memory of every node: the size in the file, else one DRAM granule if a DRAM range is
/// left.
fn low_memory(spec: &ClusterSpec, topology: &Topology, out: &mut Findings) -> Vec<u64> {
    let Some(Located { value, span }) = spec.map.low_memory else {
        let usual = |node: &topology::Node| {
            let room = usize::from(node.processors()) < DRAM_RANGES;
            if room && topology.fabric == Fabric::TcCluster {
                DEFAULT_LOW_BYTES
            } else {
                0
            }
        };
        return topology.nodes.iter().map(usual).collect();
    };
    let smallest = topology
        .nodes
        .iter()
        .map(|n| n.template.memory.value)
        .min()
        .unwrap_or(0);
    let max = smallest.min(check::map::SOUTHBRIDGE_START);
    if value % DRAM_GRANULE != 0 || value > max {
        out.push(
            Diagnostic::error("map-alignment", "low memory cannot have this size")
                .label(
                    span,
                    format!(
                        "expected a multiple of 16MiB up to {}, got {}",
                        spec::units::display_bytes(max),
                        spec::units::display_bytes(value)
                    ),
                )
                .note("low memory is the first part of processor 0's memory, seen at address 0 too")
                .help("use \"16MiB\", or \"0B\" for none"),
        );
    }
    vec![value; topology.nodes.len()]
}

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
