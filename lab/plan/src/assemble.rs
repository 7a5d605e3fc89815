//! From topology and routes to the plan: links, windows and register values.

use crate::check::map::EXTENDED_START;
use crate::htx::{Device, LinkPort};
use crate::id::{LinkIndex, NodeId, PortId, ProcessorId};
use crate::plan::{
    AdapterPlan, CablePlan, ChipPlan, LinkPlan, LinkRole, NodePlan, Plan, ProcessorPlan, Router,
    Window,
};
use crate::registers::opteron::{
    self, DRAM_GRANULE, Exit, LinkSetup, MemoryPlan, NodeSetup, Northbridge,
};
use crate::registers::{RegisterWrite, peach2};
use crate::route::ranges::{RouteRange, extended_blocks, uses_extended};
use crate::route::{self, Adjacency, Routes};
use crate::spec::{AdapterKind, CableKind, EthernetPlan, Fabric, HteaPlan, Medium, SouthRole};
use crate::topology::{Gate, Node, NodeAdapter, Port, Topology, gate_of};
use hostwire_address::AddressRange;

/// Everything that was decided about a cluster.
pub(crate) struct Decided<'a> {
    pub topology: &'a Topology,
    pub adjacency: &'a Adjacency,
    pub routes: Routes,
    pub windows: &'a [Vec<RouteRange>],
    pub low_bytes: &'a [u64],
    /// By node; empty for PEACH2.
    pub memory: &'a [MemoryPlan],
    pub ring_bytes: u64,
    pub ethernet: EthernetPlan,
    pub htea: HteaPlan,
}

/// Puts the plan together.
pub(crate) fn assemble(decided: Decided<'_>) -> Plan {
    let topology = decided.topology;
    let mut first_processor = Vec::with_capacity(topology.nodes.len());
    let mut count = 0;
    for node in &topology.nodes {
        first_processor.push(count);
        count += usize::from(node.processors());
    }
    let links = links(&decided);
    let mut peers = vec![[None; 8]; count];
    for (processor, links) in links.iter().enumerate() {
        for link in links {
            if let Some(peer) = link.peer {
                let number = first_processor[peer.processor.node.index()]
                    + usize::from(peer.processor.index);
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                peers[processor][link.link.index()] = Some((number, peer.link, link.role));
            }
        }
    }
    let nodes: Vec<_> = (0..topology.nodes.len())
        .map(|number| {
            let first = first_processor[number];
            let processors = usize::from(topology.nodes[number].processors());
            node_plan(&decided, number, &links[first..first + processors])
        })
        .collect();
    let routers = nodes
        .iter()
        .flat_map(|n| &n.processors)
        .map(|p| router(topology, p))
        .collect();
    let fabric = topology.fabric;
    let adapters = adapters(&decided);
    let (chips, chip_cables) = chips(&decided);
    let boards = topology.below.boards.as_ref();
    Plan {
        fabric,
        family: (fabric == Fabric::TcCluster).then_some(topology.family),
        scheme: decided.routes.scheme,
        // The shape is that of each island.
        shape: topology.shape.clone().filter(|_| adapters.is_empty()),
        map: decided.routes.map,
        ring_bytes: decided.ring_bytes,
        nodes,
        cables: topology
            .cables
            .iter()
            .map(|c| cable_plan(topology, c))
            .collect(),
        adapters,
        ethernet: decided.ethernet,
        htea: decided.htea,
        boards: boards.map(|boards| boards.plan.clone()),
        bridge: topology.below.bridge,
        chips,
        chip_cables,
        warnings: Vec::new(),
        hops: Default::default(),
        channels: Default::default(),
        routers,
        first_processor,
        peers,
    }
}

