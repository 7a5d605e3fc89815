//! Adapters of nodes, and the networks that join them: the switch of HTEA adapters, cables and
//! switches of HTX boards, cables of PEACH2 chips.

use std::collections::HashMap;

use super::{Node, NodeAdapter, Port, Topology, peach2_port_name};
use crate::check::adapters::ADAPTERS_MAX;
use crate::check::cables::port_taken;
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::htx::{self, Cable, Device, HtxPlan, LinkPort, Routed};
use crate::id::LinkIndex;
use crate::spec::units::display_count;
use crate::spec::{
    AdapterKind, AdapterPlace, BelowSpec, BridgePlan, ChipCableSpec, ChipPort, Policy,
};
use hostwire_address::{AddressRange, GlobalAddress};

/// The networks of boards and chips.
#[derive(Default)]
pub(crate) struct Below {
    pub boards: Option<Boards>,
    pub chips: Option<Chips>,
    /// The bridges above chips.
    pub bridge: BridgePlan,
}

/// What a processor's memory keeps for low memory and firmware.
const LOW_BYTES: u64 = 16 << 20;

/// Addresses of regions that leave a node by one board.
pub(crate) struct RegionWindow {
    /// The board.
    pub board: usize,
    pub range: AddressRange,
}

impl Topology {
    /// The windows of a node for the regions that it uses.
    pub(crate) fn region_windows(&self, node: usize) -> Vec<RegionWindow> {
        let mut windows: Vec<RegionWindow> = Vec::new();
        let Some(boards) = &self.below.boards else {
            return windows;
        };
        let own = |board: usize| {
            let mut adapters = self.nodes[node].adapters.iter();
            adapters.any(|adapter| (adapter.kind, adapter.member) == (AdapterKind::Htx, board))
        };
        for region in boards.plan.regions().iter().filter(|region| own(region.at)) {
            match windows.last_mut() {
                Some(last) if last.board == region.at && last.range.end() == region.address => {
                    last.range.bytes += region.bytes;
                }
                _ => windows.push(RegionWindow {
                    board: region.at,
                    range: AddressRange {
                        start: GlobalAddress(region.address),
                        bytes: region.bytes,
                    },
                }),
            }
        }
        windows
    }
}

impl Below {
    /// Cables from one board to another one.
    pub(crate) fn board_cables(&self, (from, to): (usize, usize)) -> usize {
        let Some(boards) = &self.boards else {
            return 0;
        };
        let plan = &boards.plan;
        let port = |device| {
            let routes = match device {
                Device::Host(board) => &plan.hosts()[board].routes,
                Device::Switch(switch) => &plan.switches()[switch].routes,
            };
            routes.get(to).copied()
        };
        count_cables(plan.cables(), (from, to), port)
    }

    /// Cables from one chip to another one.
    pub(crate) fn chip_cables(&self, (from, to): (usize, usize)) -> usize {
        let Some(chips) = &self.chips else {
            return 0;
        };
        let port = |device| match device {
            Device::Host(chip) => chips.tables[chip].get(to).copied(),
            Device::Switch(_) => None,
        };
        count_cables(&chips.cables, (from, to), port)
    }
}

/// Cables on the way that these ports make. One that leads nowhere is longer than all others.
fn count_cables(
    cables: &[Cable],
    (from, to): (usize, usize),
    port: impl Fn(Device) -> Option<u8>,
) -> usize {
    let mut at = Device::Host(from);
    for count in 0..cables.len() {
        if at == Device::Host(to) {
            return count;
        }
        let leaves = |device, own| device == at && Some(own) == port(at);
        let next = cables.iter().find_map(|cable| match cable.ends {
            [a, b] if leaves(a.device, a.port) => Some(b.device),
            [a, b] if leaves(b.device, b.port) => Some(a.device),
            _ => None,
        });
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    match at == Device::Host(to) {
        true => cables.len(),
        false => usize::MAX,
    }
}

/// Boards, their switches and cables.
pub(crate) struct Boards {
    pub plan: HtxPlan,
    /// For each board the number of its network.
    pub network: Vec<usize>,
    /// Where the first region is described.
    pub region_span: Option<Span>,
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
    /// Its place among those of its kind in its node.
    pub index: usize,
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

/// An adapter with its node.
struct Member<'a> {
    node: &'a Node,
    /// The number of the node in the file.
    number: usize,
    adapter: &'a NodeAdapter,
    /// As cables name it.
    name: String,
}

/// The adapters of a kind, by number.
fn members(kind: AdapterKind, nodes: &[Node]) -> Vec<Member<'_>> {
    let all = nodes.iter().enumerate().flat_map(|(number, node)| {
        let adapters = node.adapters.iter();
        adapters.map(move |adapter| (number, node, adapter))
    });
    all.filter(|(_, _, adapter)| adapter.kind == kind)
        .map(|(number, node, adapter)| Member {
            node,
            number,
            adapter,
            name: format!("{}.{}", node.name, kind.name(adapter.index)),
        })
        .collect()
}

/// Joins boards and chips by the cables of the file.
pub(super) fn build(
    below: BelowSpec,
    (policy, ring_bytes): (Policy, u64),
    nodes: &[Node],
    out: &mut Findings,
) -> Below {
    let bridge = below.bridge.map(|bridge| bridge.value);
    Below {
        chips: build_chips(&below, policy, nodes, out),
        boards: build_boards(below, (policy, ring_bytes), nodes, out),
        bridge: bridge.unwrap_or_default(),
    }
}

