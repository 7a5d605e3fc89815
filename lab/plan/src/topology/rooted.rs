//! Cables of nodes that have several processors, where no processor has links for all of them.
//!
//! Then the nodes stand below a root, and each cable leads *up* at one end: towards the root. A node has its cables up
//! on one processor, its *top*, as far as this has links. Routes that go up and then down ([`crate::route`]) can use
//! these cables from every processor. They cannot use a cable up on another processor: packets that come down by the
//! top for that processor, and packets of the top that go up by it, share the coherent links between the two, and that
//! closes a cycle.

use super::wiring::Taken;
use super::{Grid, Node};
use crate::id::LinkIndex;
use crate::spec::{Dimension, ShapeSpec};

/// How far below the root each node is: steps and, among equals, its number.
pub(crate) struct Depths(Vec<(usize, usize)>);

impl Depths {
    /// The depths of a generated topology, with the root in the middle.
    pub(crate) fn new(shape: &ShapeSpec, nodes: usize) -> Self {
        let depth = |node| match shape {
            ShapeSpec::Grid(dims) => Grid::new(dims).steps_from_middle(node),
            ShapeSpec::Full(_) => node,
        };
        Self((0..nodes).map(|node| (depth(node), node)).collect())
    }

    /// Whether a cable from `node` to `peer` leads up.
    pub(crate) fn leads_up(&self, node: usize, peer: usize) -> bool {
        self.0[peer] < self.0[node]
    }

    /// All nodes, the root first and each before those below it.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        order.sort_by_key(|&node| self.0[node]);
        order
    }
}

/// A cable by its nodes and the number of its direction at each.
pub(super) type Direct = (usize, usize, usize, usize);

/// The processor and link of each direction, by node.
pub(super) type Ports = Vec<Vec<Option<(u8, LinkIndex)>>>;

/// Plugs the cables in. There are links for all of them.
pub(super) fn plug(model: &Node, taken: &Taken, shape: &ShapeSpec, edges: &[Direct]) -> Ports {
    let nodes = edges.iter().map(|edge| edge.1 + 1).max().unwrap_or(0);
    let needed = edges.iter().map(|edge| edge.2.max(edge.3) + 1).max();
    let depths = Depths::new(shape, nodes);
    let dimensions = dimensions(shape, needed.unwrap_or(0));
    let order = processors(model, taken);
    let room = order
        .first()
        .map_or(0, |top| taken.count_free(*top, model.links()));
    // The cables of each node as peer and direction: those up, then those down.
    let mut cables = vec![[Vec::new(), Vec::new()]; nodes];
    for &(a, b, at_a, at_b) in edges {
        for (node, peer, direction) in [(a, b, at_a), (b, a, at_b)] {
            cables[node][usize::from(!depths.leads_up(node, peer))].push((peer, direction));
        }
    }
    let chosen: Vec<Vec<usize>> = cables
        .iter()
        .map(|[up, _]| choose_up(up, room, &depths, &dimensions))
        .collect();
    let mut ports = vec![vec![None; needed.unwrap_or(0)]; nodes];
    for (node, [up, down]) in cables.iter().enumerate() {
        let is_chosen = |lower: usize, upper: usize| chosen[lower].contains(&upper);
        let mut down = down.clone();
        // Those that are used first, and of these first those straight on from a cable up.
        let straight = |direction: usize| {
            let opposite = |up: &&(usize, usize)| dimensions[up.1] == dimensions[direction];
            up.iter()
                .filter(opposite)
                .any(|(peer, _)| is_chosen(node, *peer))
        };
        down.sort_by_key(|&(peer, direction)| (!is_chosen(peer, node), !straight(direction)));
        let (first, last): (Vec<_>, Vec<_>) =
            up.iter().partition(|(peer, _)| is_chosen(node, *peer));
        let mut taken = taken.clone();
        for (_, direction) in first.into_iter().chain(&down).chain(last) {
            ports[node][*direction] = order.iter().find_map(|&processor| {
                Some((processor, taken.take_free(processor, model.links())?))
            });
        }
    }
    ports
}

/// The processors of a node: its top, which has most free links, and then those near to it.
fn processors(model: &Node, taken: &Taken) -> Vec<u8> {
    let mut order: Vec<u8> = (0..model.processors()).collect();
    let free = |processor: u8| std::cmp::Reverse(taken.count_free(processor, model.links()));
    order.sort_by_key(|&processor| free(processor));
    if let Some(&top) = order.first() {
        order.sort_by_key(|&processor| (model.coherent_hops(top, processor), free(processor)));
    }
    order
}

/// The dimension of each direction.
fn dimensions(shape: &ShapeSpec, directions: usize) -> Vec<usize> {
    match shape {
        ShapeSpec::Full(_) => (0..directions).collect(),
        ShapeSpec::Grid(dims) => {
            let of = |(number, dimension): (usize, &Dimension)| {
                std::iter::repeat_n(number, dimension.size.min(3) - 1)
            };
            dims.iter().enumerate().flat_map(of).collect()
        }
    }
}

/// The peers of the cables up that are used: the highest one, and then those of other dimensions before
/// the other one of the same.
fn choose_up(
    up: &[(usize, usize)],
    room: usize,
    depths: &Depths,
    dimensions: &[usize],
) -> Vec<usize> {
    let mut left = up.to_vec();
    left.sort_by_key(|(peer, _)| depths.0[*peer]);
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    while chosen.len() < room && !left.is_empty() {
        let is_new = |direction: usize| {
            let mut chosen = chosen.iter();
            chosen.all(|(_, other)| dimensions[*other] != dimensions[direction])
        };
        let next = left.iter().position(|(_, direction)| is_new(*direction));
        chosen.push(left.remove(next.unwrap_or(0)));
    }
    chosen.into_iter().map(|(peer, _)| peer).collect()
}
