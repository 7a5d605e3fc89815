//! Do the ranges of every node fit its registers?

use crate::diagnostic::{Diagnostic, Findings, Span};
use crate::registers::opteron::{DRAM_RANGES, EXTENDED_RANGES, MMIO_RANGES};
use crate::route::ranges::{Budget, RouteRange};
use crate::route::{Routes, Scheme};
use crate::topology::Topology;

/// Nodes listed in a note.
const LISTED_MAX: usize = 8;

/// MMIO ranges (or PEACH2 bounds) per node.
pub(crate) fn check_windows(
    topology: &Topology,
    routes: &Routes,
    windows: &[Vec<RouteRange>],
    out: &mut Findings,
) {
    let map = &routes.map;
    super::regions::check_addresses(topology, map, out);
    let budget = Budget::new(topology, map);
    let mut over = Vec::new();
    let mut worst = None;
    for (node, windows) in windows.iter().enumerate() {
        if let Some(excess) = budget.excess(node, map, windows) {
            over.push(topology.nodes[node].name.as_str());
            if worst
                .as_ref()
                .is_none_or(|(_, needed, _)| excess.needed > *needed)
            {
                worst = Some((node, excess.needed, excess.available));
            }
        }
    }
    let Some((node, needed, available)) = worst else {
        return;
    };
    let (what, why) = match budget {
        Budget::Mmio { taken } => {
            let mut why = format!("a northbridge has {MMIO_RANGES}");
            if taken[node].southbridge {
                why += ", one of them is the southbridge's";
            }
            if taken[node].regions > 0 {
                why += &format!(", {} for regions", taken[node].regions);
            }
            ("MMIO ranges", why)
        }
        Budget::Extended => (
            "extended MMIO ranges",
            format!(
                "past 40 bit a family 10h northbridge has {EXTENDED_RANGES}, each an aligned power of two"
            ),
        ),
        Budget::PerPort => (
            "address intervals behind one port",
            "a PEACH2 port has one lower and one upper bound".to_owned(),
        ),
    };
    let listed = over
        .iter()
        .take(LISTED_MAX)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    let more = if over.len() > LISTED_MAX { ", ..." } else { "" };
    let name = &topology.nodes[node].name;
    out.push(
        Diagnostic::error("interval-routing", format!("`{name}` needs {needed} {what}, there are {available}"))
            .label(place(topology, node), format!("expected at most {available}, got {needed}"))
            .note(why)
            .note(format!("{} of {} nodes need too many: {listed}{more}", over.len(), topology.nodes.len()))
            .help(match what {
                _ if routes.scheme == Scheme::File => "let nodes that one link leads to follow each other: in the file, or by `base`",
                "extended MMIO ranges" => "use less memory so that the map fits 40 bit, or `family = \"15h\"`",
                _ => "use another topology or fewer cables per node, or let the plan number the nodes (no `base`, policy \"auto\")",
            }),
    );
}

/// DRAM ranges: one per processor and one for low memory.
pub(crate) fn check_dram(
    topology: &Topology,
    low_bytes: &[u64],
    low_span: Option<Span>,
    out: &mut Findings,
) {
    for (number, node) in topology.nodes.iter().enumerate() {
        let needed = usize::from(node.processors()) + usize::from(low_bytes[number] > 0);
        if needed > DRAM_RANGES {
            out.push(
                Diagnostic::error(
                    "dram-ranges",
                    format!(
                        "`{}` needs {needed} DRAM ranges, there are {DRAM_RANGES}",
                        node.name
                    ),
                )
                .label(
                    low_span.unwrap_or(node.span),
                    "one range for low memory, one per processor",
                )
                .help("use `low_memory = \"0B\"` with supernodes of 8 processors"),
            );
            return;
        }
    }
}

/// Where a node is described; for generated nodes, where the topology is.
pub(crate) fn place(topology: &Topology, node: usize) -> Span {
    match topology.cables.first() {
        Some(cable) if topology.shape.is_some() => cable.span,
        _ => topology.nodes[node].span,
    }
}
