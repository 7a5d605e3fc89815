//! Islands: nodes that cables join, and adapters between the islands.
//!
//! Within an island packets go over cables, as in a cluster of its own. A packet for another island
//! goes to the nearest node with an adapter, over Ethernet to the adapter nearest to its
//! destination, and on over cables. So it crosses Ethernet once at most, and no island carries
//! what is for another one.
//!
//! Several adapters of an island can close a cycle: packets that came by one wait behind packets
//! that leave by another one, and so on in the next island. Then one adapter of each island does all
//! work. With it and a spanning tree there is no cycle: what has come in goes away from the adapter,
//! and a tree has no way back to it.

use super::minimal::distances;
use super::ring;
use super::tree::Tree;
use super::{Adjacency, NextHops, Routes, Scheme, grid_routes, minimal, works};
use crate::check;
use crate::diagnostic::Findings;
use crate::spec::{Dimension, MapSpec, Policy};
use crate::topology::{Edge, Grid, Topology};

/// How packets go within an island.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Minimal,
    /// Round it, where it is a ring; shortest paths elsewhere.
    Ring,
    /// Along a spanning tree, with shortcuts or without.
    Tree {
        shortcuts: bool,
    },
}

/// Chooses routes of a cluster with adapters.
pub(super) fn choose(
    topology: &mut Topology,
    map_spec: &MapSpec,
    policy: Policy,
    numbered: bool,
    out: &mut Findings,
) -> Option<Routes> {
    use Within::{Minimal, Ring, Tree};
    let (all, one) = (usize::MAX, 1);
    let schemes: &[(Within, usize)] = match policy {
        Policy::Minimal => &[(Minimal, all)],
        Policy::Tree => &[
            (Tree { shortcuts: true }, all),
            (Tree { shortcuts: false }, all),
            (Tree { shortcuts: false }, one),
        ],
        Policy::Auto => &[
            (Minimal, all),
            (Ring, all),
            (Tree { shortcuts: true }, all),
            (Tree { shortcuts: false }, all),
            (Minimal, one),
            (Ring, one),
            (Tree { shortcuts: false }, one),
        ],
    };
    let mut chosen = None;
    for &(within, gates_max) in schemes {
        let next = route(topology, within, gates_max, numbered);
        let map = check::map::lay_out(topology, map_spec, out)?;
        let ways = topology.ways();
        let done = works(topology, &ways, &map, &next);
        chosen = Some(Routes {
            scheme: Scheme::Islands,
            next,
            map,
        });
        if done {
            break;
        }
    }
    chosen
}

/// Numbers the nodes island by island, if that is allowed, and finds their routes. At most
/// `gates_max` adapters of each island are used.
fn route(topology: &mut Topology, within: Within, gates_max: usize, numbered: bool) -> NextHops {
    let adjacency = topology.adjacency();
    let nodes = adjacency.len();
    let (mut order, mut found) = (Vec::new(), Vec::new());
    for members in islands(&adjacency) {
        let edges = inside(&members, &adjacency);
        let (own_order, next) = within.routes(&edges, numbered);
        let begin = order.len();
        order.extend(own_order.iter().map(|local| members[*local]));
        let members = match numbered {
            true => members,
            false => (begin..order.len()).collect(),
        };
        found.push((members, next));
    }
    if !numbered {
        topology.renumber(&order);
    }
    let (adjacency, gateways) = (topology.adjacency(), topology.gateways());
    let mut slots: Vec<Option<usize>> = vec![None; nodes * nodes];
    let mut arrivals = vec![0; nodes];
    for (members, next) in found {
        let edges = inside(&members, &adjacency);
        let island = Island { edges, next };
        let gates = (0..members.len()).filter(|local| gateways.contains(&members[*local]));
        let gates: Vec<usize> = gates.take(gates_max).collect();
        for (local, &from) in members.iter().enumerate() {
            let exit = island.nearest(&gates, |gate| (local, gate));
            let entry = island.nearest(&gates, |gate| (gate, local));
            arrivals[from] = entry.map_or(from, |gate| members[gate]);
            let out = match exit {
                // The adapter is the last way out.
                Some(gate) if gate == local => Some(adjacency[from].len()),
                Some(gate) => island.next.slot(local, gate),
                None => None,
            };
            let row = &mut slots[from * nodes..(from + 1) * nodes];
            row.fill(out);
            for (to, &member) in members.iter().enumerate() {
                row[member] = island.next.slot(local, to);
            }
        }
    }
    let mut next = NextHops::build(nodes, |from, to| slots[from * nodes + to]);
    next.arrivals = arrivals;
    next
}

impl Within {
    /// The order of an island's nodes, and the routes between them in that order.
    fn routes(self, edges: &Adjacency, numbered: bool) -> (Vec<usize>, NextHops) {
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
    edges: Vec<Vec<Edge>>,
    next: NextHops,
}

impl Island {
    /// The gateway with the shortest of these routes; the first of equals.
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
