//! Nodes with several adapters on one network: which of them sends, and which takes what comes.

use std::collections::{BTreeMap, HashMap};

use crate::spec::AdapterKind;
use crate::topology::{Gate, Topology};

/// The adapter of `entries` on the node of adapter `first` with the fewest coherent links to processor `towards` of
/// that node; the first of equals.
fn nearest(
    topology: &Topology,
    gates: &[Gate],
    entries: &[usize],
    (first, towards): (usize, u8),
) -> usize {
    let node = gates[first].port.node;
    let beside = entries.iter().copied();
    let beside = beside.filter(|gate| gates[*gate].port.node == node);
    let steps = |gate: &usize| {
        let mut at = gates[*gate].port.processor;
        let mut steps = 0;
        while let Some(next) = topology.nodes[node].next_processor(at, towards) {
            at = next;
            steps += 1;
        }
        steps
    };
    beside.min_by_key(steps).unwrap_or(first)
}

/// For each processor of node `to` the adapter that takes its packets, of those beside adapter `first`.
/// `exit`: the processor by which they leave the node of that adapter, if that is another one.
pub(super) fn arrivals(
    topology: &Topology,
    gates: &[Gate],
    entries: &[usize],
    (first, to): (usize, usize),
    exit: Option<u8>,
) -> Vec<usize> {
    let processors = 0..topology.nodes[to].processors();
    let taker = |processor| match gates[first].kind {
        // A chip on the way has one range of addresses behind a port. A node whose packets came by two chips in turn
        // would need several.
        AdapterKind::Peach2 => first,
        _ => {
            let towards = exit.unwrap_or(processor);
            nearest(topology, gates, entries, (first, towards))
        }
    };
    processors.map(taker).collect()
}

/// The adapters of a node on one network share the packets that leave by them. Each takes the destinations to which it
/// has the fewest cables. Destinations that are equally near to several are dealt out in runs. `arrivals`: for each
/// network, node and processor the adapter that takes its packets. `slots`: the ways out by source and destination, now
/// over the first of these adapters.
pub(super) fn spread(
    topology: &Topology,
    gates: &[Gate],
    used: &[usize],
    arrivals: &[Vec<Vec<usize>>],
    slots: &mut [Option<usize>],
) {
    let nodes = topology.nodes.len();
    let mut groups: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for &gate in used {
        let of = (gates[gate].port.node, gates[gate].network);
        groups.entry(of).or_default().push(gate);
    }
    let mut lengths = Lengths::new(topology);
    for ((node, network), group) in groups.into_iter().filter(|(_, group)| group.len() > 1) {
        let row = &mut slots[node * nodes..(node + 1) * nodes];
        let mut shared = Vec::new();
        for (to, slot) in row.iter_mut().enumerate() {
            let leaves = group.iter().any(|gate| *slot == Some(gates[*gate].way));
            let arrival = arrivals[network][to].first();
            let (true, Some(&arrival)) = (leaves, arrival) else {
                continue;
            };
            let mut cables = |gate: &usize| lengths.cables(gates, *gate, arrival);
            let fewest = group.iter().map(&mut cables).min();
            let near = group.iter().copied();
            let near: Vec<usize> = near.filter(|gate| Some(cables(gate)) == fewest).collect();
            *slot = near.first().map(|gate| gates[*gate].way);
            if near.len() > 1 {
                shared.push((to, near));
            }
        }
        let count = shared.len();
        for (place, (to, near)) in shared.into_iter().enumerate() {
            let gate = near[place * near.len() / count];
            row[to] = Some(gates[gate].way);
        }
    }
}

/// Cables between adapters, counted once.
struct Lengths<'a> {
    topology: &'a Topology,
    known: HashMap<(usize, usize), usize>,
}

impl<'a> Lengths<'a> {
    fn new(topology: &'a Topology) -> Self {
        Self {
            topology,
            known: HashMap::new(),
        }
    }

    fn cables(&mut self, gates: &[Gate], from: usize, to: usize) -> usize {
        let below = &self.topology.below;
        let count = || {
            let members = (gates[from].member, gates[to].member);
            match gates[from].kind {
                // One switch joins them all.
                AdapterKind::Htea => 1,
                AdapterKind::Htx => below.board_cables(members),
                AdapterKind::Peach2 => below.chip_cables(members),
            }
        };
        *self.known.entry((from, to)).or_insert_with(count)
    }
}
