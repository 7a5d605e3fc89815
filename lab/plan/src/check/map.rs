//! Lays out the address map: aligned, contiguous, within reach of the registers.

use crate::NODES_MAX;
use crate::address_map::{AddressMap, MapEntry, MapPart, Peach2Block, Target};
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::id::{NodeId, ProcessorId};
use crate::registers::opteron::{DRAM_GRANULE, EXTENDED_GRANULE};
use crate::spec::units::display_bytes;
use crate::spec::{Fabric, Family, MapSpec};
use crate::topology::{Node, Topology};
use hostwire_address::{AddressRange, GlobalAddress};

/// First address of the HyperTransport windows for interrupts, system management, I/O and
/// configuration; they reach up to 2^40 and stay out of the map.
pub(crate) const HT_RESERVED_START: u64 = 0xFD_0000_0000;
/// First address that needs more than 40 bit.
pub(crate) const EXTENDED_START: u64 = 1 << 40;
/// First address that no processor of these families can form: 256 TiB.
pub(crate) const ADDRESS_END: u64 = 1 << 48;
/// The low 4 GiB belong to each node alone: low memory, southbridge, firmware.
pub(crate) const LOW_END: u64 = 1 << 32;
/// The southbridge's memory-mapped space: the last GiB below 4 GiB.
pub(crate) const SOUTHBRIDGE_START: u64 = 3 << 30;
/// PEACH2's window (tca-peach2, section III.E).
const PEACH2_WINDOW: u64 = 512 << 30;

/// The origin of the map, for messages.
fn base_span(map: &MapSpec, topology: &Topology) -> Span {
    map.base
        .map(|b| b.span)
        .or(topology.nodes.first().map(|n| n.template.memory.span))
        .unwrap_or_default()
}

/// Sorts nodes by their own addresses. Either all nodes or none must have one.
pub(crate) fn order_by_base(topology: &mut Topology, out: &mut Findings) -> bool {
    let with_base = topology.nodes.iter().filter(|n| n.base.is_some()).count();
    if with_base == 0 {
        return false;
    }
    if let Some(node) = topology.nodes.iter().find(|n| n.base.is_none()) {
        out.push(
            Diagnostic::error(
                "map",
                format!("`{}` has no `base`, other nodes have", node.name),
            )
            .label(node.span, "this node has no address")
            .help("give every node a base, or none"),
        );
        return true;
    }
    let mut order: Vec<usize> = (0..topology.nodes.len()).collect();
    order.sort_by_key(|&i| topology.nodes[i].base.map(|b| b.value));
    topology.renumber(&order);
    true
}

/// The address map of a TCCluster or of a PEACH2 sub-cluster.
pub(crate) fn lay_out(
    topology: &Topology,
    spec: &MapSpec,
    out: &mut Findings,
) -> Option<AddressMap> {
    match topology.fabric {
        Fabric::TcCluster => lay_out_tccluster(topology, spec, out),
        Fabric::Peach2 => lay_out_peach2(topology, spec, out),
    }
}

fn lay_out_tccluster(
    topology: &Topology,
    spec: &MapSpec,
    out: &mut Findings,
) -> Option<AddressMap> {
    let sizes = node_sizes(topology, out)?;
    let total: u128 = sizes.iter().map(|&s| u128::from(s)).sum();
    let base = match topology.nodes.first().and_then(|n| n.base) {
        Some(first) => {
            if let Some(map_base) = spec.base.filter(|b| b.value != first.value) {
                out.push(
                    Diagnostic::error(
                        "map",
                        "[map] and the first node begin at different addresses",
                    )
                    .label(map_base.span, format!("{:#x}", map_base.value))
                    .label(first.span, format!("{:#x}", first.value))
                    .help("remove one of them"),
                );
            }
            first
        }
        None => choose_base(topology, spec, &sizes, total, out)?,
    };
    check_base(spec, base, out);
    check_bounds(topology, spec, base, total, out);
    if out.has_errors() {
        return None;
    }
    let mut entries = Vec::new();
    let mut next = base.value;
    for (number, (node, size)) in topology.nodes.iter().zip(&sizes).enumerate() {
        if let Some(own) = node.base
            && own.value != next
        {
            report_gap(topology, number, own, next, out);
            return None;
        }
        entries.push(tccluster_entry(number, node, next)?);
        next = next.checked_add(*size)?;
    }
    let map = AddressMap::new(entries);
    check_granule(topology, &map, out);
    (!out.has_errors()).then_some(map)
}

