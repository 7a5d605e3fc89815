//! Islands: nodes that cables join, and adapters between the islands.
//!
//! Within an island packets go over cables, as in a cluster of its own. A packet for another island
//! goes to the nearest node with an adapter of the right network, over that network to the adapter
//! nearest to its destination, and on over cables. Where no network joins the two islands it goes over
//! the fewest islands between them ([`Between`]).
//!
//! Several adapters of an island can close a cycle: packets that came by one wait behind packets
//! that leave by another one, and so on in the next island. Then one adapter of each island and
//! network does all work; and if networks close a cycle, only those of a spanning tree of islands and
//! networks. With these and a spanning tree within each island there is no cycle: all ways together are
//! a tree, and a packet never turns back in it.

use super::between::Between;
use super::minimal::distances;
use super::ring;
use super::several;
use super::tree::Tree;
use super::{Adjacency, NextHops, Routes, Scheme, grid_routes, minimal, regular, works};
use crate::check;
use crate::diagnostic::{Findings, Span};
use crate::spec::{Dimension, MapSpec, Policy, ShapeSpec};
use crate::topology::{Edge, Gate, Grid, Topology};

/// How packets go within an island.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// As the generated topology has it, whose nodes still have their first numbers.
    Generated,
    Minimal,
    /// Round it, where it is a ring; shortest paths elsewhere.
    Ring,
    /// Along a spanning tree, with shortcuts or without.
    Tree {
        shortcuts: bool,
    },
}

/// How packets go in all.
#[derive(Clone, Copy)]
struct Ways {
    within: Within,
    /// Adapters of an island on each network that are used.
    gates_max: usize,
    /// Only networks of a spanning tree of islands and networks.
    spanning: bool,
}

/// Islands from which orders are tried for the sake of chips.
const STARTS_MAX: usize = 16;

/// Chooses routes of a cluster with adapters.
pub(super) fn choose(
    topology: &mut Topology,
    map_spec: &MapSpec,
    policy: Policy,
    numbered: bool,
    out: &mut Findings,
) -> Option<Routes> {
    use Within::{Generated, Minimal, Ring, Tree};
    let (all, one) = (usize::MAX, 1);
    let (with, without) = (Tree { shortcuts: true }, Tree { shortcuts: false });
    let schemes: &[(Within, usize, bool)] = match policy {
        Policy::Minimal => &[(Minimal, all, false)],
        Policy::Tree => &[
            (with, all, false),
            (without, all, false),
            (without, one, false),
            (without, one, true),
        ],
        Policy::Auto => &[
            (Generated, all, false),
            (Minimal, all, false),
            (Ring, all, false),
            (with, all, false),
            (without, all, false),
            (Minimal, one, false),
            (Ring, one, false),
            (without, one, false),
            (without, one, true),
        ],
    };
    let starts = starts(topology, numbered);
    let mut chosen = None;
    for &(within, gates_max, spanning) in schemes {
        if within == Generated && topology.shape.is_none() {
            continue;
        }
        let ways = Ways {
            within,
            gates_max,
            spanning,
        };
        for start in &starts {
            let order = order(topology, ways, *start);
            let next = route(topology, ways, &order, numbered);
            let map = check::map::lay_out(topology, map_spec, out)?;
            let done = works(topology, &topology.ways(), &map, &next);
            chosen = Some(Routes {
                scheme: Scheme::Islands,
                next,
                map,
            });
            if done {
                return chosen;
            }
        }
    }
    chosen
}

/// The orders in which islands may get their addresses: as they are (`None`), and for the bounds of chips also along
/// the tree of islands, from that of each of these nodes on. Nodes are named by their place in the file, because each
/// attempt gives them other numbers.
fn starts(topology: &Topology, numbered: bool) -> Vec<Option<Span>> {
    let mut starts = vec![None];
    if !numbered && topology.below.chips.is_some() {
        let islands = islands(&topology.adjacency());
        let first = islands.iter().filter_map(|members| members.first());
        let first = first.map(|node| Some(topology.nodes[*node].span));
        starts.extend(first.take(STARTS_MAX));
    }
    starts
}

/// The islands in the order of their addresses.
fn order(topology: &Topology, ways: Ways, start: Option<Span>) -> Vec<usize> {
    let islands = islands(&topology.adjacency());
    let Some(start) = start else {
        return (0..islands.len()).collect();
    };
    let is_start = |members: &Vec<usize>| {
        let mut members = members.iter();
        members.any(|node| topology.nodes[*node].span == start)
    };
    let first = islands.iter().position(is_start).unwrap_or(0);
    Between::new(&topology.gates(), &islands, ways.gates_max, ways.spanning).preorder(first)
}

