//! Shortest paths.

use std::collections::VecDeque;

use super::{Adjacency, NextHops};

/// Shortest paths; among equals, the way that the previous destination took, so that
/// destinations behind one cable stay together.
pub(super) fn routes(adjacency: &Adjacency) -> NextHops {
    let nodes = adjacency.len();
    let mut columns = vec![u8::MAX; nodes * nodes];
    for to in 0..nodes {
        let distance = distances(adjacency, to);
        for from in (0..nodes).filter(|&from| from != to) {
            let closer = |slot: usize| {
                let edge = &adjacency[from][slot];
                distance[edge.peer].saturating_add(1) == distance[from]
            };
            let before = to
                .checked_sub(1)
                .map(|before| usize::from(columns[from * nodes + before]))
                .filter(|&slot| slot < adjacency[from].len() && closer(slot));
            let slot = before.or_else(|| (0..adjacency[from].len()).find(|&slot| closer(slot)));
            columns[from * nodes + to] = slot.and_then(|s| u8::try_from(s).ok()).unwrap_or(u8::MAX);
        }
    }
    NextHops {
        nodes,
        slots: columns,
        arrivals: Vec::new(),
    }
}

/// Hops from every node to `to`; `u32::MAX` where there is no path.
pub(crate) fn distances(adjacency: &Adjacency, to: usize) -> Vec<u32> {
    let mut distance = vec![u32::MAX; adjacency.len()];
    distance[to] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(node) = queue.pop_front() {
        for edge in &adjacency[node] {
            if distance[edge.peer] == u32::MAX {
                distance[edge.peer] = distance[node] + 1;
                queue.push_back(edge.peer);
            }
        }
    }
    distance
}
