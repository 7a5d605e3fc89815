//! Routes up to a root and down again, for generated nodes whose cables are on several processors.
//!
//! The nodes have an order ([`Depths`]): a cable leads up to the node that comes first, and down to the other. A packet
//! goes up as often as it likes and then down, never up again. If all cables up of a node are on one processor, no
//! channels wait for each other in a cycle (the deadlock check proves it for each plan). A *top* is that processor.
//! Cables up on other processors stay unused.
//!
//! The next step depends only on the node and the destination. So a node that passes on packets which came down has to
//! send them down; it *offers* such destinations. Each node offers at least what is below it in a spanning tree, which
//! has consecutive numbers. Each node takes the shortest of the possible routes, with at most as many ranges as it has
//! registers.

use super::channels;
use super::ranges::Budget;
use super::tree::Tree;
use super::{Adjacency, NextHops};
use crate::address_map::AddressMap;
use crate::topology::{Depths, Topology};

/// Times that rows are chosen again, with the lengths of the routes of the last choice.
const ROUNDS: usize = 4;
/// Nodes for which more than one tree and round is tried.
const THOROUGH_MAX: usize = 100;
/// Longer than every route.
const FAR: u32 = u32::MAX / 4;

/// Which of several nodes above is the parent in the spanning tree.
#[derive(Clone, Copy)]
enum Parent {
    Highest,
    /// In the dimension in which numbers differ least.
    Beside,
    /// In the dimension in which they differ most.
    Across,
}

/// Routes in the numbers that the nodes have now, and the order of the numbers that they need.
pub(super) struct UpDown {
    pub order: Vec<usize>,
    pub next: NextHops,
}

/// The shortest of such routes that fit the registers and cannot deadlock.
pub(super) fn find(topology: &Topology, adjacency: &Adjacency, map: &AddressMap) -> Option<UpDown> {
    let Budget::Mmio { taken } = Budget::new(topology, map) else {
        return None;
    };
    let ranges = crate::registers::opteron::MMIO_RANGES;
    let depths = Depths::new(topology.shape.as_ref()?, adjacency.len());
    let graph = Graph::new(topology, adjacency, &depths);
    let budgets = taken.iter();
    let budgets = budgets.map(|taken| ranges.saturating_sub(taken.count()));
    let budgets: Vec<usize> = budgets.collect();
    let is_small = adjacency.len() <= THOROUGH_MAX;
    let parents = [Parent::Highest, Parent::Beside, Parent::Across];
    let mut best: Option<(u64, Vec<usize>, Rows)> = None;
    for parent in parents.into_iter().take(if is_small { 3 } else { 1 }) {
        let tree = graph.tree(parent)?;
        let mut rests = graph.shortest();
        for _ in 0..if is_small { ROUNDS } else { 1 } {
            let Some(rows) = graph.rows(&tree, &budgets, &rests) else {
                break;
            };
            let total;
            (total, rests) = graph.follow(&rows);
            if best.as_ref().is_none_or(|(least, ..)| total < *least) {
                best = Some((total, tree.preorder().to_vec(), rows));
            }
        }
    }
    let (_, order, rows) = best?;
    let next = NextHops::build(adjacency.len(), |from, to| rows[from][to].map(usize::from));
    let graph = channels::of_routes(topology, adjacency, &next);
    graph.cycle().is_none().then_some(UpDown { order, next })
}

/// The way out of each node, by destination.
type Rows = Vec<Vec<Option<u8>>>;

/// A way out that routes may take.
struct Way {
    peer: usize,
    is_up: bool,
    /// The processor here, and that at the other end.
    ports: [u8; 2],
}

struct Graph<'a> {
    topology: &'a Topology,
    /// The root first.
    order: Vec<usize>,
    /// By node and position in its adjacency; `None` for cables that stay unused.
    ways: Vec<Vec<Option<Way>>>,
}

/// What is left of a route behind the exit of a node.
#[derive(Clone, Copy)]
struct Rest {
    /// Links, coherent ones included, times the processors of a node.
    links: u32,
    /// The processor that the exit is on, where it is known.
    exit: Option<u8>,
}

/// By node and destination.
type Rests = Vec<Vec<Rest>>;