/// The adapters, each with what it sends where.
fn adapters(decided: &Decided<'_>) -> Vec<AdapterPlan> {
    let routes = &decided.routes;
    let adapter = |gate: &Gate| {
        let mut targets: Vec<(AddressRange, usize)> = Vec::new();
        for (to, part) in routes.map.parts() {
            let arrival = routes.next.arrival(gate.network, to);
            let Some(target) = arrival.filter(|_| routes.next.leave_by(gate, to.0)) else {
                continue;
            };
            match targets.last_mut() {
                Some((range, last)) if *last == target && range.end() == part.start.0 => {
                    range.bytes += part.bytes;
                }
                _ => targets.push((part, target)),
            }
        }
        AdapterPlan {
            kind: gate.kind,
            port: port_id(gate.port),
            network: gate.network,
            index: gate.index,
            member: gate.member,
            targets,
        }
    };
    decided.topology.gates().iter().map(adapter).collect()
}

/// The chips with their registers, and the cables between them.
fn chips(decided: &Decided<'_>) -> (Vec<ChipPlan>, Vec<[(usize, u8); 2]>) {
    let (topology, routes) = (decided.topology, &decided.routes);
    let Some(net) = &topology.below.chips else {
        return Default::default();
    };
    // Bounds that overlap are a finding of the checks before.
    let bounds = route::chips::bounds(topology, &routes.map, &routes.next).unwrap_or_default();
    let gates = topology.gates();
    let chip = |(member, bounds): (usize, &route::chips::Bounds)| {
        let gate = gate_of(&gates, AdapterKind::Peach2, member);
        let name = gate.map(|gate| {
            let node = &topology.nodes[gate.port.node].name;
            format!("{node}.{}", gate.kind.name(gate.index))
        });
        ChipPlan {
            name: name.unwrap_or_default(),
            registers: peach2::writes(*bounds, DRAM_GRANULE),
        }
    };
    let end = |end: &LinkPort| match end.device {
        Device::Host(chip) | Device::Switch(chip) => (chip, end.port),
    };
    let cables = net
        .cables
        .iter()
        .map(|cable| cable.ends.each_ref().map(end));
    (
        bounds.iter().enumerate().map(chip).collect(),
        cables.collect(),
    )
}

fn router(topology: &Topology, processor: &ProcessorPlan) -> Router {
    match topology.fabric {
        Fabric::TcCluster => Router::Opteron(Northbridge::from_writes(&processor.registers)),
        Fabric::Peach2 => Router::Peach2(peach2::Router::from_writes(&processor.registers)),
    }
}

fn processor_id(node: usize, index: u8) -> ProcessorId {
    // A topology has at most NODES_MAX nodes, well below 2^16.
    ProcessorId {
        node: NodeId(u16::try_from(node).unwrap_or(u16::MAX)),
        index,
    }
}

fn port_id(port: Port) -> PortId {
    PortId {
        processor: processor_id(port.node, port.processor),
        link: port.link,
    }
}

fn cable_plan(topology: &Topology, cable: &crate::topology::Cable) -> CablePlan {
    let electrical = topology.fabric == Fabric::TcCluster;
    CablePlan {
        ends: cable.ends.map(port_id),
        kind: cable.kind,
        medium: cable.medium,
        width_bits: electrical.then_some(cable.width_bits),
        frequency_mhz: electrical.then_some(cable.frequency_mhz),
        length: cable.length,
    }
}

/// The links in use of every processor, counted over all nodes.
fn links(decided: &Decided<'_>) -> Vec<Vec<LinkPlan>> {
    let topology = decided.topology;
    let mut by_node: Vec<Vec<Vec<LinkPlan>>> = topology
        .nodes
        .iter()
        .map(|node| vec![Vec::new(); usize::from(node.processors())])
        .collect();
    for cable in &topology.cables {
        let plan = cable_plan(topology, cable);
        for (end, other) in [(0, 1), (1, 0)] {
            let port = cable.ends[end];
            by_node[port.node][usize::from(port.processor)].push(LinkPlan {
                link: port.link,
                role: match cable.kind {
                    CableKind::Fabric => LinkRole::Fabric,
                    CableKind::Coherent => LinkRole::Configuration,
                },
                peer: Some(port_id(cable.ends[other])),
                width_bits: plan.width_bits,
                frequency_mhz: plan.frequency_mhz,
            });
        }
    }
    for (number, node) in topology.nodes.iter().enumerate() {
        own_links(decided, number, node, &mut by_node[number]);
    }
    let mut links: Vec<_> = by_node.into_iter().flatten().collect();
    for links in &mut links {
        links.sort_by_key(|l| l.link);
    }
    links
}

