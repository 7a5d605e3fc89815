//! Channel dependencies must not close into a cycle.

use super::delivery::Hops;
use crate::diagnostic::{Diagnostic, Findings};
use crate::id::LinkIndex;
use crate::plan::Plan;
use crate::route::channels::Channels;
use crate::topology::Topology;

/// Channels of a cycle that are printed.
const PRINTED_MAX: usize = 24;

/// Builds the dependency graph from what the registers do and looks for a cycle.
pub(crate) fn check(topology: &Topology, plan: &Plan, hops: &Hops, out: &mut Findings) {
    let processors = plan.processor_count();
    // Channel `8 * processor + link`; a bit per link that may follow it.
    let mut follows = vec![0u8; processors * 8];
    for at in 0..processors {
        for target in 0..hops.targets() {
            let Some(link) = hops.link(at, target) else {
                continue;
            };
            let Some((next, ..)) = plan.peer(at, link) else {
                continue;
            };
            if let Some(after) = hops.link(next, target) {
                follows[at * 8 + link.index()] |= 1 << after.get();
            }
        }
    }
    let channels = Channels::of_links(&follows, |at, link| {
        let link = LinkIndex::from_bits((link & 7) as u8);
        plan.peer(at, link).map(|(next, ..)| next)
    });
    let Some(cycle) = channels.cycle() else {
        return;
    };
    let mut names: Vec<_> = cycle
        .iter()
        .take(PRINTED_MAX)
        .map(|&channel| plan.link_name(channel / 8, LinkIndex::from_bits((channel % 8) as u8)))
        .collect();
    if cycle.len() > PRINTED_MAX {
        names.push(format!("{} more", cycle.len() - PRINTED_MAX));
    }
    names.extend(names.first().cloned());
    let span = topology.cables.first().map(|c| c.span).unwrap_or_default();
    out.push(
        Diagnostic::error(
            "deadlock",
            format!("{} channels wait for each other in a cycle", cycle.len()),
        )
        .label(span, "routes over these cables can deadlock")
        .note(format!("the cycle: {}", names.join(" -> ")))
        .note("posted writes have one virtual channel, so full buffers along the cycle never drain")
        .help("use [routing] policy = \"auto\" or \"tree\""),
    );
}

/// Which cables some route uses.
pub(crate) fn used_cables(plan: &Plan, hops: &Hops) -> Vec<bool> {
    let mut used_ports = vec![false; plan.processor_count() * 8];
    for at in 0..plan.processor_count() {
        for target in 0..hops.targets() {
            if let Some(link) = hops.link(at, target) {
                used_ports[at * 8 + link.index()] = true;
            }
        }
    }
    plan.cables()
        .iter()
        .map(|cable| {
            cable.ends.iter().any(|end| {
                plan.processor_number(end.processor)
                    .is_some_and(|p| used_ports[p * 8 + end.link.index()])
            })
        })
        .collect()
}
