//! Channel dependencies must not close into a cycle.

use super::delivery::Hops;
use crate::diagnostic::{Diagnostic, Findings};
use crate::id::LinkIndex;
use crate::plan::Plan;
use crate::route::channels::{Channel, Follows};
use crate::topology::Topology;

/// Channels of a cycle that are printed.
const PRINTED_MAX: usize = 24;

/// Builds the dependency graph from what the registers do and looks for a cycle.
pub(crate) fn check(topology: &Topology, plan: &Plan, hops: &Hops, out: &mut Findings) {
    let processors = plan.processor_count();
    let places: Vec<(usize, LinkIndex)> = plan
        .adapters()
        .iter()
        .filter_map(|adapter| {
            let port = adapter.port;
            Some((plan.processor_number(port.processor)?, port.link))
        })
        .collect();
    let mut follows = Follows::new(processors, places.len());
    for at in 0..processors {
        for target in 0..hops.targets() {
            let Some(link) = hops.link(at, target) else {
                continue;
            };
            let addr = hops.address(target);
            let Some((next, ..)) = plan.across(at, link, addr) else {
                continue;
            };
            let crossing = plan
                .adapter_at(at, link)
                .and_then(|from| Some([from, plan.adapters()[from].target(addr)?]));
            follows.add((at, link), crossing, hops.link(next, target));
        }
    }
    let peer = |at, link: usize| {
        let link = LinkIndex::from_bits((link & 7) as u8);
        plan.peer(at, link).map(|(next, ..)| next)
    };
    let Some(cycle) = follows.channels(peer, &places).cycle() else {
        return;
    };
    let mut names: Vec<_> = cycle
        .iter()
        .take(PRINTED_MAX)
        .map(|&number| name(plan, follows.channel(number)))
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

/// A channel by the names in the file.
fn name(plan: &Plan, channel: Channel) -> String {
    let adapter = |number: usize| {
        let adapter = plan.adapters().get(number);
        adapter.map_or_else(String::new, |adapter| plan.port_name(adapter.port))
    };
    match channel {
        Channel::Link { processor, link } => plan.link_name(processor, LinkIndex::from_bits(link)),
        Channel::Entry { adapter: number } => format!("adapter at {}", adapter(number)),
        Channel::Virtual { from, to } => {
            format!("virtual link {} to {}", adapter(from), adapter(to))
        }
    }
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
