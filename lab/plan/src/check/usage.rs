//! How much the routes use the cables.

use super::deadlock::Acyclic;
use super::delivery::Hops;
use crate::plan::Plan;
use crate::spec::CableKind;

/// What the routes of all pairs of processor and memory interval make of the links, and the proof
/// that they cannot deadlock.
///
/// A *channel* is one direction of a link, coherent ones included, or of the virtual link of two
/// adapters. A channel *depends* on another if a packet that holds a buffer behind the one can wait for
/// the other. Routes without a cycle of dependencies are free of deadlock (Dally and Seitz,
/// 1987); a plan exists only without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ChannelStatistics {
    /// Channels that some route uses.
    pub channels: usize,
    /// Dependencies between them.
    pub dependencies: usize,
    /// Cables that carry traffic and that some route uses.
    pub cables_used: usize,
    /// Cables that could carry traffic.
    pub cables: usize,
    /// Routes over that direction of a cable which has most.
    pub busiest_routes: u64,
    /// Routes that leave a processor.
    pub routes: u64,
}

/// Routes by the processor and the link that they leave it by.
pub(crate) struct Usage(Vec<u64>);

impl Usage {
    /// Counts the routes of all pairs. `hops` was checked: no route circles.
    pub(crate) fn count(plan: &Plan, hops: &Hops) -> Self {
        let processors = plan.processor_count();
        let mut routes = vec![0; processors * 8];
        let mut next = vec![None; processors];
        let (mut entering, mut weight) = (vec![0u32; processors], vec![0u64; processors]);
        for target in 0..hops.targets() {
            entering.fill(0);
            for (at, next) in next.iter_mut().enumerate() {
                *next = hops.link(at, target).and_then(|link| {
                    let (peer, ..) = plan.across(at, link, hops.address(target))?;
                    Some((link, peer))
                });
                if let Some((_, peer)) = *next {
                    entering[peer] += 1;
                }
            }
            weight.fill(1);
            // From the ends of the tree of routes to its root, the target.
            let ends = (0..processors).filter(|at| entering[*at] == 0);
            let mut ready: Vec<usize> = ends.collect();
            while let Some(at) = ready.pop() {
                let Some((link, peer)) = next[at] else {
                    continue;
                };
                routes[at * 8 + link.index()] += weight[at];
                weight[peer] += weight[at];
                entering[peer] -= 1;
                if entering[peer] == 0 {
                    ready.push(peer);
                }
            }
        }
        Self(routes)
    }

    /// Routes over each direction of each cable.
    fn cables<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = [u64; 2]> + 'a {
        plan.cables().iter().map(|cable| {
            cable.ends.map(|end| {
                let number = plan.processor_number(end.processor);
                number.map_or(0, |number| self.0[number * 8 + end.link.index()])
            })
        })
    }

    /// Which cables some route uses.
    pub(crate) fn used_cables(&self, plan: &Plan) -> Vec<bool> {
        self.cables(plan).map(|routes| routes != [0, 0]).collect()
    }

    /// The statistics of a plan.
    pub(crate) fn statistics(&self, plan: &Plan, proof: &Acyclic) -> ChannelStatistics {
        let fabric = |(cable, _): &(&crate::CablePlan, _)| cable.kind == CableKind::Fabric;
        let cables = plan.cables().iter().zip(self.cables(plan));
        let cables: Vec<[u64; 2]> = cables.filter(fabric).map(|(_, routes)| routes).collect();
        let links = self.0.iter().filter(|routes| **routes > 0).count();
        let pairs = plan.processor_count() as u64;
        ChannelStatistics {
            channels: links + proof.virtual_channels,
            dependencies: proof.dependencies,
            cables_used: cables.iter().filter(|routes| **routes != [0, 0]).count(),
            cables: cables.len(),
            busiest_routes: cables.iter().flatten().copied().max().unwrap_or(0),
            routes: pairs * pairs.saturating_sub(1),
        }
    }
}
