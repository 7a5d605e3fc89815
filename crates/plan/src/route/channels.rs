//! Channels and what waits for what.
//!
//! A channel is one direction of a link. While a packet holds a buffer behind one
//! channel it waits for the next on its route; if such dependencies form a cycle,
//! packets can wait for each other for ever (Dally and Seitz). Posted writes have only
//! one virtual channel, so the routes themselves have to be free of cycles.

use super::{Adjacency, NextHops};
use crate::id::LinkIndex;
use crate::spec::CableKind;
use crate::topology::Topology;

/// A channel-dependency graph: for each channel the channels that may come next.
pub(crate) struct Channels {
    next: Vec<Vec<u32>>,
}

impl Channels {
    fn new(next: Vec<Vec<u32>>) -> Self {
        Self { next }
    }

    /// Channel `8 * processor + link`. For each channel, `follows` has a bit per link of the
    /// processor at the other end, and `peer` is that processor.
    pub(crate) fn of_links(follows: &[u8], peer: impl Fn(usize, usize) -> Option<usize>) -> Self {
        let next = follows.iter().enumerate().map(|(channel, &bits)| {
            let Some(next) = peer(channel / 8, channel % 8) else {
                return Vec::new();
            };
            (0..8)
                .filter(|bit| bits >> bit & 1 == 1)
                .map(|bit| (next * 8 + bit) as u32)
                .collect()
        });
        Self::new(next.collect())
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

/// The graph of all links, those inside supernodes included, for routes not yet in registers.
pub(crate) fn of_routes(topology: &Topology, adjacency: &Adjacency, next: &NextHops) -> Channels {
    let graph = LinkGraph::new(topology);
    let targets: Vec<(usize, u8)> = graph.processors.clone();
    let mut follows = vec![0u8; graph.processors.len() * 8];
    let link = |at: (usize, u8), target: (usize, u8)| {
        let (node, processor) = at;
        let exit = next
            .slot(node, target.0)
            .map(|slot| adjacency[node][slot].port);
        let towards = exit.map_or(target.1, |port| port.processor);
        match topology.nodes[node].next_processor(processor, towards) {
            Some(step) => topology.nodes[node].coherent_link(processor, step),
            None => exit.map(|port| port.link),
        }
    };
    for (number, &at) in graph.processors.iter().enumerate() {
        for &target in &targets {
            let Some(first) = link(at, target) else {
                continue;
            };
            let Some(peer) = graph.peers[number][first.index()] else {
                continue;
            };
            if let Some(second) = link(graph.processors[peer], target) {
                follows[number * 8 + first.index()] |= 1 << second.get();
            }
        }
    }
    Channels::of_links(&follows, |number, link| graph.peers[number][link])
}

/// Processors, numbered over all nodes, and what is at the other end of each link.
struct LinkGraph {
    /// Node and index.
    processors: Vec<(usize, u8)>,
    peers: Vec<[Option<usize>; 8]>,
}

impl LinkGraph {
    fn new(topology: &Topology) -> Self {
        let mut processors = Vec::new();
        let mut first = Vec::new();
        for (number, node) in topology.nodes.iter().enumerate() {
            first.push(processors.len());
            processors.extend((0..node.processors()).map(|p| (number, p)));
        }
        let mut peers = vec![[None; 8]; processors.len()];
        let mut join = |a: (usize, LinkIndex), b: (usize, LinkIndex)| {
            peers[a.0][a.1.index()] = Some(b.0);
            peers[b.0][b.1.index()] = Some(a.0);
        };
        for cable in topology
            .cables
            .iter()
            .filter(|c| c.kind == CableKind::Fabric)
        {
            let [a, b] = cable
                .ends
                .map(|p| (first[p.node] + usize::from(p.processor), p.link));
            join(a, b);
        }
        for (number, node) in topology.nodes.iter().enumerate() {
            for coherent in &node.coherent {
                let [a, b] = coherent
                    .ends
                    .map(|(p, l)| (first[number] + usize::from(p), l));
                join(a, b);
            }
        }
        Self { processors, peers }
    }
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
