//! Adapters of nodes, and the networks that join them: the switch of HTEA adapters, cables and
//! switches of HTX boards, cables of PEACH2 chips.

use std::collections::HashMap;

use super::{Node, Port, Topology, peach2_port_name};
use crate::check::adapters::ADAPTERS_MAX;
use crate::check::cables::port_taken;
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::htx::{self, Cable, Device, HtxPlan, LinkPort, Routed};
use crate::id::LinkIndex;
use crate::spec::{AdapterKind, BelowSpec, BridgePlan, ChipCableSpec, Policy};

/// The networks of boards and chips.
#[derive(Default)]
pub(crate) struct Below {
    pub boards: Option<Boards>,
    pub chips: Option<Chips>,
    /// The bridges above chips.
    pub bridge: BridgePlan,
}

/// Boards, their switches and cables.
pub(crate) struct Boards {
    pub plan: HtxPlan,
    /// For each board the number of its network.
    pub network: Vec<usize>,
}

/// Chips and their cables.
pub(crate) struct Chips {
    /// Chips are hosts here: they have no switches.
    pub cables: Vec<Cable>,
    /// For each chip the port by destination chip.
    pub tables: Vec<Vec<u8>>,
    /// For each chip the number of its network.
    pub network: Vec<usize>,
}

/// An adapter by its place in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub kind: AdapterKind,
    pub port: Port,
    /// Its place among the ways out of its node.
    pub way: usize,
    /// The network that it is on. Adapters of one network reach each other.
    pub network: usize,
    /// Its number among those of its kind, in the order of the file.
    pub member: usize,
}

/// The adapter of a kind with this number.
pub(crate) fn gate_of(gates: &[Gate], kind: AdapterKind, member: usize) -> Option<&Gate> {
    let mut gates = gates.iter();
    gates.find(|gate| gate.kind == kind && gate.member == member)
}

/// Numbers the adapters of each kind.
pub(super) fn number(nodes: &mut [Node]) {
    for kind in AdapterKind::ALL {
        let adapters = nodes.iter_mut().flat_map(|node| &mut node.adapters);
        let adapters = adapters.filter(|adapter| adapter.kind == kind);
        for (member, adapter) in adapters.enumerate() {
            adapter.member = member;
        }
    }
}

/// The node of each adapter of a kind, by number.
fn nodes_with(kind: AdapterKind, nodes: &[Node]) -> Vec<(&Node, Span)> {
    let all = nodes.iter().flat_map(|node| {
        let adapters = node.adapters.iter();
        adapters.map(move |adapter| (node, adapter))
    });
    all.filter(|(_, adapter)| adapter.kind == kind)
        .map(|(node, adapter)| (node, adapter.place.span))
        .collect()
}

/// Joins boards and chips by the cables of the file.
pub(super) fn build(below: BelowSpec, policy: Policy, nodes: &[Node], out: &mut Findings) -> Below {
    let bridge = below.bridge.map(|bridge| bridge.value);
    Below {
        chips: build_chips(&below, policy, nodes, out),
        boards: build_boards(below, policy, nodes, out),
        bridge: bridge.unwrap_or_default(),
    }
}

fn build_boards(
    below: BelowSpec,
    policy: Policy,
    nodes: &[Node],
    out: &mut Findings,
) -> Option<Boards> {
    let with = nodes_with(AdapterKind::Htx, nodes);
    if with.is_empty() {
        let spans = [
            below.board.map(|board| board.span),
            below.switches.first().map(|switch| switch.name.span),
            below.board_cables.first().map(|cable| cable.span),
        ];
        not_there(spans, AdapterKind::Htx, out);
        return None;
    }
    if with.len() > ADAPTERS_MAX {
        return None;
    }
    for switch in &below.switches {
        if let Some(node) = nodes.iter().find(|node| node.name == switch.name.value) {
            out.push(
                Diagnostic::error(
                    "name",
                    format!("a node and a switch are called `{}`", node.name),
                )
                .label(switch.name.span, "already taken")
                .label(node.span, "by this node")
                .help("give the switch its own name"),
            );
        }
    }
    let board = below.board.map_or_else(htx::Board::default, |b| b.value);
    let host = |&(node, span): &(&Node, Span)| htx::HostSpec {
        name: Located {
            value: format!("{}.board", node.name),
            span,
        },
        span,
        memory_bytes: node.template.memory.value,
        cores: u8::try_from(node.template.cores.value).unwrap_or(1),
        board,
    };
    let net = htx::Spec {
        regions: Vec::new(),
        hosts: with.iter().map(host).collect(),
        switches: below.switches,
        cables: below.board_cables,
        policy,
        routes: Vec::new(),
    };
    let (net, is_built) = out.step(|out| htx::build(&net, out));
    let (plan, network) = htx::choose_parts(net.filter(|_| is_built)?, out)?;
    Some(Boards { plan, network })
}

