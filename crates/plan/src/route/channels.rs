//! Channels and what waits for what.
//!
//! A channel is one direction of a link. While a packet holds a buffer behind one
//! channel it waits for the next on its route; if such dependencies close into a
//! cycle, packets can wait for each other for ever (Dally and Seitz). Posted writes
//! have one virtual channel, so nothing else breaks a cycle.

use super::{Adjacency, NextHops};

/// A channel-dependency graph: for each channel the channels that may come next.
pub(crate) struct Channels {
    next: Vec<Vec<u32>>,
}

impl Channels {
    pub(crate) fn new(next: Vec<Vec<u32>>) -> Self {
        Self { next }
    }

    /// A cycle of channels, if there is one.
    pub(crate) fn cycle(&self) -> Option<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.next.len()];
        for start in 0..self.next.len() {
            if marks[start] != Mark::New {
                continue;
            }
            marks[start] = Mark::Open;
            let mut path = vec![(start, 0)];
            while let Some((channel, tried)) = path.last_mut() {
                let Some(&next) = self.next[*channel].get(*tried) else {
                    marks[*channel] = Mark::Done;
                    path.pop();
                    continue;
                };
                *tried += 1;
                let next = next as usize;
                match marks[next] {
                    Mark::Done => {}
                    Mark::New => {
                        marks[next] = Mark::Open;
                        path.push((next, 0));
                    }
                    Mark::Open => {
                        let from = path.iter().position(|(c, _)| *c == next)?;
                        return Some(path[from..].iter().map(|(c, _)| *c).collect());
                    }
                }
            }
        }
        None
    }
}

/// The graph over cables only, without the links inside supernodes: a first look.
pub(crate) fn of_cables(adjacency: &Adjacency, next: &NextHops) -> Channels {
    // Channel number of the first way out of each node.
    let mut first = Vec::with_capacity(adjacency.len());
    let mut count = 0;
    for edges in adjacency {
        first.push(count);
        count += edges.len();
    }
    let mut graph = vec![Vec::new(); count];
    for (from, edges) in adjacency.iter().enumerate() {
        // A node has at most 8 processors with 8 links.
        let mut follows = vec![0u64; edges.len()];
        for to in 0..adjacency.len() {
            let Some(slot) = next.slot(from, to) else { continue };
            if let Some(after) = next.slot(edges[slot].peer, to) {
                follows[slot] |= 1 << (after & 63);
            }
        }
        for (slot, edge) in edges.iter().enumerate() {
            graph[first[from] + slot] = (0..64u32)
                .filter(|bit| follows[slot] >> bit & 1 == 1)
                .map(|bit| u32::try_from(first[edge.peer]).unwrap_or(u32::MAX) + bit)
                .collect();
        }
    }
    Channels::new(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_cycle_and_only_a_cycle() {
        let ring = Channels::new(vec![vec![1], vec![2], vec![0, 3], vec![]]);
        assert_eq!(ring.cycle(), Some(vec![0, 1, 2]));
        let line = Channels::new(vec![vec![1, 2], vec![2, 3], vec![3], vec![]]);
        assert_eq!(line.cycle(), None);
    }
}