/// Memory of each node in bytes, each processor's share a multiple of the DRAM granule.
fn node_sizes(topology: &Topology, out: &mut Findings) -> Option<Vec<u64>> {
    let mut sizes = Vec::new();
    let mut last = Span::default();
    for node in &topology.nodes {
        let memory = node.template.memory;
        if (memory.value == 0 || memory.value % DRAM_GRANULE != 0) && last != memory.span {
            last = memory.span;
            out.push(
                Diagnostic::error(
                    "map-alignment",
                    format!(
                        "{} of memory is not a multiple of 16MiB",
                        display_bytes(memory.value)
                    ),
                )
                .label(
                    memory.span,
                    "expected a multiple of 16MiB, more than nothing",
                )
                .note("DRAM base and limit registers (F1x40) hold address bits 24 and up")
                .help(format!(
                    "use {}",
                    display_bytes((memory.value / DRAM_GRANULE + 1).saturating_mul(DRAM_GRANULE))
                )),
            );
        }
        let size = memory.value.checked_mul(u64::from(node.processors()));
        if size.is_none_or(|s| s > ADDRESS_END) {
            out.push(
                Diagnostic::error("map-reach", format!("`{}` alone exceeds 256TiB", node.name))
                    .label(memory.span, "expected at most 256TiB in the whole map")
                    .help("give the node less memory"),
            );
            return None;
        }
        sizes.push(size.unwrap_or_default());
    }
    (!out.has_errors()).then_some(sizes)
}

/// A base that aligns every node where all have the same power of two as their size.
fn choose_base(
    topology: &Topology,
    spec: &MapSpec,
    sizes: &[u64],
    total: u128,
    out: &mut Findings,
) -> Option<Located<u64>> {
    if let Some(base) = spec.base {
        return Some(base);
    }
    let largest = sizes.iter().copied().max()?;
    let span = base_span(spec, topology);
    // At most 2^48, so the next power of two exists.
    let alignment = largest.checked_next_power_of_two()?;
    let low = alignment.max(LOW_END);
    if u128::from(low) + total <= u128::from(HT_RESERVED_START) {
        return Some(Located { value: low, span });
    }
    if let Some(bits) = spec.address_bits.filter(|b| b.value == 40) {
        out.push(too_large_for_40_bit(low, total, bits.span));
        return None;
    }
    Some(Located {
        value: alignment.max(EXTENDED_START),
        span,
    })
}

fn too_large_for_40_bit(base: u64, total: u128, span: Span) -> Diagnostic {
    Diagnostic::error("map-reach", "the map does not fit 40-bit addresses")
        .label(
            span,
            format!(
                "from {base:#x} the map needs {}MiB, up to {HT_RESERVED_START:#x} there are {}MiB",
                total >> 20,
                HT_RESERVED_START.saturating_sub(base) >> 20
            ),
        )
        .note("the HyperTransport windows for interrupts, I/O and configuration begin at 0xfd00000000")
        .help("use less memory per node, or `address_bits = 48` with a base of \"1TiB\"")
}

fn check_base(spec: &MapSpec, base: Located<u64>, out: &mut Findings) {
    if base.value < LOW_END {
        out.push(
            Diagnostic::error("map", format!("the map cannot begin at {:#x}", base.value))
                .label(base.span, "expected 4GiB or more")
                .note("below 4GiB every node has its own low memory, southbridge and firmware")
                .help("use a base of \"4GiB\" or more"),
        );
    }
    if !base.value.is_multiple_of(DRAM_GRANULE) {
        out.push(
            Diagnostic::error("map-alignment", format!("{:#x} is not aligned", base.value))
                .label(base.span, "expected a multiple of 16MiB")
                .help(format!(
                    "use {:#x}",
                    base.value / DRAM_GRANULE * DRAM_GRANULE
                )),
        );
    }
    if let Some(bits) = spec.address_bits.filter(|b| b.value == 40)
        && base.value >= HT_RESERVED_START
    {
        out.push(
            Diagnostic::error("map-reach", "the map begins where 40-bit addresses end")
                .label(bits.span, "40-bit addresses end the map at 0xfd00000000")
                .help("use `address_bits = 48`, or a lower base"),
        );
    }
}

