//! Can every node be reached, and can every node boot?

use crate::diagnostic::{Diagnostic, Findings};
use crate::spec::{CableKind, Fabric};
use crate::topology::{Edge, Topology};

/// Every node has a path to every other over cables that carry traffic.
pub(crate) fn check_connected(topology: &Topology, adjacency: &[Vec<Edge>], out: &mut Findings) {
    let gates = topology.gates();
    let reached = flood(0, topology.nodes.len(), |node| {
        let cables = adjacency[node].iter().map(|e| e.peer);
        // An adapter reaches all others of its network.
        let own = gates.iter().filter(|gate| gate.port.node == node);
        let others = own.flat_map(|own| {
            let others = gates.iter().filter(|gate| gate.network == own.network);
            others.map(|gate| gate.port.node)
        });
        cables.chain(others).collect()
    });
    let Some(lost) = reached.iter().position(|&r| !r) else {
        return;
    };
    let count = reached.iter().filter(|&&r| !r).count();
    let (label, help) = match gates.is_empty() {
        true => (
            "no cable leads here, even over other nodes",
            "add a [[cable]] that joins the parts",
        ),
        false => (
            "neither a cable nor an adapter leads here, even over other nodes",
            "add a [[cable]] that joins the parts, or give a node of each part an `adapter`",
        ),
    };
    out.push(
        Diagnostic::error(
            "unreachable",
            format!(
                "{count} of {} nodes cannot be reached from `{}`",
                reached.len(),
                topology.nodes[0].name
            ),
        )
        .label(topology.nodes[lost].span, label)
        .help(help),
    );
}

/// Every node gets its firmware through a southbridge: its own, or one behind a coherent cable
/// (tccluster, section V: the single-board prototype).
pub(crate) fn check_southbridges(topology: &Topology, out: &mut Findings) {
    if topology.fabric == Fabric::Peach2 {
        return;
    }
    let mut coherent = vec![Vec::new(); topology.nodes.len()];
    for cable in topology
        .cables
        .iter()
        .filter(|c| c.kind == CableKind::Coherent)
    {
        let [a, b] = cable.ends;
        coherent[a.node].push(b.node);
        coherent[b.node].push(a.node);
    }
    let mut boots = vec![false; topology.nodes.len()];
    for (number, node) in topology.nodes.iter().enumerate() {
        if node.southbridge.is_some() && !boots[number] {
            let reached = flood(number, boots.len(), |n| coherent[n].clone());
            for (boot, reached) in boots.iter_mut().zip(reached) {
                *boot |= reached;
            }
        }
    }
    if let Some(lost) = boots.iter().position(|&b| !b) {
        let node = &topology.nodes[lost];
        out.push(
            Diagnostic::error("no-southbridge", format!("`{}` cannot fetch its firmware", node.name))
                .label(node.template.southbridge.span, "has no southbridge")
                .note("the bootstrap processor fetches its code through a southbridge")
                .help("give it a southbridge, or join it to a node that has one by a cable with `kind = \"coherent\"`"),
        );
    }
}

fn flood(start: usize, nodes: usize, neighbours: impl Fn(usize) -> Vec<usize>) -> Vec<bool> {
    let mut reached = vec![false; nodes];
    let mut queue = Vec::new();
    if let Some(first) = reached.get_mut(start) {
        *first = true;
        queue.push(start);
    }
    while let Some(node) = queue.pop() {
        for peer in neighbours(node) {
            if !std::mem::replace(&mut reached[peer], true) {
                queue.push(peer);
            }
        }
    }
    reached
}