/// Width and clock that the link of an adapter can do.
fn adapter_link(decided: &Decided<'_>, adapter: &NodeAdapter) -> (u64, u64) {
    let trace = u64::from(Medium::Board.mhz_max());
    match adapter.kind {
        AdapterKind::Htea => (u64::MAX, trace),
        AdapterKind::Htx => {
            let boards = decided.topology.below.boards.as_ref();
            let board = boards.and_then(|boards| boards.plan.hosts().get(adapter.member));
            board.map_or((u64::MAX, trace), |board| {
                (board.link_width_bits.into(), board.link_mhz.into())
            })
        }
        AdapterKind::Peach2 => {
            let bridge = decided.topology.below.bridge;
            let mhz = trace.min(bridge.link_mhz.into());
            (bridge.link_width_bits.into(), mhz)
        }
    }
}

/// Coherent links, southbridge and host.
fn own_links(decided: &Decided<'_>, number: usize, node: &Node, links: &mut [Vec<LinkPlan>]) {
    for coherent in &node.coherent {
        let caps = coherent.ends.map(|(p, l)| node.capability(p, l));
        let width = caps[0].0.min(caps[1].0);
        let frequency = caps[0].1.min(caps[1].1);
        let frequency = frequency.min(u64::from(Medium::Board.mhz_max()));
        for (end, other) in [(0, 1), (1, 0)] {
            let (processor, link) = coherent.ends[end];
            let (peer, peer_link) = coherent.ends[other];
            links[usize::from(processor)].push(LinkPlan {
                link,
                role: LinkRole::Coherent,
                peer: Some(PortId {
                    processor: processor_id(number, peer),
                    link: peer_link,
                }),
                width_bits: u8::try_from(width).ok(),
                frequency_mhz: u16::try_from(frequency).ok(),
            });
        }
    }
    for adapter in &node.adapters {
        let Some((processor, link)) = adapter.port else {
            continue;
        };
        let (width, frequency) = node.capability(processor, link);
        let (width_max, frequency_max) = adapter_link(decided, adapter);
        links[usize::from(processor)].push(LinkPlan {
            link,
            role: LinkRole::Adapter,
            peer: None,
            width_bits: u8::try_from(width.min(width_max)).ok(),
            frequency_mhz: u16::try_from(frequency.min(frequency_max)).ok(),
        });
    }
    let other = |link, role| LinkPlan {
        link,
        role,
        peer: None,
        width_bits: None,
        frequency_mhz: None,
    };
    if let (Some(link), Some(links)) = (node.southbridge, links.first_mut()) {
        links.push(other(link, LinkRole::Southbridge));
    }
    if let (Fabric::Peach2, Some(links)) = (decided.topology.fabric, links.first_mut()) {
        links.push(other(LinkIndex::from_bits(peach2::NORTH), LinkRole::Host));
    }
}