impl<'a> Graph<'a> {
    fn new(topology: &'a Topology, adjacency: &Adjacency, depths: &Depths) -> Self {
        let tops: Vec<u8> = (0..adjacency.len())
            .map(|node| top(node, adjacency, depths))
            .collect();
        let ways = adjacency.iter().enumerate().map(|(node, edges)| {
            let way = |edge: &crate::topology::Edge| {
                let back = |back: &&crate::topology::Edge| back.peer == node;
                let there = adjacency[edge.peer].iter().find(back)?.port;
                let is_up = depths.leads_up(node, edge.peer);
                let lower = if is_up { edge.port } else { there };
                (lower.processor == tops[lower.node]).then_some(Way {
                    peer: edge.peer,
                    is_up,
                    ports: [edge.port.processor, there.processor],
                })
            };
            edges.iter().map(way).collect()
        });
        Self {
            topology,
            order: depths.order(),
            ways: ways.collect(),
        }
    }

    fn ways(&self, node: usize) -> impl Iterator<Item = (usize, &Way)> {
        let ways = self.ways[node].iter().enumerate();
        ways.filter_map(|(slot, way)| Some((slot, way.as_ref()?)))
    }

    /// The spanning tree in which each node is below one that a cable up leads to.
    fn tree(&self, parent: Parent) -> Option<Tree> {
        let mut parents = vec![None; self.order.len()];
        for &node in self.order.iter().skip(1) {
            let up = self.ways(node).filter(|(_, way)| way.is_up);
            let peers = up.map(|(_, way)| way.peer);
            let place = |peer: &usize| self.order.iter().position(|at| at == peer);
            parents[node] = match parent {
                Parent::Highest => peers.min_by_key(place),
                Parent::Beside => peers.min_by_key(|peer| peer.abs_diff(node)),
                Parent::Across => peers.max_by_key(|peer| peer.abs_diff(node)),
            };
            parents[node]?;
        }
        Some(Tree::of_parents(parents))
    }

    /// Sum of coherent links from all processors of a node to one.
    fn spread(&self, node: usize, to: u8) -> u32 {
        let node = &self.topology.nodes[node];
        (0..node.processors())
            .map(|from| node.coherent_hops(from, to))
            .sum()
    }

    /// Processors of a node.
    fn scale(&self) -> u32 {
        self.topology
            .nodes
            .first()
            .map_or(1, |node| u32::from(node.processors()))
    }

    /// Links from the exit of a node on, over this way.
    fn links(&self, way: &Way, to: usize, rests: &Rests) -> u32 {
        let [_, entry] = way.ports;
        if way.peer == to {
            return self.scale() + self.spread(to, entry);
        }
        let rest = rests[way.peer][to];
        let node = &self.topology.nodes[way.peer];
        let coherent = rest.exit.map_or(1, |exit| node.coherent_hops(entry, exit));
        self.scale() * (1 + coherent) + rest.links
    }

    /// The rests of the shortest routes up and then down.
    fn shortest(&self) -> Rests {
        let nodes = self.order.len();
        let far = Rest {
            links: FAR,
            exit: None,
        };
        let mut rests = vec![vec![far; nodes]; nodes];
        let mut relax = |node: usize, up: bool| {
            for (_, way) in self.ways(node).filter(|(_, way)| way.is_up == up) {
                for to in (0..nodes).filter(|to| *to != node) {
                    let links = self.links(way, to, &rests);
                    rests[node][to].links = rests[node][to].links.min(links);
                }
            }
        };
        self.order.iter().rev().for_each(|&node| relax(node, false));
        self.order.iter().for_each(|&node| relax(node, true));
        rests
    }

    /// The rows of all nodes; `None` if one of them does not fit.
    fn rows(&self, tree: &Tree, budgets: &[usize], rests: &Rests) -> Option<Rows> {
        let nodes = self.order.len();
        let mut offers = vec![vec![false; nodes]; nodes];
        let mut rows = vec![Vec::new(); nodes];
        for &node in self.order.iter().rev() {
            let cost = |slot: usize, to: usize| {
                let way = self.ways[node][slot].as_ref()?;
                let is_possible = match way.is_up {
                    true => !tree.below(to, node),
                    false => way.peer == to || offers[way.peer][to],
                };
                let links = || self.spread(node, way.ports[0]) + self.links(way, to, rests);
                is_possible.then(links)
            };
            let slots = self.ways[node].len();
            let row = choose_row(node, tree.preorder(), slots, budgets[node], cost)?;
            for (to, slot) in row.iter().enumerate() {
                let way = slot.and_then(|slot| self.ways[node][usize::from(slot)].as_ref());
                offers[node][to] = way.is_some_and(|way| !way.is_up);
            }
            rows[node] = row;
        }
        Some(rows)
    }

