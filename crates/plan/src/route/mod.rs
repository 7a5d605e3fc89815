//! Which way packets go: for every node and destination the cable to leave by.
//!
//! A northbridge routes by address intervals, so a routing scheme is only good if
//! the destinations behind each cable have consecutive numbers, or nearly so.
//! Generated topologies use dimension-order routing ([`crate::topology::Grid`]);
//! listed cables use shortest paths if these fit and cannot deadlock, a ring
//! scheme if they form a ring, and a spanning tree with shortcuts otherwise.

pub(crate) mod channels;
mod islands;
mod minimal;
pub(crate) mod ranges;
mod ring;
mod tree;

use crate::address_map::AddressMap;
use crate::check;
use crate::diagnostic::Findings;
use crate::spec::{Dimension, MapSpec, Policy, ShapeSpec};
use crate::topology::{Edge, Grid, Topology};
use ranges::Budget;

/// Ways out of each node, by node.
pub(crate) type Adjacency = [Vec<Edge>];

/// How routes were chosen, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scheme {
    /// One dimension of a grid after the other, slowest first.
    DimensionOrder,
    /// Every node has a cable to every other.
    Direct,
    /// Shortest paths.
    Minimal,
    /// Round a ring, wrapping only at the ends.
    Ring,
    /// Along a spanning tree, with cross cables as shortcuts.
    Tree,
    /// Over cables within islands, over adapters between them.
    Islands,
}

/// For every node and destination the way out.
#[derive(Clone)]
pub(crate) struct NextHops {
    nodes: usize,
    /// Position in the node's adjacency; `u8::MAX` for the node itself.
    slots: Vec<u8>,
    /// For every destination the node whose adapter takes its packets from other islands;
    /// empty without adapters.
    arrivals: Vec<usize>,
}

impl NextHops {
    pub(crate) fn build(nodes: usize, mut slot: impl FnMut(usize, usize) -> Option<usize>) -> Self {
        let mut slots = Vec::with_capacity(nodes * nodes);
        for from in 0..nodes {
            for to in 0..nodes {
                let slot = if from == to { None } else { slot(from, to) };
                slots.push(slot.and_then(|s| u8::try_from(s).ok()).unwrap_or(u8::MAX));
            }
        }
        Self {
            nodes,
            slots,
            arrivals: Vec::new(),
        }
    }

    /// The node whose adapter takes packets for `to` from other islands.
    pub(crate) fn arrival(&self, to: usize) -> Option<usize> {
        self.arrivals.get(to).copied()
    }

    /// The ways out of `from`, by destination.
    pub(crate) fn row(&self, from: usize) -> &[u8] {
        &self.slots[from * self.nodes..(from + 1) * self.nodes]
    }

    /// The way out of `from` towards `to`; `None` where they are equal.
    pub(crate) fn slot(&self, from: usize, to: usize) -> Option<usize> {
        Some(usize::from(self.slots[from * self.nodes + to])).filter(|&s| s < usize::from(u8::MAX))
    }
}

/// A complete choice: routes in the numbering that the topology now has.
pub(crate) struct Routes {
    pub scheme: Scheme,
    pub next: NextHops,
    pub map: AddressMap,
}