/// A key or a table about devices that no node has.
fn not_there<const N: usize>(spans: [Option<Span>; N], kind: AdapterKind, out: &mut Findings) {
    if let Some(span) = spans.into_iter().flatten().next() {
        let key = kind.key();
        out.push(
            Diagnostic::error("adapter", format!("no node has a {key}"))
                .label(span, "describes what is not there")
                .help(format!("give nodes a `{key}`, or remove this")),
        );
    }
}

fn build_chips(
    below: &BelowSpec,
    policy: Policy,
    nodes: &[Node],
    out: &mut Findings,
) -> Option<Chips> {
    let with = nodes_with(AdapterKind::Peach2, nodes);
    if with.is_empty() {
        let spans = [
            below.bridge.map(|bridge| bridge.span),
            below.chip_cables.first().map(|cable| cable.span),
        ];
        not_there(spans, AdapterKind::Peach2, out);
        return None;
    }
    // Too many are named later; their routes would take long.
    if with.len() > ADAPTERS_MAX {
        return None;
    }
    let numbers = with.iter().enumerate();
    let numbers: HashMap<&str, usize> = numbers
        .map(|(number, (node, _))| (node.name.as_str(), number))
        .collect();
    let mut cables = Vec::new();
    let mut taken = HashMap::new();
    for cable in &below.chip_cables {
        cables.extend(plug(cable, &numbers, &mut taken, out));
    }
    let name = |&(chip, port): &(usize, u8)| {
        let port = peach2_port_name(LinkIndex::from_bits(port));
        format!("{}.chip.{port}", with[chip].0.name)
    };
    match htx::route_cables(with.len(), &cables, policy) {
        Ok(Routed { tables, network }) => Some(Chips {
            cables,
            tables,
            network,
        }),
        Err(cycle) => {
            let names: Vec<String> = cycle.iter().map(name).collect();
            out.push(
                Diagnostic::error(
                    "deadlock",
                    format!("{} channels wait for each other in a cycle", cycle.len()),
                )
                .label(
                    below.chip_cables[0].span,
                    "routes over these cables can deadlock",
                )
                .note(format!("the cycle: {}", names.join(" -> ")))
                .help("use [routing] policy = \"auto\" or \"tree\""),
            );
            None
        }
    }
}

fn plug(
    cable: &ChipCableSpec,
    numbers: &HashMap<&str, usize>,
    taken: &mut HashMap<LinkPort, Span>,
    out: &mut Findings,
) -> Option<Cable> {
    let ends = cable.ends.each_ref().map(|end| {
        let (node, port) = &end.value;
        let Some(&chip) = numbers.get(node.as_str()) else {
            let name = crate::spec::clip_name(node);
            out.push(
                Diagnostic::error("unknown-node", format!("`{name}` has no chip"))
                    .label(end.span, "not a node with a `chip`")
                    .help("give that node a `chip`"),
            );
            return None;
        };
        let port = LinkPort {
            device: Device::Host(chip),
            port: *port,
        };
        if let Some(other) = taken.insert(port, cable.span) {
            out.push(port_taken(end.span, other));
        }
        Some(port)
    });
    let [Some(a), Some(b)] = ends else {
        return None;
    };
    if a.device == b.device {
        out.push(
            Diagnostic::error("self-link", "the cable joins a chip to itself")
                .label(cable.span, "both ends are in one chip")
                .help("plug one end into another chip"),
        );
        return None;
    }
    Some(Cable {
        ends: [a, b],
        length_um: None,
    })
}

impl Topology {
    /// All adapters: kind by kind, and those of a kind by the number of their node.
    pub(crate) fn gates(&self) -> Vec<Gate> {
        let mut cables = vec![0; self.nodes.len()];
        for (node, edges) in self.adjacency().into_iter().enumerate() {
            cables[node] = edges.len();
        }
        let count = |network: Option<&Vec<usize>>| {
            let last = network.and_then(|network| network.iter().max());
            last.map_or(0, |last| last + 1)
        };
        let boards = self.below.boards.as_ref().map(|boards| &boards.network);
        let chips = self.below.chips.as_ref().map(|chips| &chips.network);
        // The switch of all HTEA adapters is network 0.
        let (first_board, first_chip) = (1, 1 + count(boards));
        let mut gates = Vec::new();
        for kind in AdapterKind::ALL {
            for (number, node) in self.nodes.iter().enumerate() {
                let plugged = node
                    .adapters
                    .iter()
                    .filter(|adapter| adapter.port.is_some());
                for (at, adapter) in plugged.enumerate() {
                    let (Some((processor, link)), true) = (adapter.port, adapter.kind == kind)
                    else {
                        continue;
                    };
                    let of = |network: Option<&Vec<usize>>| {
                        let network = network.and_then(|network| network.get(adapter.member));
                        network.copied().unwrap_or(0)
                    };
                    gates.push(Gate {
                        kind,
                        port: Port {
                            node: number,
                            processor,
                            link,
                        },
                        way: cables[number] + at,
                        network: match kind {
                            AdapterKind::Htea => 0,
                            AdapterKind::Htx => first_board + of(boards),
                            AdapterKind::Peach2 => first_chip + of(chips),
                        },
                        member: adapter.member,
                    });
                }
            }
        }
        gates
    }
}