fn node_plan(decided: &Decided<'_>, number: usize, links: &[Vec<LinkPlan>]) -> NodePlan {
    let topology = decided.topology;
    let entry = &decided.routes.map.entries()[number];
    let windows = decided.windows[number].iter().map(|w| Window {
        range: w.range,
        exit: port_id(decided.adjacency[number][w.slot].port),
    });
    let gates = topology.gates();
    let regions = topology.region_windows(number).into_iter();
    let regions = regions.filter_map(|window| {
        let gate = gate_of(&gates, AdapterKind::Htx, window.board)?;
        Some(Window {
            range: window.range,
            exit: port_id(gate.port),
        })
    });
    let windows: Vec<_> = windows.chain(regions).collect();
    let registers = match topology.fabric {
        Fabric::TcCluster => opteron_registers(decided, number, &windows, links),
        Fabric::Peach2 => {
            let mut bounds = [None; peach2::PORTS as usize];
            bounds[usize::from(peach2::NORTH)] = Some(entry.range);
            for window in &windows {
                if let Some(bound) = bounds.get_mut(window.exit.link.index()) {
                    *bound = Some(window.range);
                }
            }
            vec![peach2::writes(bounds, entry.range.bytes)]
        }
    };
    let parts = entry.parts.iter().map(|p| p.range);
    let memory: Vec<_> = match topology.fabric {
        Fabric::TcCluster => parts.collect(),
        Fabric::Peach2 => vec![entry.range],
    };
    let processors = (0u8..)
        .zip(registers)
        .zip(links)
        .zip(memory)
        .map(|(((index, registers), links), memory)| ProcessorPlan {
            id: processor_id(number, index),
            memory,
            links: links.clone(),
            registers,
        })
        .collect();
    NodePlan {
        id: processor_id(number, 0).node,
        name: topology.nodes[number].name.clone(),
        range: entry.range,
        low_bytes: decided.low_bytes[number],
        windows_write_combining: decided
            .memory
            .get(number)
            .is_some_and(|m| m.windows_write_combining),
        windows,
        processors,
        south_is_root: {
            let south = topology.nodes[number].template.south.map(|role| role.value);
            south == Some(SouthRole::RootComplex)
        },
    }
}

fn opteron_registers(
    decided: &Decided<'_>,
    number: usize,
    windows: &[Window],
    links: &[Vec<LinkPlan>],
) -> Vec<Vec<RegisterWrite>> {
    let topology = decided.topology;
    let node = &topology.nodes[number];
    let map = &decided.routes.map;
    let exits = windows.iter().map(|w| {
        let exit = Exit {
            processor: w.exit.processor.index,
            link: w.exit.link,
        };
        (w.range, exit)
    });
    let (plain, extended) = if uses_extended(topology, map) {
        let blocks = exits.flat_map(|(range, exit)| {
            extended_blocks(map, range)
                .into_iter()
                .map(move |b| (b, exit))
        });
        (Vec::new(), blocks.collect())
    } else {
        (exits.collect(), Vec::new())
    };
    let routes = |from: u8, to: u8| node.coherent_link(from, node.next_processor(from, to)?);
    let broadcast = |at: u8, source: u8| broadcast_links(node, at, source);
    let setup = NodeSetup {
        family: topology.family,
        low_bytes: decided.low_bytes[number],
        memory: map.entries()[number]
            .parts
            .iter()
            .map(|p| p.range)
            .collect(),
        cores: u8::try_from(node.template.cores.value).unwrap_or(1),
        southbridge: node.southbridge,
        windows: plain,
        extended,
        routes: &routes,
        broadcast: &broadcast,
        extended_addresses: map.end().0 > EXTENDED_START,
        memory_plan: &decided.memory[number],
    };
    links
        .iter()
        .zip(0u8..)
        .map(|(links, processor)| opteron::writes(&setup, processor, &link_setups(links)))
        .collect()
}

fn link_setups(links: &[LinkPlan]) -> Vec<LinkSetup> {
    links
        .iter()
        .filter_map(|l| {
            Some(LinkSetup {
                link: l.link,
                width_bits: l.width_bits?,
                frequency_mhz: l.frequency_mhz?,
                non_coherent: matches!(l.role, LinkRole::Fabric | LinkRole::Adapter),
            })
        })
        .collect()
}

/// The links on which `at` passes on a broadcast of `source`: to those processors whose route
/// from the source has `at` as its last stop but one. The routes to all form a tree.
fn broadcast_links(node: &Node, at: u8, source: u8) -> Vec<LinkIndex> {
    let before = |to: u8| {
        let mut stop = source;
        for _ in 0..node.processors() {
            let next = node.next_processor(stop, to)?;
            if next == to {
                return Some(stop);
            }
            stop = next;
        }
        None
    };
    (0..node.processors())
        .filter(|&to| to != source && before(to) == Some(at))
        .filter_map(|to| node.coherent_link(at, to))
        .collect()
}