/// Numbers the nodes island by island in this order, if that is allowed, and finds their routes.
fn route(topology: &mut Topology, ways: Ways, order: &[usize], numbered: bool) -> NextHops {
    let adjacency = topology.adjacency();
    let all = islands(&adjacency);
    let (mut numbers, mut found) = (Vec::new(), Vec::new());
    for members in order.iter().map(|island| &all[*island]) {
        let edges = inside(members, &adjacency);
        let (own_order, next) = ways
            .within
            .routes(&edges, topology.shape.as_ref(), numbered);
        let begin = numbers.len();
        numbers.extend(own_order.iter().map(|local| members[*local]));
        let members: Vec<usize> = match numbered {
            true => members.clone(),
            false => (begin..numbers.len()).collect(),
        };
        found.push((members, next));
    }
    if !numbered {
        topology.renumber(&numbers);
    }
    let adjacency = topology.adjacency();
    let islands: Vec<Island> = found
        .into_iter()
        .map(|(members, next)| Island {
            edges: inside(&members, &adjacency),
            members,
            next,
        })
        .collect();
    join(topology, &islands, ways)
}

/// The routes within the islands and between them.
fn join(topology: &Topology, islands: &[Island], ways: Ways) -> NextHops {
    let gates = topology.gates();
    let members: Vec<Vec<usize>> = islands
        .iter()
        .map(|island| island.members.clone())
        .collect();
    let net = Net {
        between: Between::new(&gates, &members, ways.gates_max, ways.spanning),
        topology,
        islands,
        gates: &gates,
    };
    let nodes = topology.nodes.len();
    let mut slots = net.leave();
    let arrivals = net.arrive(&slots);
    let networks = (0..islands.len()).flat_map(|island| {
        let networks = 0..net.between.networks();
        networks.map(move |network| (island, network))
    });
    let used = networks.flat_map(|(island, network)| net.between.gates(island, network));
    let used: Vec<usize> = used.copied().collect();
    several::spread(topology, &gates, &used, &arrivals, &mut slots);
    let mut next = NextHops::build(nodes, |from, to| slots[from * nodes + to]);
    next.arrivals = arrivals;
    next
}

/// The islands and what joins them.
struct Net<'a> {
    topology: &'a Topology,
    islands: &'a [Island],
    gates: &'a [Gate],
    between: Between,
}

impl Net<'_> {
    /// The place of an adapter's node in an island.
    fn local(&self, island: usize, gate: usize) -> usize {
        let node = self.gates[gate].port.node;
        let mut members = self.islands[island].members.iter();
        members.position(|member| *member == node).unwrap_or(0)
    }

    /// The way out by source and destination.
    fn leave(&self) -> Vec<Option<usize>> {
        let nodes = self.topology.nodes.len();
        let mut slots = vec![None; nodes * nodes];
        for (here, island) in self.islands.iter().enumerate() {
            for (from, &member) in island.members.iter().enumerate() {
                for (to, &target) in island.members.iter().enumerate() {
                    slots[member * nodes + target] = island.next.slot(from, to);
                }
                for (there, other) in self.islands.iter().enumerate() {
                    let exit = (here != there).then(|| self.between.exit(here, there));
                    let Some(network) = exit.flatten() else {
                        continue;
                    };
                    let exits = self.between.gates(here, network);
                    let exit = island.nearest(exits, |gate| (from, self.local(here, gate)));
                    let out = exit.and_then(|gate| match self.local(here, gate) == from {
                        true => Some(self.gates[gate].way),
                        false => island.next.slot(from, self.local(here, gate)),
                    });
                    for &target in &other.members {
                        slots[member * nodes + target] = out;
                    }
                }
            }
        }
        slots
    }

    /// For each network, node and processor the adapter that takes its packets.
    fn arrive(&self, slots: &[Option<usize>]) -> Vec<Vec<Vec<usize>>> {
        let nodes = self.topology.nodes.len();
        let all_ways = self.topology.ways();
        let mut arrivals = vec![vec![Vec::new(); nodes]; self.between.networks()];
        for (here, island) in self.islands.iter().enumerate() {
            for (network, arrivals) in arrivals.iter_mut().enumerate() {
                let Some(entry) = self.between.entry(network, here) else {
                    continue;
                };
                let entries = self.between.gates(entry, network);
                for (to, &target) in island.members.iter().enumerate() {
                    let Some(arrival) = self.arrival(entries, entry, (here, to)) else {
                        continue;
                    };
                    // From another node packets leave by one of its processors.
                    let at = self.gates[arrival].port.node;
                    let way = slots[at * nodes + target].and_then(|slot| all_ways[at].get(slot));
                    let exit = way.map(|way| way.port.processor);
                    let gates = self.gates;
                    arrivals[target] =
                        several::arrivals(self.topology, gates, entries, (arrival, target), exit);
                }
            }
        }
        arrivals
    }

    /// The adapter of island `entry` that takes packets for node `to` of island `here`.
    fn arrival(
        &self,
        entries: &[usize],
        entry: usize,
        (here, to): (usize, usize),
    ) -> Option<usize> {
        if entry == here {
            let island = &self.islands[here];
            return island.nearest(entries, |gate| (self.local(here, gate), to));
        }
        // On to the next network.
        let onward = self.between.exit(entry, here);
        let exits = onward.map_or(&[][..], |next| self.between.gates(entry, next));
        let hops = |gate: &usize| {
            let from = self.local(entry, *gate);
            let exits = exits.iter().map(|exit| (from, self.local(entry, *exit)));
            exits.map(|pair| self.islands[entry].hops(pair)).min()
        };
        entries.iter().copied().min_by_key(hops)
    }
}

