//! Channel dependencies must not close into a cycle.

use super::delivery::Hops;
use super::regions::{self, RegionHop};
use crate::diagnostic::{Diagnostic, Findings};
use crate::id::LinkIndex;
use crate::plan::Plan;
use crate::route::channels::{self, Channel, Follows};
use crate::route::own::Table;
use crate::spec::AdapterKind;
use crate::topology::Topology;

/// Channels of a cycle that are printed.
const PRINTED_MAX: usize = 24;
/// Rules of the file that are shown.
const RULES_MAX: usize = 8;

/// Counts of a dependency graph that has no cycle.
pub(crate) struct Acyclic {
    /// Channels between adapters, and from them to their processors.
    pub virtual_channels: usize,
    pub dependencies: usize,
}

/// Builds the dependency graph from what the registers do and looks for a cycle.
pub(crate) fn check(
    topology: &Topology,
    plan: &Plan,
    hops: &Hops,
    rules: Option<&Table>,
    out: &mut Findings,
) -> Option<Acyclic> {
    let (follows, places) = gather(plan, hops, regions::follow(plan, out));
    let peer = |at, link: usize| {
        let link = LinkIndex::from_bits((link & 7) as u8);
        plan.peer(at, link).map(|(next, ..)| next)
    };
    let channels = follows.channels(peer, &places);
    let Some(cycle) = channels.cycle() else {
        return Some(Acyclic {
            virtual_channels: follows.virtual_channels(),
            dependencies: channels.dependencies(),
        });
    };
    let cycle: Vec<Channel> = cycle
        .iter()
        .map(|&number| follows.channel(number))
        .collect();
    let mut names: Vec<_> = cycle
        .iter()
        .take(PRINTED_MAX)
        .map(|&channel| name(plan, channel))
        .collect();
    if cycle.len() > PRINTED_MAX {
        names.push(format!("{} more", cycle.len() - PRINTED_MAX));
    }
    names.extend(names.first().cloned());
    let mut finding = Diagnostic::error(
        "deadlock",
        format!("{} channels wait for each other in a cycle", cycle.len()),
    );
    finding = match rules {
        Some(rules) => blame(finding, plan, hops, &cycle, rules),
        None => {
            let span = topology.cables.first().map(|c| c.span).unwrap_or_default();
            finding.label(span, "routes over these cables can deadlock")
        }
    };
    out.push(
        finding
            .note(format!("the cycle: {}", names.join(" -> ")))
            .note("posted writes have one virtual channel, so full buffers along the cycle never drain")
            .help(match rules {
                Some(_) => "let one of these routes take another way: one up a tree of cables and then down closes no cycle",
                None => "use [routing] policy = \"auto\" or \"tree\"",
            }),
    );
    None
}

/// What follows what, by the registers; and where the adapters are.
fn gather(plan: &Plan, hops: &Hops, regions: Vec<RegionHop>) -> (Follows, Vec<(usize, LinkIndex)>) {
    let processors = plan.processor_count();
    let places: Vec<(usize, LinkIndex)> = plan
        .adapters()
        .iter()
        .filter_map(|adapter| {
            let port = adapter.port;
            Some((plan.processor_number(port.processor)?, port.link))
        })
        .collect();
    let shared = plan.adapters().iter();
    let shared = shared.map(|adapter| channels::shared(adapter.kind, adapter.network));
    let mut follows = Follows::new(processors, shared.collect());
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
    for hop in regions {
        follows.add(hop.way, hop.crossing, hop.after);
    }
    (follows, places)
}

/// Points at the rules that let packets of a channel of the cycle wait for the next one.
fn blame(
    mut finding: Diagnostic,
    plan: &Plan,
    hops: &Hops,
    cycle: &[Channel],
    rules: &Table,
) -> Diagnostic {
    // Whether packets for a target use a channel.
    let uses = |channel: &Channel, target: usize| match *channel {
        Channel::Link { processor, link } => {
            hops.link(processor, target) == Some(LinkIndex::from_bits(link))
        }
        Channel::Entry { adapter } => {
            let address = hops.address(target);
            let mut adapters = plan.adapters().iter();
            adapters.any(|from| from.target(address) == Some(adapter))
        }
        Channel::Virtual { .. } => false,
    };
    let next = cycle.iter().cycle().skip(1);
    let mut labels = 0;
    for (held, wanted) in cycle.iter().zip(next) {
        let Channel::Link { processor: at, .. } = *wanted else {
            continue;
        };
        let node = |processor| plan.processor_id(processor).map(|id| id.node.index());
        let target = (0..hops.targets()).find(|&target| {
            let owner = plan.owner_of(hops.address(target)).map(|node| node.index());
            uses(held, target) && uses(wanted, target) && owner != node(at)
        });
        let rule = target.and_then(|target| {
            let to = plan.owner_of(hops.address(target))?.index();
            Some((to, rules.rule(node(at)?, to)?))
        });
        if let (Some((to, span)), true) = (rule, labels < RULES_MAX) {
            labels += 1;
            let to = plan.nodes().get(to).map_or("", |node| &node.name);
            let text = format!(
                "packets for {to} that came by {} leave by {}",
                name(plan, *held),
                name(plan, *wanted)
            );
            finding = finding.label(span, text);
        }
    }
    finding
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
            let kind = plan.adapters().get(from).map(|adapter| adapter.kind);
            let way = match kind {
                Some(AdapterKind::Htx) => "boards",
                Some(AdapterKind::Peach2) => "chips",
                _ => "virtual link",
            };
            format!("{way} {} to {}", adapter(from), adapter(to))
        }
    }
}
