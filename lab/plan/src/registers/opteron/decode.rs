//! From register contents to routing decisions: what the northbridge does with a packet.

use std::collections::HashMap;

use crate::id::LinkIndex;
use crate::registers::{Fault, Register, RegisterWrite, Step};
use hostwire_address::GlobalAddress;

use super::{DRAM_RANGES, EXTENDED_RANGES, MMIO_RANGES};

/// Where an address range leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Memory of a processor of this node.
    Memory {
        /// Its NodeID in the coherent domain.
        processor: u8,
    },
    /// A non-coherent link.
    Link {
        /// NodeID of the processor that has the link.
        processor: u8,
        /// The link.
        link: LinkIndex,
        /// The CPU's writes are forced to be non-posted, which a TCCluster cannot route.
        non_posted: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DecodedRange {
    first: u64,
    last: u64,
    destination: Destination,
}

/// A northbridge's routing state, decoded from its registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Northbridge {
    node_id: u8,
    rows: [u32; 8],
    /// Sorted by first address.
    ranges: Vec<DecodedRange>,
    /// Two ranges share an address.
    overlapping: bool,
}

impl Northbridge {
    /// The northbridge after these writes.
    ///
    /// Registers start as after a cold reset: NodeID 7, every routing row to itself, no ranges.
    pub fn from_writes(writes: &[RegisterWrite]) -> Self {
        let mut file: HashMap<(u8, u16), u32> = HashMap::new();
        let mut extended = [[0u32; EXTENDED_RANGES]; 2];
        file.insert((0, 0x60), 7);
        for row in 0..8 {
            file.insert((0, 0x40 + 4 * row), 0x0004_0201);
        }
        for write in writes {
            let Register::Config { function, offset } = write.register else {
                continue;
            };
            let register = file.entry((function, offset)).or_default();
            *register = (write.apply(u64::from(*register)) & 0xFFFF_FFFF) as u32;
            let value = *register;
            if (function, offset) == (1, 0x114) {
                let select = file.get(&(1, 0x110)).copied().unwrap_or_default();
                let entry = (select & 0x0FFF_FFFF) as usize;
                let kind = (select >> 28)
                    .checked_sub(2)
                    .and_then(|k| extended.get_mut(k as usize));
                if let Some(slot) = kind.and_then(|k| k.get_mut(entry)) {
                    *slot = value;
                }
            }
        }
        let read = |function, offset| file.get(&(function, offset)).copied().unwrap_or_default();
        let mut ranges: Vec<_> = (0..DRAM_RANGES as u16)
            .filter_map(|i| dram(i, &read))
            .collect();
        ranges.extend((0..MMIO_RANGES as u16).filter_map(|i| mmio(i, &read)));
        ranges.extend((0..EXTENDED_RANGES).filter_map(|i| extended_range(i, &extended)));
        ranges.sort_by_key(|r| r.first);
        let overlapping = ranges.windows(2).any(|pair| pair[1].first <= pair[0].last);
        let mut rows = [0; 8];
        for (offset, row) in (0x40..).step_by(4).zip(&mut rows) {
            *row = read(0, offset);
        }
        Self {
            node_id: (read(0, 0x60) & 7) as u8,
            rows,
            ranges,
            overlapping,
        }
    }

    /// This processor's NodeID in its coherent domain.
    pub fn node_id(&self) -> u8 {
        self.node_id
    }

    /// The range that holds an address.
    ///
    /// # Errors
    /// [`Fault::Unmapped`] where none does, [`Fault::Overlap`] where two do.
    pub fn lookup(&self, addr: GlobalAddress) -> Result<Destination, Fault> {
        let holds = |r: &&DecodedRange| (r.first..=r.last).contains(&addr.0);
        if self.overlapping {
            let mut found = self.ranges.iter().filter(holds);
            return match (found.next(), found.next()) {
                (Some(range), None) => Ok(range.destination),
                (None, _) => Err(Fault::Unmapped),
                (Some(_), Some(_)) => Err(Fault::Overlap),
            };
        }
        let after = self.ranges.partition_point(|r| r.first <= addr.0);
        let range = after
            .checked_sub(1)
            .and_then(|i| self.ranges.get(i))
            .filter(holds);
        range.map(|r| r.destination).ok_or(Fault::Unmapped)
    }