impl Within {
    /// The order of an island's nodes, and the routes between them in that order.
    fn routes(
        self,
        edges: &Adjacency,
        shape: Option<&ShapeSpec>,
        numbered: bool,
    ) -> (Vec<usize>, NextHops) {
        let as_is = || (0..edges.len()).collect::<Vec<usize>>();
        match self {
            Within::Ring if !numbered => {
                if let Some(order) = ring::order(edges) {
                    let ring = [Dimension {
                        size: order.len(),
                        wraps: true,
                    }];
                    let next = grid_routes(&Grid::new(&ring), &inside(&order, edges));
                    return (order, next);
                }
            }
            Within::Tree { shortcuts } => {
                let tree = Tree::new(edges);
                if numbered {
                    return (as_is(), tree.routes(edges, |_, _| shortcuts));
                }
                let order = tree.preorder().to_vec();
                let edges = inside(&order, edges);
                return (order, tree.renumbered().routes(&edges, |_, _| shortcuts));
            }
            Within::Generated => {
                if let Some((_, next)) = regular(shape, edges).next() {
                    return (as_is(), next);
                }
            }
            Within::Minimal | Within::Ring => {}
        }
        (as_is(), minimal::routes(edges))
    }
}

/// The ways out of an island's nodes, by their places in `members`.
fn inside(members: &[usize], adjacency: &Adjacency) -> Vec<Vec<Edge>> {
    let local = |node: usize| members.iter().position(|member| *member == node);
    let edges = members.iter().map(|node| {
        let edges = adjacency[*node].iter().map(|edge| Edge {
            // Cables do not leave an island.
            peer: local(edge.peer).unwrap_or(0),
            ..*edge
        });
        edges.collect()
    });
    edges.collect()
}

/// The nodes of each island, the islands by their first node.
fn islands(adjacency: &Adjacency) -> Vec<Vec<usize>> {
    let mut taken = vec![false; adjacency.len()];
    let mut islands = Vec::new();
    for first in 0..adjacency.len() {
        if taken[first] {
            continue;
        }
        let distance = distances(adjacency, first);
        let island: Vec<usize> = (first..adjacency.len())
            .filter(|node| distance[*node] != u32::MAX)
            .collect();
        for node in &island {
            taken[*node] = true;
        }
        islands.push(island);
    }
    islands
}

/// One island by itself.
struct Island {
    members: Vec<usize>,
    edges: Vec<Vec<Edge>>,
    next: NextHops,
}

impl Island {
    /// The adapter with the shortest of these routes; the first of equals.
    fn nearest(&self, gates: &[usize], pair: impl Fn(usize) -> (usize, usize)) -> Option<usize> {
        gates
            .iter()
            .copied()
            .min_by_key(|gate| self.hops(pair(*gate)))
    }

    /// Length of a route; so long that no route is longer, if it leads nowhere.
    fn hops(&self, (from, to): (usize, usize)) -> usize {
        let (mut at, mut hops) = (from, 0);
        while at != to && hops < self.edges.len() {
            let Some(slot) = self.next.slot(at, to) else {
                return self.edges.len();
            };
            at = self.edges[at][slot].peer;
            hops += 1;
        }
        hops
    }
}