/// Chooses routes. Gives nodes new numbers where this helps, if no node has its own address.
pub(crate) fn choose(
    topology: &mut Topology,
    map_spec: &MapSpec,
    policy: Policy,
    numbered: bool,
    out: &mut Findings,
) -> Option<Routes> {
    if !topology.gateways().is_empty() {
        return islands::choose(topology, map_spec, policy, numbered, out);
    }
    let map = check::map::lay_out(topology, map_spec, out)?;
    let adjacency = topology.adjacency();
    if policy == Policy::Auto
        && let Some((scheme, next)) = regular(topology, &adjacency)
        && works(topology, &adjacency, &map, &next)
    {
        return Some(Routes { scheme, next, map });
    }
    if policy != Policy::Tree {
        let next = minimal::routes(&adjacency);
        if policy == Policy::Minimal || works(topology, &adjacency, &map, &next) {
            return Some(Routes {
                scheme: Scheme::Minimal,
                next,
                map,
            });
        }
        if let Some(order) = ring::order(&adjacency).filter(|_| !numbered) {
            topology.renumber(&order);
            let map = check::map::lay_out(topology, map_spec, out)?;
            let ring = [Dimension {
                size: order.len(),
                wraps: true,
            }];
            let adjacency = topology.adjacency();
            let next = grid_routes(&Grid::new(&ring), &adjacency);
            if works(topology, &adjacency, &map, &next) {
                return Some(Routes {
                    scheme: Scheme::Ring,
                    next,
                    map,
                });
            }
        }
    }
    let tree = tree::Tree::new(&topology.adjacency());
    let (map, tree) = if numbered {
        (check::map::lay_out(topology, map_spec, out)?, tree)
    } else {
        topology.renumber(tree.preorder());
        (
            check::map::lay_out(topology, map_spec, out)?,
            tree.renumbered(),
        )
    };
    let adjacency = topology.adjacency();
    let budget = Budget::new(topology, &map);
    let next = with_shortcuts(topology, &adjacency, &tree, |node, row| {
        budget
            .excess(node, &map, &ranges::windows(&map, node, row))
            .is_none()
    });
    Some(Routes {
        scheme: Scheme::Tree,
        next,
        map,
    })
}

/// Steps of work that the search for shortcuts may take.
const SEARCH_MAX: usize = 500_000_000;

/// Tree routes with shortcuts that fit and cannot deadlock.
///
/// With several processors per node a shortcut can close a cycle over the coherent links; then
/// nodes get their shortcuts one after the other, as long as no cycle closes. The tree alone
/// never has a cycle: the deepest node in it would have to send a packet back to where it came
/// from.
fn with_shortcuts(
    topology: &Topology,
    adjacency: &Adjacency,
    tree: &tree::Tree,
    fits: impl Fn(usize, &[u8]) -> bool,
) -> NextHops {
    let sound = |next: &NextHops| {
        channels::of_routes(topology, adjacency, next)
            .cycle()
            .is_none()
    };
    let all = tree.routes(adjacency, &fits);
    if sound(&all) {
        return all;
    }
    let nodes = topology.nodes.len();
    let processors: usize = topology
        .nodes
        .iter()
        .map(|n| usize::from(n.processors()))
        .sum();
    let mut best = tree.routes(adjacency, |_, _| false);
    if nodes * processors * processors > SEARCH_MAX {
        return best;
    }
    let mut granted = vec![false; nodes];
    for node in 0..nodes {
        granted[node] = true;
        let next = tree.routes(adjacency, |n, row| granted[n] && fits(n, row));
        if sound(&next) {
            best = next;
        } else {
            granted[node] = false;
        }
    }
    best
}

/// Whether the routes fit the registers and cannot deadlock.
fn works(topology: &Topology, adjacency: &Adjacency, map: &AddressMap, next: &NextHops) -> bool {
    let budget = Budget::new(topology, map);
    let fit = ranges::windows_of_all(map, next)
        .iter()
        .enumerate()
        .all(|(node, windows)| budget.excess(node, map, windows).is_none());
    fit && channels::of_routes(topology, adjacency, next)
        .cycle()
        .is_none()
}

/// The scheme of a generated topology.
fn regular(topology: &Topology, adjacency: &Adjacency) -> Option<(Scheme, NextHops)> {
    match topology.shape.as_ref()? {
        ShapeSpec::Grid(dims) => Some((
            Scheme::DimensionOrder,
            grid_routes(&Grid::new(dims), adjacency),
        )),
        ShapeSpec::Full(count) => Some((
            Scheme::Direct,
            NextHops::build(*count, |from, to| slot_to(&adjacency[from], to)),
        )),
    }
}

fn grid_routes(grid: &Grid, adjacency: &Adjacency) -> NextHops {
    NextHops::build(adjacency.len(), |from, to| {
        slot_to(&adjacency[from], grid.next_node(from, to)?)
    })
}

fn slot_to(edges: &[Edge], peer: usize) -> Option<usize> {
    edges.iter().position(|e| e.peer == peer)
}
