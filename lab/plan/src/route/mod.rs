//! Which way packets go: for every node and destination the cable to leave by.
//!
//! A northbridge routes by address intervals, so a routing scheme is only good if
//! the destinations behind each cable have consecutive numbers, or nearly so.
//! Generated topologies use dimension-order routing ([`crate::topology::Grid`]);
//! listed cables use shortest paths if these fit and cannot deadlock, a ring
//! scheme if they form a ring, and a spanning tree with shortcuts otherwise. A file may also
//! give all routes itself ([`own`]).

mod between;
pub(crate) mod channels;
pub(crate) mod chips;
mod islands;
mod minimal;
pub(crate) mod own;
pub(crate) mod ranges;
mod ring;
mod several;
mod tree;
mod up_down;

use crate::address_map::AddressMap;
use crate::check;
use crate::diagnostic::Findings;
use crate::spec::{Dimension, MapSpec, Policy, ShapeSpec};
use crate::topology::{Edge, Gate, Grid, Topology};
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
    /// Up to a root and down, over all cables between nodes whose cables are on several processors.
    UpDown,
    /// Over cables within islands, over adapters between them.
    Islands,
    /// As the file says.
    File,
}

/// For every node and destination the way out.
#[derive(Clone)]
pub(crate) struct NextHops {
    nodes: usize,
    /// Position in the node's adjacency; `u8::MAX` for the node itself.
    slots: Vec<u8>,
    /// For every network of adapters, every destination and every processor of it the adapter that takes
    /// its packets from that network, by its place in [`Topology::gates`]; empty without adapters.
    arrivals: Vec<Vec<Vec<usize>>>,
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

    /// The adapter that takes packets for a processor, by its node and its place there, from a network.
    pub(crate) fn arrival(&self, network: usize, (to, processor): (usize, u8)) -> Option<usize> {
        let arrivals = self.arrivals.get(network)?.get(to)?;
        arrivals.get(usize::from(processor)).copied()
    }

    /// Whether packets for `to` leave their island by this adapter.
    pub(crate) fn leave_by(&self, gate: &Gate, to: usize) -> bool {
        self.slot(gate.port.node, to) == Some(gate.way)
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
    if !topology.gates().is_empty() {
        return islands::choose(topology, map_spec, policy, numbered, out);
    }
    let map = check::map::lay_out(topology, map_spec, out)?;
    let adjacency = topology.adjacency();
    let mut shortest = None;
    if let Some((scheme, next)) = over_cables(topology, &adjacency, &map, policy) {
        if policy == Policy::Minimal || !is_small_with_boards(topology) {
            return Some(Routes { scheme, next, map });
        }
        let hops = channels::hops_of_routes(topology, &adjacency, &next);
        let order = (0..topology.nodes.len()).collect();
        shortest = Some((hops, scheme, order, next));
    } else if policy == Policy::Auto
        && let Some(order) = ring::order(&adjacency).filter(|_| !numbered)
    {
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
    let found = (policy == Policy::Auto && !numbered && has_boards(topology))
        .then(|| up_down::find(topology, &adjacency, &map))
        .flatten();
    if let Some(found) = found {
        let hops = channels::hops_of_routes(topology, &adjacency, &found.next);
        if shortest.as_ref().is_none_or(|(least, ..)| hops < *least) {
            let order = found.order;
            shortest = Some((hops, Scheme::UpDown, order, found.next));
        }
    }
    let (order, routes) = along_tree(topology, map_spec, numbered, out)?;
    let adjacency = topology.adjacency();
    if let Some((hops, scheme, new, next)) = shortest
        && hops <= channels::hops_of_routes(topology, &adjacency, &routes.next)
    {
        topology.renumber(&inverse(&order));
        topology.renumber(&new);
        let map = check::map::lay_out(topology, map_spec, out)?;
        let next = NextHops::build(new.len(), |from, to| next.slot(new[from], new[to]));
        return Some(Routes { scheme, next, map });
    }
    Some(routes)
}

/// The best routes in the numbering of the file, if they fit and cannot deadlock: those of the
/// generated topology, or shortest paths. With policy "minimal" always the shortest paths.
fn over_cables(
    topology: &Topology,
    adjacency: &Adjacency,
    map: &AddressMap,
    policy: Policy,
) -> Option<(Scheme, NextHops)> {
    let works = |next: &NextHops| works(topology, adjacency, map, next);
    match policy {
        Policy::Auto => {
            let mut schemes = regular(topology.shape.as_ref(), adjacency);
            let shortest = || (Scheme::Minimal, minimal::routes(adjacency));
            let scheme = schemes.find(|(_, next)| works(next));
            scheme.or_else(|| Some(shortest()).filter(|(_, next)| works(next)))
        }
        Policy::Minimal => Some((Scheme::Minimal, minimal::routes(adjacency))),
        Policy::Tree => None,
    }
}

/// Routes along a spanning tree. Numbers the nodes along it, if that is allowed, and says in which
/// order they now are.
fn along_tree(
    topology: &mut Topology,
    map_spec: &MapSpec,
    numbered: bool,
    out: &mut Findings,
) -> Option<(Vec<usize>, Routes)> {
    let mut tree = tree::Tree::new(&topology.adjacency());
    let mut order: Vec<usize> = (0..topology.nodes.len()).collect();
    if !numbered {
        order = tree.preorder().to_vec();
        topology.renumber(&order);
        tree = tree.renumbered();
    }
    let map = check::map::lay_out(topology, map_spec, out)?;
    let adjacency = topology.adjacency();
    let budget = Budget::new(topology, &map);
    let next = with_shortcuts(topology, &adjacency, &tree, |node, row| {
        budget
            .excess(node, &map, &ranges::windows(&map, node, row))
            .is_none()
    });
    let routes = Routes {
        scheme: Scheme::Tree,
        next,
        map,
    };
    Some((order, routes))
}

/// Processors of a cluster whose schemes are compared by the lengths of all their routes.
const COMPARED_MAX: usize = 128;

/// Whether generated nodes have several processors, and there are few enough to compare schemes. With
/// such nodes the fewest cables are not always the fewest links, since coherent ones count too.
fn is_small_with_boards(topology: &Topology) -> bool {
    let processors = topology.nodes.iter().map(|n| usize::from(n.processors()));
    has_boards(topology) && processors.sum::<usize>() <= COMPARED_MAX
}

/// Whether nodes were generated that have several processors.
fn has_boards(topology: &Topology) -> bool {
    let first = topology.nodes.first().map_or(1, |node| node.processors());
    topology.shape.is_some() && first > 1
}

fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        inverse[old] = new;
    }
    inverse
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
    fit && chips::bounds(topology, map, next).is_ok()
        && channels::of_routes(topology, adjacency, next)
            .cycle()
            .is_none()
}

