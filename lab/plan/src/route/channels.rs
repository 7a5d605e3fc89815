//! Channels and what waits for what.
//!
//! A channel is one direction of a link. While a packet holds a buffer behind one
//! channel it waits for the next on its route; if such dependencies form a cycle,
//! packets can wait for each other for ever (Dally and Seitz). Posted writes have only
//! one virtual channel, so the routes themselves have to be free of cycles.

use std::collections::HashMap;

use super::{Adjacency, NextHops};
use crate::id::LinkIndex;
use crate::spec::{AdapterKind, CableKind};
use crate::topology::{Gate, Topology};

/// A channel-dependency graph: for each channel the channels that may come next.
pub(crate) struct Channels {
    next: Vec<Vec<u32>>,
}

impl Channels {
    /// `next` has, for each channel, those that may come next.
    pub(crate) fn new(next: Vec<Vec<u32>>) -> Self {
        Self { next }
    }

    /// Pairs of channels of which one may follow the other.
    pub(crate) fn dependencies(&self) -> usize {
        self.next.iter().map(Vec::len).sum()
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

/// A channel of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// From a processor into the link, to the other end or to the adapter there.
    Link {
        /// The processor, counted over all nodes.
        processor: usize,
        /// The link.
        link: u8,
    },
    /// From an adapter to its processor.
    Entry {
        /// The adapter.
        adapter: usize,
    },
    /// The virtual link from one adapter to another one.
    Virtual {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
}

/// Which channel may follow which, gathered hop by hop.
pub(crate) struct Follows {
    /// For each link of each processor, a bit per link that may follow at its other end.
    links: Vec<u8>,
    /// For each adapter, a bit per link that may follow at its processor.
    entries: Vec<u8>,
    /// Virtual links in use, by sender and receiver.
    crossed: Vec<bool>,
    /// For each adapter the network whose devices and cables it shares with others; `None` where packets for one
    /// adapter never wait for packets for another one.
    shared: Vec<Option<usize>>,
}

impl Follows {
    pub(crate) fn new(processors: usize, shared: Vec<Option<usize>>) -> Self {
        let adapters = shared.len();
        Self {
            links: vec![0; processors * 8],
            entries: vec![0; adapters],
            crossed: vec![false; adapters * adapters],
            shared,
        }
    }

    /// Packets leave processor `at` by `link`, and the next processor by `after`, if it is not
    /// their last one. `crossing`: the adapters on the way, where the link leads to one.
    pub(crate) fn add(
        &mut self,
        (at, link): (usize, LinkIndex),
        crossing: Option<[usize; 2]>,
        after: Option<LinkIndex>,
    ) {
        let bit = after.map_or(0, |after| 1 << after.get());
        match crossing {
            None => self.links[at * 8 + link.index()] |= bit,
            Some([from, to]) => {
                let adapters = self.entries.len();
                self.crossed[from * adapters + to] = true;
                self.entries[to] |= bit;
            }
        }
    }

    /// The graph. `peer`: the processor at the other end of a link. `places`: processor and link
    /// of each adapter.
    pub(crate) fn channels(
        &self,
        peer: impl Fn(usize, usize) -> Option<usize>,
        places: &[(usize, LinkIndex)],
    ) -> Channels {
        let (links, adapters) = (self.links.len(), places.len());
        let of = |processor: usize, bits: u8| {
            let bits = (0..8).filter(move |bit| bits >> bit & 1 == 1);
            bits.map(move |bit| (processor * 8 + bit) as u32)
        };
        let mut next: Vec<Vec<u32>> = Vec::with_capacity(links + adapters + self.crossed.len());
        for (channel, &bits) in self.links.iter().enumerate() {
            let peer = peer(channel / 8, channel % 8);
            next.push(peer.map_or(Vec::new(), |peer| of(peer, bits).collect()));
        }
        for (adapter, &(processor, _)) in places.iter().enumerate() {
            next.push(of(processor, self.entries[adapter]).collect());
        }
        let mut beside: HashMap<usize, Vec<usize>> = HashMap::new();
        for (adapter, network) in self.shared.iter().enumerate() {
            if let Some(network) = network {
                beside.entry(*network).or_default().push(adapter);
            }
        }
        for (from, &(processor, link)) in places.iter().enumerate() {
            for to in 0..adapters {
                let crossed = self.crossed[from * adapters + to];
                let own = links + adapters + from * adapters + to;
                if crossed {
                    next[processor * 8 + link.index()].push(own as u32);
                }
                let network = self.shared[to].and_then(|network| beside.get(&network));
                next.push(match (crossed, network) {
                    (true, None) => vec![(links + to) as u32],
                    (true, Some(beside)) => {
                        // Two neighbours have a direction of their cable each.
                        let is_pair = beside.len() == 2;
                        let waits = beside.iter().filter(|at| !is_pair || **at != from);
                        waits.map(|at| (links + at) as u32).collect()
                    }
                    (false, _) => Vec::new(),
                });
            }
        }
        Channels::new(next)
    }

    /// Virtual links in use, and ways from an adapter to its processor.
    pub(crate) fn virtual_channels(&self) -> usize {
        let adapters = self.entries.len();
        let entries =
            (0..adapters).filter(|to| (0..adapters).any(|from| self.crossed[from * adapters + to]));
        entries.count() + self.crossed.iter().filter(|crossed| **crossed).count()
    }

    /// What the number of a channel in that graph stands for.
    pub(crate) fn channel(&self, number: usize) -> Channel {
        let (links, adapters) = (self.links.len(), self.entries.len());
        match number.checked_sub(links) {
            None => Channel::Link {
                processor: number / 8,
                link: (number % 8) as u8,
            },
            Some(adapter) if adapter < adapters => Channel::Entry { adapter },
            Some(virtual_link) => Channel::Virtual {
                from: (virtual_link - adapters) / adapters,
                to: (virtual_link - adapters) % adapters,
            },
        }
    }
}

/// The graph of all links, those inside supernodes included, for routes not yet in registers.
pub(crate) fn of_routes(topology: &Topology, ways: &Adjacency, next: &NextHops) -> Channels {
    let graph = LinkGraph::new(topology);
    let shared = graph
        .gates
        .iter()
        .map(|gate| shared(gate.kind, gate.network));
    let mut follows = Follows::new(graph.processors.len(), shared.collect());
    let link = |at, target| leave(topology, ways, next, at, target);
    for (number, &at) in graph.processors.iter().enumerate() {
        for &target in &graph.processors {
            let Some(first) = link(at, target) else {
                continue;
            };
            let crossing = graph.crossing((number, first), next, target);
            let peer = match crossing {
                Some([_, to]) => Some(graph.adapters[to].0),
                None => graph.peers[number][first.index()],
            };
            let Some(peer) = peer else {
                continue;
            };
            let second = link(graph.processors[peer], target);
            follows.add((number, first), crossing, second);
        }
    }
    add_regions(topology, &graph, &mut follows);
    follows.channels(|number, link| graph.peers[number][link], &graph.adapters)
}

/// Stores to regions of other nodes: over coherent links to the board, over its network, and into memory.
fn add_regions(topology: &Topology, graph: &LinkGraph, follows: &mut Follows) {
    let boards = topology.below.boards.as_ref();
    let regions = boards.map_or(&[][..], |boards| boards.plan.regions());
    let place = |member: usize| {
        let mut gates = graph.gates.iter();
        gates.position(|gate| (gate.kind, gate.member) == (AdapterKind::Htx, member))
    };
    for region in regions {
        let (Some(from), Some(to)) = (place(region.at), place(region.of)) else {
            continue;
        };
        let port = graph.gates[from].port;
        let node = &topology.nodes[port.node];
        let leave = |processor| match node.next_processor(processor, port.processor) {
            Some(step) => node.coherent_link(processor, step),
            None => Some(port.link),
        };
        for (number, &(at, processor)) in graph.processors.iter().enumerate() {
            let (Some(link), true) = (leave(processor), at == port.node) else {
                continue;
            };
            let next = node.next_processor(processor, port.processor);
            let crossing = next.is_none().then_some([from, to]);
            follows.add((number, link), crossing, next.and_then(leave));
        }
    }
}

/// Links that the routes between all pairs of processors cross, in a cluster without adapters.
pub(crate) fn hops_of_routes(topology: &Topology, ways: &Adjacency, next: &NextHops) -> u64 {
    let graph = LinkGraph::new(topology);
    let mut hops = 0;
    for from in 0..graph.processors.len() {
        for &target in &graph.processors {
            let mut at = from;
            let step = |at: usize| {
                let link = leave(topology, ways, next, graph.processors[at], target)?;
                graph.peers[at][link.index()]
            };
            while let Some(peer) = step(at) {
                at = peer;
                hops += 1;
            }
        }
    }
    hops
}

/// The link by which packets for a processor leave another one, both by node and index.
fn leave(
    topology: &Topology,
    ways: &Adjacency,
    next: &NextHops,
    (node, processor): (usize, u8),
    target: (usize, u8),
) -> Option<LinkIndex> {
    let exit = next.slot(node, target.0).map(|slot| ways[node][slot].port);
    let towards = exit.map_or(target.1, |port| port.processor);
    match topology.nodes[node].next_processor(processor, towards) {
        Some(step) => topology.nodes[node].coherent_link(processor, step),
        None => exit.map(|port| port.link),
    }
}

/// Processors, numbered over all nodes, and what is at the other end of each link.
struct LinkGraph {
    /// Node and index.
    processors: Vec<(usize, u8)>,
    peers: Vec<[Option<usize>; 8]>,
    gates: Vec<Gate>,
    /// Processor and link of each of them.
    adapters: Vec<(usize, LinkIndex)>,
}

/// The network whose resources an adapter shares with others. Frames between HTX boards and TLPs between
/// PEACH2 chips wait behind each other, whatever their destination; virtual links of HTEA adapters
/// have buffers of their own.
pub(crate) fn shared(kind: AdapterKind, network: usize) -> Option<usize> {
    (kind != AdapterKind::Htea).then_some(network)
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
        let gates = topology.gates();
        let place = |gate: &Gate| {
            let port = gate.port;
            (first[port.node] + usize::from(port.processor), port.link)
        };
        Self {
            processors,
            peers,
            adapters: gates.iter().map(place).collect(),
            gates,
        }
    }

    /// The adapters that a packet for a processor crosses which leaves by this link.
    fn crossing(
        &self,
        way: (usize, LinkIndex),
        next: &NextHops,
        to: (usize, u8),
    ) -> Option<[usize; 2]> {
        let from = self.adapters.iter().position(|adapter| *adapter == way)?;
        Some([from, next.arrival(self.gates[from].network, to)?])
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