    /// What the northbridge does with a posted write to `addr`, wherever it came from.
    ///
    /// Two stages (tccluster, section IV.C): the address gives the destination processor; if
    /// that is this one, the packet goes to memory or straight to the link of the range, else
    /// to the link in the routing row of the destination.
    pub fn step(&self, addr: GlobalAddress) -> Step {
        let (processor, link) = match self.lookup(addr) {
            Err(fault) => return Step::Fault(fault),
            Ok(Destination::Memory { processor }) => (processor, None),
            Ok(Destination::Link {
                processor, link, ..
            }) => (processor, Some(link)),
        };
        if processor == self.node_id {
            return link.map_or(Step::Deliver, Step::Forward);
        }
        // Request routes: bits [8:0], bit 0 is this processor itself.
        let request = self.rows[usize::from(processor & 7)] & 0x1FF;
        if request.count_ones() != 1 || request & 1 == 1 {
            return Step::Fault(Fault::BadRow(processor));
        }
        Step::Forward(LinkIndex::from_bits((request.trailing_zeros() - 1) as u8))
    }
}

fn dram(i: u16, read: &impl Fn(u8, u16) -> u32) -> Option<DecodedRange> {
    let (base, limit) = (read(1, 0x40 + 8 * i), read(1, 0x44 + 8 * i));
    if base & 0b11 != 0b11 {
        return None;
    }
    let (base_high, limit_high) = (read(1, 0x140 + 8 * i) & 0xFF, read(1, 0x144 + 8 * i) & 0xFF);
    Some(DecodedRange {
        first: u64::from(base_high) << 40 | u64::from(base & 0xFFFF_0000) << 8,
        last: u64::from(limit_high) << 40 | u64::from(limit & 0xFFFF_0000) << 8 | 0xFF_FFFF,
        destination: Destination::Memory {
            processor: (limit & 7) as u8,
        },
    })
}

fn mmio(i: u16, read: &impl Fn(u8, u16) -> u32) -> Option<DecodedRange> {
    let (base, limit) = (read(1, 0x80 + 8 * i), read(1, 0x84 + 8 * i));
    if base & 0b11 != 0b11 {
        return None;
    }
    // Family 15h only; a family 10h plan never writes it.
    let high = u64::from(read(1, 0x180 + 4 * i));
    Some(DecodedRange {
        first: (high & 0xFF) << 40 | u64::from(base & 0xFFFF_FF00) << 8,
        last: (high >> 16 & 0xFF) << 40 | u64::from(limit & 0xFFFF_FF00) << 8 | 0xFFFF,
        destination: link_destination(limit),
    })
}

fn extended_range(i: usize, extended: &[[u32; EXTENDED_RANGES]; 2]) -> Option<DecodedRange> {
    let (base, mask) = (extended[0][i], extended[1][i]);
    if mask & 1 == 0 {
        return None;
    }
    let field = |register: u32| u64::from(register >> 8 & 0x1F_FFFF) << 27;
    let first = field(base) & !field(mask);
    Some(DecodedRange {
        first,
        last: first | field(mask) | 0x7FF_FFFF,
        destination: link_destination(base),
    })
}

fn link_destination(register: u32) -> Destination {
    let link = (register >> 4 & 3 | (register >> 6 & 1) << 2) as u8;
    Destination::Link {
        processor: (register & 7) as u8,
        link: LinkIndex::from_bits(link),
        non_posted: register >> 7 & 1 == 1,
    }
}