/// The schemes of a generated topology, the best first.
fn regular<'a>(
    shape: Option<&ShapeSpec>,
    adjacency: &'a Adjacency,
) -> Box<dyn Iterator<Item = (Scheme, NextHops)> + 'a> {
    match shape {
        None => Box::new(std::iter::empty()),
        Some(ShapeSpec::Grid(dims)) => Box::new(wrapping(dims).into_iter().map(move |dims| {
            let next = grid_routes(&Grid::new(&dims), adjacency);
            (Scheme::DimensionOrder, next)
        })),
        Some(&ShapeSpec::Full(count)) => Box::new(std::iter::once_with(move || {
            let next = NextHops::build(count, |from, to| slot_to(&adjacency[from], to));
            (Scheme::Direct, next)
        })),
    }
}

/// A grid, and the same with some dimensions in which routes do not wrap around; those that leave
/// the fewest cables unused first. Where a node has cables on several processors, packets that wrap
/// around can close a cycle through coherent links.
fn wrapping(dims: &[Dimension]) -> Vec<Vec<Dimension>> {
    let wraps: Vec<usize> = (0..dims.len())
        .filter(|&d| dims[d].wraps && dims[d].size > 2)
        .collect();
    let nodes: usize = dims.iter().map(|d| d.size).product();
    let mut choices: Vec<(usize, Vec<Dimension>)> = (0..1usize << wraps.len())
        .map(|choice| {
            let mut dims = dims.to_vec();
            let mut unused = 0;
            for (bit, &dimension) in wraps.iter().enumerate() {
                if choice >> bit & 1 == 1 {
                    dims[dimension].wraps = false;
                    unused += nodes / dims[dimension].size;
                }
            }
            (unused, dims)
        })
        .collect();
    choices.sort_by_key(|(unused, _)| *unused);
    choices.into_iter().map(|(_, dims)| dims).collect()
}

fn grid_routes(grid: &Grid, adjacency: &Adjacency) -> NextHops {
    NextHops::build(adjacency.len(), |from, to| {
        slot_to(&adjacency[from], grid.next_node(from, to)?)
    })
}

fn slot_to(edges: &[Edge], peer: usize) -> Option<usize> {
    edges.iter().position(|e| e.peer == peer)
}
