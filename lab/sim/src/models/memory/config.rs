//! The parts of a memory system.

use serde::{Deserialize, Serialize};

use crate::engine::Ps;

use super::MemoryError;

const MIB: u64 = 1 << 20;
/// As many parts of a line transaction are a whole one.
pub(super) const MILLION: u64 = 1_000_000;

/// Everything that a run depends on, beside the accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bytes of a line: what caches hold and memory moves.
    pub line_bytes: u64,
    /// Caches, next to the processor first. None: every access goes to memory, by lines.
    pub caches: Vec<CacheConfig>,
    /// A store that misses fetches the line. Otherwise it goes past the cache.
    pub write_allocate: bool,
    /// How the processor waits.
    pub processor: ProcessorKind,
    /// Bytes of a page: what regions are dealt out in, and what swap moves.
    pub page_bytes: u64,
    /// Which region a page comes from.
    pub placement: Placement,
    /// The memory, in the order of its addresses.
    pub regions: Vec<Region>,
    /// Accesses that a transaction of a line is charged as, in millionths.
    pub transactions_per_million_lines: u64,
    /// A run is given up after so many transactions.
    pub events_max: u64,
}

/// A cache: set-associative, the least recently used line leaves, written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheConfig {
    /// Size.
    pub bytes: u64,
    /// Lines of a set.
    pub ways: u64,
    /// What a hit costs the processor.
    pub hit: Ps,
}

/// How the processor waits for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorKind {
    /// It does nothing until a transaction is over, write-backs included.
    Blocking,
    /// It goes on while at most so many transactions are on their way, as if no access
    /// depended on an earlier one. It always waits for page faults.
    Overlapped {
        /// Transactions.
        in_flight: u32,
    },
}

/// Where the next page that a program touches for the first time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The region of which the largest part is free: all fill alike, equal ones in turn.
    Spread,
    /// The first region until it is full, then the next one.
    Contiguous,
}

/// The kind of a region, for reports and for [`Region::paging`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RegionKind {
    /// Memory of the own processor.
    Local,
    /// Memory of another processor on the same board.
    SameBoard,
    /// Memory on another board.
    Remote,
    /// A device.
    Swap,
}

/// A part of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Whose it is.
    pub owner: String,
    /// What it is.
    pub kind: RegionKind,
    /// Size.
    pub bytes: u64,
    /// What an access costs; of a region with paging, one to a resident page.
    pub medium: Medium,
    /// Its pages have to be brought in before they can be accessed.
    pub paging: Option<Paging>,
}

/// What accesses cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Medium {
    /// An operation that reads.
    pub read: Ps,
    /// Bytes that it reads at most: a line takes several, one after the other.
    pub read_bytes: u64,
    /// An operation that writes.
    pub write: Ps,
    /// Bytes that it writes at most.
    pub write_bytes: u64,
}

/// Swap in pages, with the pages that are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Memory that holds pages of all such regions: the largest value counts.
    pub resident_bytes: u64,
    /// Bringing a page in, with what the operating system does for it.
    pub page_in: Ps,
    /// Writing a page that was written to before its place is taken.
    pub page_out: Ps,
}

impl Default for Config {
    /// Lines of 64 bytes, one cache of 512 KiB in 4 ways, pages of 8 KiB, a blocking
    /// processor; no regions yet.
    fn default() -> Self {
        Config {
            line_bytes: 64,
            caches: vec![CacheConfig {
                bytes: MIB / 2,
                ways: 4,
                hit: Ps::ZERO,
            }],
            write_allocate: true,
            processor: ProcessorKind::Blocking,
            page_bytes: 8 << 10,
            placement: Placement::Spread,
            regions: Vec::new(),
            transactions_per_million_lines: MILLION,
            events_max: u64::MAX,
        }
    }
}

impl Medium {
    /// Reads and writes of any size at the same cost.
    pub const fn uniform(latency: Ps) -> Medium {
        Medium {
            read: latency,
            read_bytes: u64::MAX,
            write: latency,
            write_bytes: u64::MAX,
        }
    }

    /// Reading a line.
    pub fn line_read(&self, line_bytes: u64) -> Ps {
        operations(self.read, line_bytes, self.read_bytes)
    }

    /// Writing a line.
    pub fn line_write(&self, line_bytes: u64) -> Ps {
        operations(self.write, line_bytes, self.write_bytes)
    }
}

fn operations(each: Ps, line_bytes: u64, bytes: u64) -> Ps {
    Ps(each.0.saturating_mul(line_bytes.div_ceil(bytes.max(1))))
}

impl Region {
    /// Without paging.
    pub fn new(owner: impl Into<String>, kind: RegionKind, bytes: u64, medium: Medium) -> Region {
        Region {
            owner: owner.into(),
            kind,
            bytes,
            medium,
            paging: None,
        }
    }
}

impl Config {
    /// # Errors
    /// [`MemoryError`] names the first thing that cannot be.
    pub(super) fn check(&self) -> Result<(), MemoryError> {
        let (line, page) = (self.line_bytes, self.page_bytes);
        if !line.is_power_of_two() || !(8..=4096).contains(&line) {
            return Err(MemoryError::Line { got: line });
        }
        if !page.is_power_of_two() || !(line..=1 << 30).contains(&page) {
            return Err(MemoryError::Page {
                got: page,
                line_bytes: line,
            });
        }
        for (index, cache) in self.caches.iter().enumerate() {
            let sound = (1..=64).contains(&cache.ways)
                && (1..=1 << 30).contains(&cache.bytes)
                && cache.bytes.is_multiple_of(cache.ways * line);
            if !sound {
                return Err(MemoryError::Cache {
                    level: index + 1,
                    bytes: cache.bytes,
                    ways: cache.ways,
                    line_bytes: line,
                });
            }
        }
        if !(1..=4096).contains(&self.regions.len()) {
            let got = self.regions.len();
            return Err(MemoryError::Regions { got });
        }
        for (index, region) in self.regions.iter().enumerate() {
            if region.bytes == 0 || !region.bytes.is_multiple_of(page) {
                return Err(MemoryError::Region {
                    index,
                    bytes: region.bytes,
                    page_bytes: page,
                });
            }
            if region.medium.read_bytes == 0 || region.medium.write_bytes == 0 {
                return Err(MemoryError::Granularity { index });
            }
            if let Some(paging) = region.paging
                && !(page..=1 << 40).contains(&paging.resident_bytes)
            {
                let got = paging.resident_bytes;
                return Err(MemoryError::Resident { got });
            }
        }
        match self.processor {
            ProcessorKind::Overlapped { in_flight } if !(1..=1024).contains(&in_flight) => {
                Err(MemoryError::InFlight { got: in_flight })
            }
            _ => Ok(()),
        }
    }
}
