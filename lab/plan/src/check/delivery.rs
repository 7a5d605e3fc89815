//! Follows every address from every processor through the registers.
//!
//! This check does not use the plan's own route tables: it follows base, limit, mask and routing
//! rows only. So it finds wrong encodings; its findings are faults of the planner, not of the
//! file.

use crate::diagnostic::{Diagnostic, Findings};
use crate::id::LinkIndex;
use crate::plan::{LinkRole, Plan};
use crate::registers::Step;
use crate::registers::opteron::CpuMemory;
use crate::spec::Fabric;
use hostwire_address::{AddressRange, GlobalAddress};

/// For every processor and every memory interval the link that the packet leaves by.
pub(crate) struct Hops {
    targets: Vec<GlobalAddress>,
    /// Link number, or [`DELIVER`].
    links: Vec<u8>,
}

const DELIVER: u8 = u8::MAX;

/// Link traversals over all pairs of processor and memory interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct HopStatistics {
    /// The longest route.
    pub hops_max: u32,
    /// The mean over all routes that leave a processor.
    pub hops_mean: f64,
}

impl Hops {
    /// The link by which processor `at` sends to interval `target`; `None` if the interval is
    /// its own.
    pub(crate) fn link(&self, at: usize, target: usize) -> Option<LinkIndex> {
        let link = self.links[at * self.targets.len() + target];
        (link != DELIVER).then_some(LinkIndex::from_bits(link))
    }

    pub(crate) fn targets(&self) -> usize {
        self.targets.len()
    }

    /// The first address of an interval.
    pub(crate) fn address(&self, target: usize) -> GlobalAddress {
        self.targets[target]
    }
}

/// Memory intervals: per processor, or per PEACH2 node.
fn targets(plan: &Plan) -> Vec<(usize, AddressRange)> {
    let mut targets = Vec::new();
    for entry in plan.map().entries() {
        match plan.fabric() {
            Fabric::TcCluster => {
                for part in &entry.parts {
                    targets.push((targets.len(), part.range));
                }
            }
            Fabric::Peach2 => targets.push((targets.len(), entry.range)),
        }
    }
    targets
}

/// Checks delivery of everything to everyone.
pub(crate) fn check(plan: &Plan, out: &mut Findings) -> Option<(Hops, HopStatistics)> {
    let targets = targets(plan);
    let processors = plan.processor_count();
    let mut links = Vec::with_capacity(processors * targets.len());
    for at in 0..processors {
        for &(owner, range) in &targets {
            links.push(
                decide(plan, at, owner, range)
                    .map_err(|d| out.push(*d))
                    .ok()?,
            );
        }
        check_core(plan, at, out)?;
    }
    let hops = Hops {
        targets: targets.iter().map(|(_, range)| range.start).collect(),
        links,
    };
    let statistics = walk(plan, &hops, out)?;
    Some((hops, statistics))
}

/// One processor and one interval: first and last address must go the same, sensible way.
fn decide(
    plan: &Plan,
    at: usize,
    owner: usize,
    range: AddressRange,
) -> Result<u8, Box<Diagnostic>> {
    let fault = |what: String| Box::new(Diagnostic::error("delivery", what));
    let [first, last] = [range.start, range.last()].map(|addr| plan.router(at).step(addr));
    let name = plan.processor_name(at);
    if first != last {
        return Err(fault(format!(
            "the registers of {name} split {range}: {first:?}, {last:?}"
        )));
    }
    match first {
        Step::Deliver if at == owner => Ok(DELIVER),
        Step::Forward(link) if at != owner => match plan.across(at, link, range.start) {
            Some((_, _, LinkRole::Fabric | LinkRole::Coherent | LinkRole::Adapter)) => {
                Ok(link.get())
            }
            _ => Err(fault(format!(
                "{name} sends {range} to {link}, where nothing is"
            ))),
        },
        Step::Fault(why) => Err(fault(format!("{name} cannot route {range}: {why}"))),
        other => Err(fault(format!("{name} misroutes {range}: {other:?}"))),
    }
}

/// A core must take local addresses for memory and remote ones for I/O.
fn check_core(plan: &Plan, at: usize, out: &mut Findings) -> Option<()> {
    if plan.fabric() != Fabric::TcCluster {
        return Some(());
    }
    let (node, processor) = plan.node_of_processor(at)?;
    let cpu = CpuMemory::from_writes(&processor.registers);
    let remote = node.windows.iter().map(|w| (w.range, false));
    for (range, memory) in remote.chain([(node.range, true)]) {
        for addr in [
            range.start,
            GlobalAddress(range.start.0 + range.bytes / 2),
            range.last(),
        ] {
            if cpu.is_memory(addr) != memory || cpu.memory_type(addr).is_none() {
                let name = plan.processor_name(at);
                out.push(Diagnostic::error(
                    "delivery",
                    format!("the cores of {name} take {addr} for the wrong kind of memory"),
                ));
                return None;
            }
        }
    }
    Some(())
}

/// Follows the decisions to every interval: no loop, no packet back over the link it came by.
fn walk(plan: &Plan, hops: &Hops, out: &mut Findings) -> Option<HopStatistics> {
    const UNKNOWN: u32 = u32::MAX;
    let processors = plan.processor_count();
    let (mut hops_max, mut sum, mut routes) = (0, 0u64, 0u64);
    let mut distance = vec![UNKNOWN; processors];
    let mut path: Vec<usize> = Vec::new();
    for target in 0..hops.targets() {
        distance.fill(UNKNOWN);
        for start in 0..processors {
            path.clear();
            let mut at = start;
            while distance[at] == UNKNOWN {
                if path.len() > processors {
                    let name = plan.processor_name(start);
                    out.push(Diagnostic::error(
                        "delivery",
                        format!("a packet from {name} circles for ever"),
                    ));
                    return None;
                }
                let Some(link) = hops.link(at, target) else {
                    distance[at] = 0;
                    break;
                };
                let (next, back, _) = plan.across(at, link, hops.address(target))?;
                if hops.link(next, target) == Some(back) {
                    let name = plan.processor_name(at);
                    out.push(Diagnostic::error(
                        "delivery",
                        format!("a packet from {name} returns over {link}"),
                    ));
                    return None;
                }
                path.push(at);
                at = next;
            }
            let mut here = distance[at];
            for &earlier in path.iter().rev() {
                here += 1;
                distance[earlier] = here;
            }
            if distance[start] > 0 {
                hops_max = hops_max.max(distance[start]);
                sum += u64::from(distance[start]);
                routes += 1;
            }
        }
    }
    let hops_mean = if routes == 0 {
        0.0
    } else {
        sum as f64 / routes as f64
    };
    Some(HopStatistics {
        hops_max,
        hops_mean,
    })
}
