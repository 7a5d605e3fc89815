//! Regions of other nodes' memory: addresses behind the map, and a way to the right board.

use crate::address_map::AddressMap;
use crate::diagnostic::{Diagnostic, Findings};
use crate::htx::REGION_BASE;
use crate::id::LinkIndex;
use crate::plan::Plan;
use crate::registers::Step;
use crate::spec::AdapterKind;
use crate::topology::Topology;
use hostwire_address::GlobalAddress;

/// A step of a request for a region, as the registers have it.
pub(crate) struct RegionHop {
    /// Processor and link.
    pub way: (usize, LinkIndex),
    /// The boards, where the link leads to one.
    pub crossing: Option<[usize; 2]>,
    /// The link by which it leaves the next processor.
    pub after: Option<LinkIndex>,
}

/// Nodes have their addresses below those of regions.
pub(crate) fn check_addresses(topology: &Topology, map: &AddressMap, out: &mut Findings) {
    let boards = topology.below.boards.as_ref();
    let span = boards.and_then(|boards| boards.region_span);
    let (Some(span), true) = (span, map.end().0 > REGION_BASE) else {
        return;
    };
    let end = map.end().0;
    out.push(
        Diagnostic::error(
            "region-space",
            "the memory of the nodes reaches the addresses of regions",
        )
        .label(span, "no addresses for this region")
        .note(format!(
            "nodes have addresses up to {end:#x}, regions from {REGION_BASE:#x} on"
        ))
        .help("use less memory, fewer nodes, or no regions"),
    );
}

/// Follows the requests for all regions from all processors of their users.
pub(crate) fn follow(plan: &Plan, out: &mut Findings) -> Vec<RegionHop> {
    let mut hops = Vec::new();
    let board = |member: usize| {
        let mut adapters = plan.adapters().iter();
        adapters.position(|adapter| (adapter.kind, adapter.member) == (AdapterKind::Htx, member))
    };
    let regions = plan.boards().map_or(&[][..], |boards| boards.regions());
    for region in regions {
        let (Some(from), Some(to)) = (board(region.at), board(region.of)) else {
            continue;
        };
        let node = plan.adapters()[from].port.processor.node;
        let processors = plan.node(node).map_or(&[][..], |node| &node.processors);
        for processor in processors {
            let start = plan.processor_number(processor.id);
            let addresses = [region.address, region.address + region.bytes - 1];
            for address in addresses.map(GlobalAddress) {
                let walked = start.and_then(|at| walk(plan, at, address, [from, to], &mut hops));
                if walked.is_none() {
                    let name = start.map_or_else(String::new, |at| plan.processor_name(at));
                    out.push(Diagnostic::error(
                        "delivery",
                        format!("{name} does not lead {address}, of a region, to its board"),
                    ));
                    return hops;
                }
            }
        }
    }
    hops
}

/// From a processor to the board of a region.
fn walk(
    plan: &Plan,
    mut at: usize,
    address: GlobalAddress,
    [from, to]: [usize; 2],
    hops: &mut Vec<RegionHop>,
) -> Option<()> {
    let link = |at: usize| match plan.router(at).step(address) {
        Step::Forward(link) => Some(link),
        _ => None,
    };
    for _ in 0..plan.processor_count() {
        let out = link(at)?;
        let way = (at, out);
        if let Some(adapter) = plan.adapter_at(at, out) {
            hops.push(RegionHop {
                way,
                crossing: Some([from, to]),
                after: None,
            });
            return (adapter == from).then_some(());
        }
        let (next, ..) = plan.peer(at, out)?;
        hops.push(RegionHop {
            way,
            crossing: None,
            after: link(next),
        });
        at = next;
    }
    None
}