    /// What these rows make of all routes, and the sum of their links.
    fn follow(&self, rows: &Rows) -> (u64, Rests) {
        let nodes = self.order.len();
        let way = |at: usize, to: usize| self.ways[at][usize::from(rows[at][to]?)].as_ref();
        let unknown = Rest {
            links: FAR,
            exit: None,
        };
        let mut rests = vec![vec![unknown; nodes]; nodes];
        let mut total = 0;
        for to in 0..nodes {
            for from in 0..nodes {
                let (mut at, mut path) = (from, Vec::new());
                while let Some(way) = way(at, to).filter(|_| rests[at][to].exit.is_none()) {
                    path.push((at, way));
                    at = way.peer;
                }
                for (at, way) in path.into_iter().rev() {
                    let links = self.links(way, to, &rests);
                    let exit = Some(way.ports[0]);
                    rests[at][to] = Rest { links, exit };
                    total += u64::from(links + self.spread(at, way.ports[0]));
                }
            }
        }
        (total, rests)
    }
}

/// The processor that has most of a node's cables up; the first of equals.
fn top(node: usize, adjacency: &Adjacency, depths: &Depths) -> u8 {
    let mut up = [0usize; 8];
    for edge in &adjacency[node] {
        up[usize::from(edge.port.processor & 7)] += usize::from(depths.leads_up(node, edge.peer));
    }
    let most = (0..8u8).rev().max_by_key(|&p| up[usize::from(p)]);
    most.unwrap_or(0)
}

/// The cheapest row of a node with at most `ranges` runs in `numbers`, the order of the destinations.
fn choose_row(
    node: usize,
    numbers: &[usize],
    slots: usize,
    ranges: usize,
    cost: impl Fn(usize, usize) -> Option<u32>,
) -> Option<Vec<Option<u8>>> {
    // A state: the runs used and the last way; `slots` stands for none.
    let (none, width) = (slots, slots + 1);
    let states = (ranges + 1) * width;
    let mut least = vec![None; states];
    least[none] = Some(0u32);
    // From which way each state was reached, destination by destination.
    let mut came: Vec<u8> = Vec::with_capacity(numbers.len() * states);
    for &to in numbers {
        let mut next = vec![None; states];
        let begin = came.len();
        came.resize(begin + states, 0);
        let from = &mut came[begin..];
        let costs = (0..slots).map(|slot| cost(slot, to).filter(|_| to != node));
        let costs: Vec<Option<u32>> = costs.collect();
        for (state, so_far) in least.iter().enumerate() {
            let Some(so_far) = *so_far else {
                continue;
            };
            let (runs, last) = (state / width, state % width);
            let mut reach = |runs: usize, way: usize, cost: u32| {
                let state = runs * width + way;
                if runs <= ranges && next[state].is_none_or(|least| cost < least) {
                    next[state] = Some(cost);
                    from[state] = u8::try_from(last).unwrap_or(u8::MAX);
                }
            };
            if to == node {
                // The own memory is in no range, so it ends one.
                reach(runs, none, so_far);
            }
            for (way, cost) in costs.iter().enumerate() {
                if let Some(cost) = cost {
                    let runs = runs + usize::from(way != last);
                    reach(runs, way, so_far.saturating_add(*cost));
                }
            }
        }
        least = next;
    }
    let ends = least.iter().enumerate();
    let ends = ends.filter_map(|(state, cost)| Some(((*cost)?, state / width, state % width)));
    let (_, mut runs, mut way) = ends.min()?;
    let mut row = vec![None; numbers.len()];
    for (&to, from) in numbers.iter().zip(came.chunks(states)).rev() {
        let before = usize::from(from[runs * width + way]);
        if to != node {
            row[to] = u8::try_from(way).ok();
            runs -= usize::from(before != way);
        }
        way = before;
    }
    Some(row)
}