fn check_bounds(
    topology: &Topology,
    spec: &MapSpec,
    base: Located<u64>,
    total: u128,
    out: &mut Findings,
) {
    let end = u128::from(base.value) + total;
    if end > u128::from(ADDRESS_END) {
        out.push(
            Diagnostic::error(
                "map-reach",
                format!("the map ends at {end:#x}, past 256TiB (48-bit addresses)"),
            )
            .label(
                base_span(spec, topology),
                format!("{} nodes, {} GiB", topology.nodes.len(), total >> 30),
            )
            .help("use fewer nodes or less memory per node"),
        );
    } else if base.value < EXTENDED_START && end > u128::from(HT_RESERVED_START) {
        out.push(
            Diagnostic::error(
                "map-reserved",
                format!("the map ends at {end:#x}, inside or past the HyperTransport windows"),
            )
            .label(
                base_span(spec, topology),
                "the windows are 0xfd00000000 to 0xffffffffff",
            )
            .note("they carry interrupts, system management, I/O and configuration")
            .help("begin the map at \"1TiB\" or above, or use less memory"),
        );
    }
}

fn report_gap(
    topology: &Topology,
    number: usize,
    own: Located<u64>,
    next: u64,
    out: &mut Findings,
) {
    let node = &topology.nodes[number];
    let before = number.checked_sub(1).and_then(|i| topology.nodes.get(i));
    let before_span = before.and_then(|n| n.base).map_or(own.span, |b| b.span);
    let before_name = before.map_or("", |n| &n.name);
    let finding = if own.value < next {
        Diagnostic::error(
            "map-overlap",
            format!(
                "the addresses of `{}` and `{before_name}` overlap",
                node.name
            ),
        )
        .label(
            own.span,
            format!("expected {next:#x}, got {:#x}", own.value),
        )
        .label(
            before_span,
            format!("`{before_name}` reaches to {:#x}", next - 1),
        )
    } else {
        Diagnostic::error("map-hole", format!("there is a hole in the map before `{}`", node.name))
            .label(own.span, format!("expected {next:#x}, got {:#x}", own.value))
            .label(before_span, format!("`{before_name}` reaches to {:#x}", next - 1))
            .note("the northbridge maps single contiguous intervals to each link (TCCluster paper, section IV.D)")
    };
    out.push(finding.help(format!("use base = \"{next:#x}\"")));
}

fn tccluster_entry(number: usize, node: &Node, base: u64) -> Option<MapEntry> {
    let id = NodeId(u16::try_from(number).ok()?);
    let bytes = node.template.memory.value;
    let mut parts = Vec::new();
    for index in 0..node.processors() {
        let start = base.checked_add(bytes.checked_mul(u64::from(index))?)?;
        parts.push(MapPart {
            target: Target::Memory(ProcessorId { node: id, index }),
            range: AddressRange {
                start: GlobalAddress(start),
                bytes,
            },
            backed_bytes: bytes,
        });
    }
    let bytes = bytes.checked_mul(u64::from(node.processors()))?;
    Some(MapEntry {
        range: AddressRange {
            start: GlobalAddress(base),
            bytes,
        },
        parts,
    })
}

/// Extended MMIO ranges of family 10h are coarser than DRAM ranges.
fn check_granule(topology: &Topology, map: &AddressMap, out: &mut Findings) {
    if topology.family != Family::Fam10h || map.start().0 < EXTENDED_START {
        return;
    }
    for (node, entry) in topology.nodes.iter().zip(map.entries()) {
        if entry.range.start.0 % EXTENDED_GRANULE != 0 || entry.range.end() % EXTENDED_GRANULE != 0
        {
            out.push(
                Diagnostic::error(
                    "map-alignment",
                    format!(
                        "`{}` is not aligned to 128MiB, as addresses past 40 bit need",
                        node.name
                    ),
                )
                .label(node.template.memory.span, "expected a multiple of 128MiB")
                .note("extended MMIO ranges (F1x114) hold address bits 27 and up")
                .help("use a multiple of 128MiB, or family = \"15h\""),
            );
            return;
        }
    }
}

