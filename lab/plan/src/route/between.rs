//! Ways between islands: which network a packet takes, and on which island it comes out.

use std::collections::VecDeque;

use crate::spec::AdapterKind;
use crate::topology::Gate;

/// Islands and the networks of adapters that join them.
pub(super) struct Between {
    /// For each island and network the adapters in use, by their places in the list of all.
    gates: Vec<Vec<Vec<usize>>>,
    /// The kind of each network.
    kinds: Vec<AdapterKind>,
    /// For each island the networks to each other one; `u32::MAX` where there is no way.
    distances: Vec<Vec<u32>>,
}

impl Between {
    /// With at most `gates_max` adapters of each island on each network. `spanning`: only over a
    /// spanning tree of islands and networks.
    pub(super) fn new(
        all: &[Gate],
        islands: &[Vec<usize>],
        gates_max: usize,
        spanning: bool,
    ) -> Between {
        let networks = all.iter().map(|gate| gate.network + 1).max().unwrap_or(0);
        let mut kinds = vec![AdapterKind::Htea; networks];
        let mut gates = vec![vec![Vec::new(); networks]; islands.len()];
        for (number, gate) in all.iter().enumerate() {
            kinds[gate.network] = gate.kind;
            let mut islands = islands.iter();
            let island = islands.position(|members| members.contains(&gate.port.node));
            if let Some(island) = island
                && gates[island][gate.network].len() < gates_max
            {
                gates[island][gate.network].push(number);
            }
        }
        let mut between = Between {
            gates,
            kinds,
            distances: Vec::new(),
        };
        if spanning {
            between.prune();
        }
        between.distances = (0..islands.len()).map(|to| between.far_from(to)).collect();
        between
    }

    pub(super) fn networks(&self) -> usize {
        self.kinds.len()
    }

    /// The adapters of an island on a network.
    pub(super) fn gates(&self, island: usize, network: usize) -> &[usize] {
        &self.gates[island][network]
    }

    /// The network by which packets for another island leave: one towards it; of several that of
    /// chips, then that of boards, then the first.
    pub(super) fn exit(&self, from: usize, to: usize) -> Option<usize> {
        let near = self.distances[to][from].checked_sub(1)?;
        let leads = |network: &usize| {
            let mut islands = (0..self.gates.len()).filter(|island| self.joins(*network, *island));
            self.joins(*network, from) && islands.any(|next| self.distances[to][next] == near)
        };
        let networks = (0..self.networks()).filter(leads);
        networks.max_by_key(|network| (self.kinds[*network], usize::MAX - network))
    }

    /// The island on which packets for another one leave a network.
    pub(super) fn entry(&self, network: usize, to: usize) -> Option<usize> {
        let islands = (0..self.gates.len()).filter(|island| self.joins(network, *island));
        let nearest = islands.min_by_key(|island| self.distances[to][*island])?;
        (self.distances[to][nearest] != u32::MAX).then_some(nearest)
    }

    /// All islands, each behind the one from which it is reached, depth first.
    pub(super) fn preorder(&self, start: usize) -> Vec<usize> {
        let mut order = Vec::new();
        let mut stack = vec![start];
        while let Some(island) = stack.pop() {
            if order.contains(&island) {
                continue;
            }
            order.push(island);
            let beside = (0..self.gates.len()).filter(|other| {
                let mut networks = 0..self.networks();
                networks.any(|network| self.joins(network, island) && self.joins(network, *other))
            });
            stack.extend(beside.collect::<Vec<_>>().into_iter().rev());
        }
        let rest: Vec<_> = (0..self.gates.len())
            .filter(|island| !order.contains(island))
            .collect();
        order.extend(rest);
        order
    }

    fn joins(&self, network: usize, island: usize) -> bool {
        !self.gates[island][network].is_empty()
    }

    fn far_from(&self, to: usize) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.gates.len()];
        distances[to] = 0;
        let mut queue = VecDeque::from([to]);
        let mut crossed = vec![false; self.networks()];
        while let Some(island) = queue.pop_front() {
            for (network, crossed) in crossed.iter_mut().enumerate() {
                if !self.joins(network, island) || std::mem::replace(crossed, true) {
                    continue;
                }
                for next in (0..self.gates.len()).filter(|next| self.joins(network, *next)) {
                    if distances[next] == u32::MAX {
                        distances[next] = distances[island] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        distances
    }

    /// Keeps of each network only what a breadth-first tree from the first island uses, chips before boards before HTEA.
    fn prune(&mut self) {
        let (islands, networks) = (self.gates.len(), self.networks());
        let mut kept = vec![vec![false; networks]; islands];
        let mut reached = vec![false; islands];
        let mut crossed = vec![false; networks];
        for root in 0..islands {
            if std::mem::replace(&mut reached[root], true) {
                continue;
            }
            let mut queue = VecDeque::from([root]);
            while let Some(island) = queue.pop_front() {
                for network in (0..networks).rev() {
                    let joined = self.joins(network, island);
                    if !joined || std::mem::replace(&mut crossed[network], true) {
                        continue;
                    }
                    for next in 0..islands {
                        if self.joins(network, next) && !reached[next] {
                            reached[next] = true;
                            kept[island][network] = true;
                            kept[next][network] = true;
                            queue.push_back(next);
                        }
                    }
                }
            }
        }
        for (gates, kept) in self.gates.iter_mut().zip(kept) {
            for (gates, kept) in gates.iter_mut().zip(kept) {
                if !kept {
                    gates.clear();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::LinkIndex;
    use crate::topology::Port;

    fn gate(node: usize, network: usize, kind: AdapterKind) -> Gate {
        Gate {
            kind,
            port: Port {
                node,
                processor: 0,
                link: LinkIndex::from_bits(0),
            },
            way: 0,
            network,
            index: 0,
            member: 0,
        }
    }

    /// Islands of a node each: 0 and 1 on HTEA and boards, 1 and 2 on chips.
    fn chain() -> Vec<Gate> {
        use AdapterKind::{Htea, Htx, Peach2};
        vec![
            gate(0, 0, Htea),
            gate(1, 0, Htea),
            gate(0, 1, Htx),
            gate(1, 1, Htx),
            gate(1, 2, Peach2),
            gate(2, 2, Peach2),
        ]
    }

    fn islands() -> Vec<Vec<usize>> {
        vec![vec![0], vec![1], vec![2]]
    }

    #[test]
    fn packets_go_over_the_fewest_islands() {
        let between = Between::new(&chain(), &islands(), usize::MAX, false);
        assert_eq!(between.exit(0, 2), Some(1), "boards come before HTEA");
        assert_eq!(between.entry(1, 2), Some(1));
        assert_eq!(between.exit(1, 2), Some(2));
        assert_eq!(between.exit(2, 0), Some(2));
        assert_eq!(between.entry(2, 0), Some(1));
        assert_eq!(between.exit(1, 1), None);
        assert_eq!(between.preorder(2), [2, 1, 0]);
    }

    #[test]
    fn a_spanning_tree_has_one_way() {
        let between = Between::new(&chain(), &islands(), 1, true);
        assert_eq!(between.exit(0, 1), Some(1), "HTEA would close a cycle");
        assert!(between.gates(0, 0).is_empty());
        assert_eq!(between.exit(0, 2), Some(1));
    }
}