fn build_boards(
    below: BelowSpec,
    (policy, ring_bytes): (Policy, u64),
    nodes: &[Node],
    out: &mut Findings,
) -> Option<Boards> {
    let with = members(AdapterKind::Htx, nodes);
    if with.is_empty() {
        let spans = [
            below.board.map(|board| board.span),
            below.switches.first().map(|switch| switch.name.span),
            below.board_cables.first().map(|cable| cable.span),
            below.regions.first().map(|region| region.span),
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
    let host = |member: &Member<'_>| htx::HostSpec {
        name: Located {
            value: member.name.clone(),
            span: member.adapter.place.span,
        },
        span: member.adapter.place.span,
        memory_bytes: member.node.template.memory.value,
        cores: u8::try_from(member.node.template.cores.value).unwrap_or(1),
        board,
        node: member.number,
        lendable: lendable(member, ring_bytes.saturating_mul(nodes.len() as u64)),
    };
    let spec = htx::Spec {
        regions: below.regions,
        hosts: with.iter().map(host).collect(),
        switches: below.switches,
        cables: below.board_cables,
        policy,
        routes: Vec::new(),
    };
    let (net, is_built) = out.step(|out| htx::build(&spec, out));
    let (plan, network) = htx::choose_parts(net.filter(|_| is_built)?, out)?;
    let apart = plan.regions().iter();
    let apart = apart.filter(|region| network[region.of] != network[region.at]);
    for region in apart {
        let [of, at] = [region.of, region.at].map(|board| &plan.hosts()[board].name);
        let mut specs = spec.regions.iter();
        let span = specs.find(|spec| spec.joins(at, of)).map(|spec| spec.span);
        out.push(
            Diagnostic::error("unreachable", format!("no cables join `{at}` to `{of}`"))
                .label(span.unwrap_or_default(), "a region needs a way over boards")
                .help("add a [[cable]], or use memory of another node"),
        );
    }
    Some(Boards {
        plan,
        network,
        region_span: spec.regions.first().map(|region| region.span),
    })
}

/// The memory of the processor above a board that others may use: without its low memory, and at the end of a node
/// without the rings of its peers.
fn lendable(member: &Member<'_>, rings_bytes: u64) -> htx::Lendable {
    let bytes = member.node.template.memory.value;
    let last = member.node.processors().saturating_sub(1);
    let is_last = match member.adapter.place.value {
        AdapterPlace::On(processor, _) => processor == last,
        AdapterPlace::Auto => last == 0,
    };
    htx::Lendable {
        first: LOW_BYTES,
        end: bytes.saturating_sub(if is_last { rings_bytes } else { 0 }),
        around: "below lies low memory, and at the end of a node the rings of its peers",
    }
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
    let with = members(AdapterKind::Peach2, nodes);
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
    let numbers = with.iter().map(|member| {
        let of = (member.node.name.as_str(), member.adapter.index);
        (of, member.adapter.member)
    });
    let numbers: HashMap<(&str, usize), usize> = numbers.collect();
    let mut cables = Vec::new();
    let mut taken = HashMap::new();
    for cable in &below.chip_cables {
        cables.extend(plug(cable, &numbers, &mut taken, out));
    }
    let name = |&(chip, port): &(usize, u8)| {
        let port = peach2_port_name(LinkIndex::from_bits(port));
        format!("{}.{port}", with[chip].name)
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
    numbers: &HashMap<(&str, usize), usize>,
    taken: &mut HashMap<LinkPort, Span>,
    out: &mut Findings,
) -> Option<Cable> {
    let ends = cable.ends.each_ref().map(|end| {
        let Some(&chip) = numbers.get(&(end.value.node.as_str(), end.value.index)) else {
            out.push(no_chip(end, numbers));
            return None;
        };
        let port = LinkPort {
            device: Device::Host(chip),
            port: end.value.port,
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
        length: None,
    })
}

/// A cable that is plugged into a chip that is not there.
fn no_chip(end: &Located<ChipPort>, numbers: &HashMap<(&str, usize), usize>) -> Diagnostic {
    let ChipPort { node, index, .. } = &end.value;
    let name = crate::spec::clip_name(node);
    if numbers.contains_key(&(node.as_str(), 0)) {
        let chips = (0..).take_while(|at| numbers.contains_key(&(node.as_str(), *at)));
        let chip = AdapterKind::Peach2.name(*index);
        let count = display_count(chips.count(), "chip");
        return Diagnostic::error("unknown-node", format!("`{name}` has no `{chip}`"))
            .label(end.span, format!("`{name}` has {count}"))
            .note("the chips of a node are `chip`, `chip1`, `chip2` and so on")
            .help(format!(
                "name one of these, or give `{name}` a longer list of chips"
            ));
    }
    Diagnostic::error("unknown-node", format!("`{name}` has no chip"))
        .label(end.span, "not a node with a `chip`")
        .help("give that node a `chip`")
}

impl Topology {
    /// All adapters: kind by kind, and those of a kind by the number of their node and their place in it.
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
                        index: adapter.index,
                        member: adapter.member,
                    });
                }
            }
        }
        gates
    }
}
