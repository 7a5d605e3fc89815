//! Spanning-tree routing with shortcuts.
//!
//! Number the nodes in preorder of a spanning tree: then every subtree is one
//! interval, each child needs one range, and the parent needs two (before and
//! after the own subtree). Every other cable joins two nodes of which neither is
//! above the other (the tree is a breadth-first one), and may carry what is
//! bound for the subtree of its far end, as long as the ranges last.
//!
//! No deadlock: a route goes up the tree, at most once over a cross cable, then
//! down. Up cables are ordered by depth, cross cables come after all up cables, and
//! down cables after all cross cables, ordered by depth the other way round.

use super::minimal::distances;
use super::{Adjacency, NextHops};

/// Up to this many nodes every node is tried as the root.
const ROOTS_TRIED_MAX: usize = 256;

pub(super) struct Tree {
    /// Nodes in preorder.
    preorder: Vec<usize>,
    /// Place of each node in the preorder.
    place: Vec<usize>,
    /// Nodes in each subtree.
    size: Vec<usize>,
    parent: Vec<Option<usize>>,
}

impl Tree {
    /// A breadth-first tree from a central node. The graph is connected.
    pub(super) fn new(adjacency: &Adjacency) -> Self {
        let nodes = adjacency.len();
        let root = central(adjacency);
        let distance = distances(adjacency, root);
        let above = |node: usize| {
            let peers = adjacency[node].iter().map(|e| e.peer);
            let nearer = peers.filter(|&p| distance[p].saturating_add(1) == distance[node]);
            nearer.min().filter(|_| node != root)
        };
        Self::of_parents((0..nodes).map(above).collect())
    }

    /// The tree in which each node is below its parent, and the root has none.
    pub(super) fn of_parents(parent: Vec<Option<usize>>) -> Self {
        let nodes = parent.len();
        let mut children = vec![Vec::new(); nodes];
        for (node, above) in parent.iter().enumerate() {
            if let Some(above) = *above {
                children[above].push(node);
            }
        }
        let mut preorder = Vec::with_capacity(nodes);
        let mut stack: Vec<usize> = parent
            .iter()
            .position(Option::is_none)
            .into_iter()
            .collect();
        while let Some(node) = stack.pop() {
            preorder.push(node);
            stack.extend(children[node].iter().rev());
        }
        let mut place = vec![0; nodes];
        for (i, &node) in preorder.iter().enumerate() {
            place[node] = i;
        }
        let mut size = vec![1; nodes];
        for &node in preorder.iter().rev() {
            if let Some(above) = parent[node] {
                size[above] += size[node];
            }
        }
        Self {
            preorder,
            place,
            size,
            parent,
        }
    }

    pub(super) fn preorder(&self) -> &[usize] {
        &self.preorder
    }

    /// The same tree when the nodes are numbered in preorder.
    pub(super) fn renumbered(&self) -> Self {
        let nodes = self.preorder.len();
        Self {
            preorder: (0..nodes).collect(),
            place: (0..nodes).collect(),
            size: self.preorder.iter().map(|&old| self.size[old]).collect(),
            parent: self
                .preorder
                .iter()
                .map(|&old| self.parent[old].map(|p| self.place[p]))
                .collect(),
        }
    }

    /// Whether `node` is `top` or below it.
    pub(super) fn below(&self, node: usize, top: usize) -> bool {
        (self.place[top]..self.place[top] + self.size[top]).contains(&self.place[node])
    }

    /// Routes along the tree, with those shortcuts whose row still `fits`.
    pub(super) fn routes(
        &self,
        adjacency: &Adjacency,
        fits: impl Fn(usize, &[u8]) -> bool,
    ) -> NextHops {
        let nodes = adjacency.len();
        let mut slots = Vec::with_capacity(nodes * nodes);
        for (node, edges) in adjacency.iter().enumerate() {
            let mut row = self.tree_row(node, edges);
            // Large subtrees first: a nearer one inside takes its part back.
            let mut shortcuts: Vec<usize> = (0..edges.len())
                .filter(|&slot| self.is_cross(node, edges[slot].peer))
                .collect();
            shortcuts.sort_by_key(|&slot| std::cmp::Reverse(self.size[edges[slot].peer]));
            for slot in shortcuts {
                let far = edges[slot].peer;
                let mut with = row.clone();
                let inside = self.place[far]..self.place[far] + self.size[far];
                for &to in &self.preorder[inside] {
                    with[to] = u8::try_from(slot).unwrap_or(u8::MAX);
                }
                if fits(node, &with) {
                    row = with;
                }
            }
            slots.extend(row);
        }
        NextHops {
            nodes,
            slots,
            arrivals: Vec::new(),
        }
    }

    fn is_cross(&self, node: usize, peer: usize) -> bool {
        !self.below(node, peer) && !self.below(peer, node)
    }

    fn tree_row(&self, node: usize, edges: &[crate::topology::Edge]) -> Vec<u8> {
        let slot_to = |peer| {
            edges
                .iter()
                .position(|e| e.peer == peer)
                .and_then(|s| u8::try_from(s).ok())
        };
        let up = self.parent[node].and_then(slot_to).unwrap_or(u8::MAX);
        let mut row = vec![up; self.preorder.len()];
        for edge in edges.iter().filter(|e| self.parent[e.peer] == Some(node)) {
            let inside = self.place[edge.peer]..self.place[edge.peer] + self.size[edge.peer];
            let slot = slot_to(edge.peer).unwrap_or(u8::MAX);
            for &to in &self.preorder[inside] {
                row[to] = slot;
            }
        }
        row[node] = u8::MAX;
        row
    }
}

/// A node with a small sum of distances; for many nodes, the middle of a long path.
fn central(adjacency: &Adjacency) -> usize {
    let nodes = adjacency.len();
    if nodes <= ROOTS_TRIED_MAX {
        let total = |node| {
            distances(adjacency, node)
                .iter()
                .map(|&d| u64::from(d))
                .sum::<u64>()
        };
        return (0..nodes).min_by_key(|&node| total(node)).unwrap_or(0);
    }
    let farthest = |from| {
        let distance = distances(adjacency, from);
        (0..nodes).max_by_key(|&n| distance[n]).unwrap_or(from)
    };
    let a = farthest(0);
    let b = farthest(a);
    let (from_a, from_b) = (distances(adjacency, a), distances(adjacency, b));
    (0..nodes)
        .min_by_key(|&n| from_a[n].max(from_b[n]))
        .unwrap_or(0)
}
