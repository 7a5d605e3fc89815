//! The global address map: one contiguous run of intervals, one per node.

use serde::Serialize;

use hostwire_address::{AddressRange, GlobalAddress, Intervals};

use crate::id::{NodeId, ProcessorId};

/// The kind of memory or device behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Memory of a processor.
    Memory(ProcessorId),
    /// One of the four blocks of a PEACH2 node.
    Block(NodeId, Peach2Block),
}

/// The four equal blocks of a PEACH2 node (tca-peach2, section III.E).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Peach2Block {
    /// Memory of GPU 0.
    Gpu0,
    /// Memory of GPU 1.
    Gpu1,
    /// Memory of the host.
    Host,
    /// Registers and memory of the PEACH2 chip.
    Internal,
}

impl Peach2Block {
    /// The blocks in address order.
    pub const ALL: [Self; 4] = [Self::Gpu0, Self::Gpu1, Self::Host, Self::Internal];
}

/// The interval of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MapEntry {
    /// The whole interval.
    pub range: AddressRange,
    /// Its parts, contiguous and in order: one per processor, or the four PEACH2 blocks.
    pub parts: Vec<MapPart>,
}

/// A part of a node's interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MapPart {
    /// Its kind.
    pub target: Target,
    /// Where it is.
    pub range: AddressRange,
    /// How many bytes from the start of the range exist; the rest of a PEACH2 block is empty.
    pub backed_bytes: u64,
}

impl AddressMap {
    /// The memory of each processor, by the number of its node and its place there.
    pub(crate) fn parts(&self) -> impl Iterator<Item = ((usize, u8), AddressRange)> + '_ {
        self.entries().iter().enumerate().flat_map(|(node, entry)| {
            let parts = entry.parts.iter().zip(0_u8..);
            parts.map(move |(part, place)| ((node, place), part.range))
        })
    }
}

impl MapEntry {
    /// Bytes of host memory in the interval.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_parts().map(|p| p.backed_bytes).sum()
    }

    fn memory_parts(&self) -> impl DoubleEndedIterator<Item = &MapPart> {
        self.parts.iter().filter(|p| {
            matches!(
                p.target,
                Target::Memory(_) | Target::Block(_, Peach2Block::Host)
            )
        })
    }

    /// The last run of host memory: an address and its length.
    pub(crate) fn last_memory(&self) -> Option<AddressRange> {
        let part = self.memory_parts().next_back()?;
        AddressRange::new(part.range.start.0..part.range.start.0.checked_add(part.backed_bytes)?)
    }
}

/// The whole map. Entries are contiguous and ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AddressMap {
    entries: Vec<MapEntry>,
    /// Their ranges.
    #[serde(skip)]
    intervals: Intervals,
}

impl AddressMap {
    pub(crate) fn new(entries: Vec<MapEntry>) -> Self {
        debug_assert!(
            entries
                .windows(2)
                .all(|w| w[0].range.end() == w[1].range.start.0)
        );
        let intervals = Intervals::new(entries.iter().map(|entry| entry.range));
        debug_assert!(intervals.is_some(), "contiguous entries are in order");
        Self {
            entries,
            intervals: intervals.unwrap_or_default(),
        }
    }

    /// The intervals, by node.
    pub fn entries(&self) -> &[MapEntry] {
        &self.entries
    }

    /// The interval of one node.
    pub fn entry(&self, node: NodeId) -> Option<&MapEntry> {
        self.entries.get(node.index())
    }

    /// First address of the map.
    pub fn start(&self) -> GlobalAddress {
        self.entries
            .first()
            .map_or(GlobalAddress(0), |e| e.range.start)
    }

    /// First address past the map.
    pub fn end(&self) -> GlobalAddress {
        self.entries
            .last()
            .map_or(GlobalAddress(0), |e| GlobalAddress(e.range.end()))
    }

    /// The node that owns an address, or `None` outside the map.
    pub fn owner_of(&self, addr: GlobalAddress) -> Option<NodeId> {
        let (node, _) = self.intervals.owner_of(addr)?;
        u16::try_from(node).ok().map(NodeId)
    }

    /// The part of a node that an address lies in, or `None` outside the map.
    pub fn part_of(&self, addr: GlobalAddress) -> Option<&MapPart> {
        let entry = self.entry(self.owner_of(addr)?)?;
        entry.parts.iter().find(|p| p.range.contains(addr))
    }
}
