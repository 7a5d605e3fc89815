//! Routes as address ranges, and how many of them the registers hold.

use super::NextHops;
use crate::address_map::AddressMap;
use crate::blocks::{Block, cover};
use crate::check::map::{ADDRESS_END, EXTENDED_START};
use crate::registers::opteron::{EXTENDED_GRANULE, EXTENDED_RANGES, MMIO_RANGES};
use crate::spec::{Fabric, Family};
use crate::topology::Topology;
use hostwire_address::AddressRange;

/// A run of addresses that leave a node by the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RouteRange {
    pub range: AddressRange,
    /// Position in the node's adjacency.
    pub slot: usize,
}

/// The ranges of one node: maximal runs of destinations behind one cable.
pub(crate) fn windows(map: &AddressMap, node: usize, row: &[u8]) -> Vec<RouteRange> {
    let mut ranges: Vec<RouteRange> = Vec::new();
    for (to, (entry, &slot)) in map.entries().iter().zip(row).enumerate() {
        if to == node || slot == u8::MAX {
            continue;
        }
        let slot = usize::from(slot);
        match ranges.last_mut() {
            Some(last) if last.slot == slot && last.range.end() == entry.range.start.0 => {
                last.range.bytes += entry.range.bytes;
            }
            _ => ranges.push(RouteRange {
                range: entry.range,
                slot,
            }),
        }
    }
    ranges
}

/// The ranges of all nodes.
pub(crate) fn windows_of_all(map: &AddressMap, next: &NextHops) -> Vec<Vec<RouteRange>> {
    (0..map.entries().len())
        .map(|node| windows(map, node, next.row(node)))
        .collect()
}

/// The contents of a node's registers.
pub(crate) enum Budget {
    /// Base and limit per range.
    Mmio { taken: Vec<TakenRanges> },
    /// Base and mask, family 10h past 40 bit.
    Extended,
    /// One interval per output port.
    PerPort,
}

/// Ranges of a node that routes cannot have.
#[derive(Clone, Copy)]
pub(crate) struct TakenRanges {
    pub southbridge: bool,
    /// Those for regions of other nodes' memory.
    pub regions: usize,
}

impl TakenRanges {
    pub(crate) fn count(self) -> usize {
        usize::from(self.southbridge) + self.regions
    }
}

/// More ranges than registers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    pub needed: usize,
    pub available: usize,
}

impl Budget {
    pub(crate) fn new(topology: &Topology, map: &AddressMap) -> Self {
        match topology.fabric {
            Fabric::Peach2 => Self::PerPort,
            Fabric::TcCluster if uses_extended(topology, map) => Self::Extended,
            Fabric::TcCluster => Self::Mmio {
                taken: (0..topology.nodes.len())
                    .map(|node| TakenRanges {
                        southbridge: topology.nodes[node].southbridge.is_some(),
                        regions: topology.region_windows(node).len(),
                    })
                    .collect(),
            },
        }
    }

    /// The registers that `node` lacks for these ranges, `None` if they fit.
    pub(crate) fn excess(
        &self,
        node: usize,
        map: &AddressMap,
        ranges: &[RouteRange],
    ) -> Option<Excess> {
        let (needed, available) = match self {
            Self::Mmio { taken } => (
                ranges.len(),
                MMIO_RANGES.saturating_sub(taken[node].count()),
            ),
            Self::Extended => {
                let blocks = ranges.iter().map(|r| extended_blocks(map, r.range).len());
                (blocks.sum(), EXTENDED_RANGES)
            }
            Self::PerPort => {
                let mut per_slot = std::collections::HashMap::new();
                for range in ranges {
                    *per_slot.entry(range.slot).or_insert(0) += 1;
                }
                (per_slot.into_values().max().unwrap_or(0), 1)
            }
        };
        (needed > available).then_some(Excess { needed, available })
    }
}

/// Whether routes need the extended MMIO ranges of family 10h.
pub(crate) fn uses_extended(topology: &Topology, map: &AddressMap) -> bool {
    topology.family == Family::Fam10h && map.start().0 >= EXTENDED_START
}

/// A range as blocks of extended MMIO ranges. Addresses outside the map belong to no
/// node, so the first and the last range may extend beyond it.
pub(crate) fn extended_blocks(map: &AddressMap, range: AddressRange) -> Vec<Block> {
    let start = if range.start == map.start() {
        EXTENDED_START
    } else {
        range.start.0
    };
    let end = if range.end() == map.end().0 {
        ADDRESS_END
    } else {
        range.end()
    };
    // The map is aligned to the granule (checked when it was laid out), so a cover exists.
    cover((range.start.0, range.end()), (start, end), EXTENDED_GRANULE).unwrap_or_default()
}