fn lay_out_peach2(topology: &Topology, spec: &MapSpec, out: &mut Findings) -> Option<AddressMap> {
    let span = base_span(spec, topology);
    let window = spec.window.unwrap_or(Located {
        value: PEACH2_WINDOW,
        span,
    });
    if !window.value.is_power_of_two() {
        out.push(
            Diagnostic::error("map-alignment", "the window is not a power of two")
                .label(window.span, format!("got {}", display_bytes(window.value)))
                .help("a PCI Express base address register covers a power of two; use \"512GiB\""),
        );
        return None;
    }
    let base = spec.base.unwrap_or(Located {
        value: window.value,
        span,
    });
    let end = base
        .value
        .checked_add(window.value)
        .filter(|&e| e <= ADDRESS_END);
    if base.value == 0 || !base.value.is_multiple_of(window.value) || end.is_none() {
        out.push(
            Diagnostic::error(
                "map-alignment",
                format!("the window cannot be at {:#x}", base.value),
            )
            .label(
                base.span,
                format!(
                    "expected a multiple of {} below 256TiB, not 0",
                    display_bytes(window.value)
                ),
            )
            .note("PEACH2 compares upper address bits only, so the window is aligned to its size")
            .help(format!("use base = \"{}\"", display_bytes(window.value))),
        );
        return None;
    }
    let slots = topology.nodes.len().clamp(1, NODES_MAX).next_power_of_two() as u64;
    let (node_bytes, block_bytes) = (window.value / slots, window.value / slots / 4);
    if block_bytes == 0 {
        out.push(
            Diagnostic::error("map", "the window is too small")
                .label(window.span, "expected at least four bytes per node")
                .help("use \"512GiB\""),
        );
        return None;
    }
    let mut entries = Vec::new();
    for (number, node) in topology.nodes.iter().enumerate() {
        check_blocks(node, block_bytes, out);
        let start = base
            .value
            .checked_add(node_bytes.checked_mul(number as u64)?)?;
        entries.push(peach2_entry(number, node, start, block_bytes)?);
    }
    (!out.has_errors()).then(|| AddressMap::new(entries))
}

fn check_blocks(node: &Node, block_bytes: u64, out: &mut Findings) {
    let gpu = node.template.gpu_memory.filter(|_| node.template.gpus > 0);
    for (what, memory) in [
        ("the host's memory", Some(node.template.memory)),
        ("GPU memory", gpu),
    ] {
        let Some(memory) = memory else { continue };
        if memory.value > block_bytes || memory.value == 0 {
            out.push(
                Diagnostic::error("map-reach", format!("{what} does not fit its block"))
                    .label(
                        memory.span,
                        format!(
                            "expected 1B to {}, got {}",
                            display_bytes(block_bytes),
                            display_bytes(memory.value)
                        ),
                    )
                    .note("the window is split evenly over the nodes, and each node's part in four")
                    .help("export less, use fewer nodes, or a larger window"),
            );
        }
    }
}

fn peach2_entry(number: usize, node: &Node, start: u64, block_bytes: u64) -> Option<MapEntry> {
    let id = NodeId(u16::try_from(number).ok()?);
    let gpu_bytes = node.template.gpu_memory.map_or(block_bytes, |g| g.value);
    let mut parts = Vec::new();
    for (index, block) in (0u64..).zip(Peach2Block::ALL) {
        let backed_bytes = match block {
            Peach2Block::Gpu0 if node.template.gpus > 0 => gpu_bytes,
            Peach2Block::Gpu1 if node.template.gpus > 1 => gpu_bytes,
            Peach2Block::Gpu0 | Peach2Block::Gpu1 => 0,
            Peach2Block::Host => node.template.memory.value,
            Peach2Block::Internal => block_bytes,
        };
        let start = start.checked_add(block_bytes.checked_mul(index)?)?;
        parts.push(MapPart {
            target: Target::Block(id, block),
            range: AddressRange {
                start: GlobalAddress(start),
                bytes: block_bytes,
            },
            backed_bytes,
        });
    }
    let bytes = block_bytes.checked_mul(4)?;
    Some(MapEntry {
        range: AddressRange {
            start: GlobalAddress(start),
            bytes,
        },
        parts,
    })
}
