//! Where a northbridge sends an address. Pure: registers in, target out.
//!
//! Source: paper, IV.C. Two stages: the address is compared with the DRAM and
//! MMIO ranges; the NodeID found there indexes the routing table, except that
//! an MMIO range of this very node names its link directly.

use super::registers::{EXTENDED_RANGES, LINKS, Registers};

/// Where a packet entered the northbridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One of this socket's cores.
    Core,
    /// A link.
    Link(u8),
}

/// Its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This socket's memory controller.
    Memory,
    /// A link.
    Link(u8),
    /// Nowhere.
    Abort(AbortReason),
}

/// The reason why a packet has no destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AbortReason {
    /// No range holds the address.
    NoRange,
    /// The routing row of that node has no link.
    NoRoute {
        /// The NodeID.
        node: u8,
    },
    /// The chosen link is not initialised.
    LinkDown {
        /// The link.
        link: u8,
    },
    /// The range names a link as I/O, but the link is coherent.
    LinkCoherent {
        /// The link.
        link: u8,
    },
    /// A DRAM range claims this socket for memory it does not have.
    NoMemory,
    /// A device reads what is not memory of this node.
    NotOwnMemory,
    /// The packet went round in circles.
    Loop,
}

impl std::fmt::Display for AbortReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AbortReason::NoRange => write!(f, "no address range matches"),
            AbortReason::NoRoute { node } => write!(f, "routing row {node} names no link"),
            AbortReason::LinkDown { link } => write!(f, "link {link} is not initialised"),
            AbortReason::LinkCoherent { link } => {
                write!(f, "link {link} is coherent and takes no I/O packets")
            }
            AbortReason::NoMemory => write!(f, "there is no memory behind the DRAM range"),
            AbortReason::NotOwnMemory => {
                write!(f, "a device reads what is not memory of its node")
            }
            AbortReason::Loop => write!(f, "the packet goes round in circles"),
        }
    }
}

/// Routes a request by its address. `memory_bytes` is the size of this socket's
/// memory, to notice ranges that promise more.
pub fn route(registers: &Registers, origin: Origin, address: u64, memory_bytes: u64) -> Target {
    let decoded = registers.decoded();
    // A core has decided by itself what is memory and what is I/O, and sends
    // one kind of request or the other.
    let as_memory = origin == Origin::Core && registers.core_sees_dram(address);
    if (as_memory || origin != Origin::Core)
        && let Some(range) = decoded.dram_at(address)
    {
        if range.node != decoded.node_id {
            return to_node(registers, range.node);
        }
        if address - range.base >= memory_bytes {
            return Target::Abort(AbortReason::NoMemory);
        }
        return Target::Memory;
    }
    if as_memory {
        return Target::Abort(AbortReason::NoRange);
    }
    let plain = decoded
        .mmio_at(address)
        .map(|range| (range.node, range.link));
    let owner = plain.or_else(|| match decoded.extended {
        true => (0..EXTENDED_RANGES).find_map(|index| registers.extended_range(index, address)),
        false => None,
    });
    match owner {
        Some((node, link)) if node == decoded.node_id => match to_link(registers, link) {
            Target::Link(link) if !registers.link_noncoherent(link) => {
                Target::Abort(AbortReason::LinkCoherent { link })
            }
            target => target,
        },
        Some((node, _)) => to_node(registers, node),
        None => Target::Abort(AbortReason::NoRange),
    }
}

/// Links on which a broadcast goes out. From a core or a coherent link: the
/// coherent links of the broadcast route of `source`, and every non-coherent
/// link, because interrupts must reach all I/O. From a non-coherent link: only
/// the coherent ones.
///
/// Source: paper, VI: interrupts are broadcast to coherent and non-coherent devices;
/// the northbridge has nothing that stops them at a TCCluster link.
pub fn broadcast_links(registers: &Registers, origin: Origin, source: u8) -> Vec<u8> {
    let (_, _, mask) = registers.routing_row(source);
    let from_io = matches!(origin, Origin::Link(link) if registers.link_noncoherent(link));
    let goes = |link: u8| match registers.link_noncoherent(link) {
        true => !from_io,
        false => mask >> (1 + link) & 1 == 1,
    };
    (0..LINKS)
        .filter(|&link| registers.link_ready(link) && origin != Origin::Link(link) && goes(link))
        .collect()
}

/// Where a response on coherent links goes: the link of the response route of
/// `node`, `None` if it is for this node or there is no route.
pub fn response_link(registers: &Registers, node: u8) -> Option<u8> {
    if node == registers.node_id() {
        return None;
    }
    let (_, response, _) = registers.routing_row(node);
    (0..LINKS).find(|link| response >> (1 + link) & 1 == 1 && registers.link_ready(*link))
}

fn to_node(registers: &Registers, node: u8) -> Target {
    let decoded = registers.decoded();
    let link = decoded.request_link.get(usize::from(node)).copied();
    match link.flatten() {
        Some(link) if !decoded.table_disabled => to_link(registers, link),
        _ => Target::Abort(AbortReason::NoRoute { node }),
    }
}

fn to_link(registers: &Registers, link: u8) -> Target {
    if registers.link_ready(link) {
        Target::Link(link)
    } else {
        Target::Abort(AbortReason::LinkDown { link })
    }
}
