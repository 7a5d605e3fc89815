//! The accesses of a program that miss its caches: lines, and where in which region they lie.

use std::collections::HashMap;

use crate::engine::Ps;

use super::cache::{Caches, Transaction};
use super::pages::{PageHash, Pages};
use super::{Access, AccessKind, Config, MemoryError};

/// A line between the caches and a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The region, by its place in the configuration.
    pub region: usize,
    /// Its first byte in the region.
    pub offset: u64,
    /// Load: it comes to the caches. Store: it is written back, or written past them.
    pub kind: AccessKind,
}

/// The caches and the page table of a [`MemorySystem`](super::MemorySystem), for models that say
/// themselves what a line costs.
#[derive(Clone, Debug)]
pub struct Misses {
    caches: Caches,
    pages: Pages,
    /// Region and first byte in it, by page.
    frames: HashMap<u64, (u16, u64), PageHash>,
    /// Bytes of each region that have pages.
    used: Vec<u64>,
    line_bytes: u64,
    page_bytes: u64,
    transactions: Vec<Transaction>,
}

impl Misses {
    /// Caches are empty, no page has a region.
    ///
    /// # Errors
    /// [`MemoryError`] names what is wrong with the configuration.
    pub fn new(config: &Config) -> Result<Self, MemoryError> {
        config.check()?;
        Ok(Self {
            caches: Caches::new(&config.caches, config.write_allocate, config.line_bytes),
            pages: Pages::new(config),
            frames: HashMap::default(),
            used: vec![0; config.regions.len()],
            line_bytes: config.line_bytes,
            page_bytes: config.page_bytes,
            transactions: Vec::new(),
        })
    }

    /// Sends an access through the caches; the lines that it moves are added to `lines`, in order.
    /// Returns what hits cost.
    ///
    /// # Errors
    /// [`MemoryError`]: an impossible access, or no region has a page left.
    pub fn access(&mut self, access: Access, lines: &mut Vec<Line>) -> Result<Ps, MemoryError> {
        let (first, last) = (access.address, access.last()?);
        let store = access.kind == AccessKind::Store;
        let mut hits = Ps::ZERO;
        let mut transactions = std::mem::take(&mut self.transactions);
        for line in first / self.line_bytes..=last / self.line_bytes {
            hits += self.caches.access(line, store, &mut |transaction| {
                transactions.push(transaction)
            });
        }
        let found = transactions.drain(..).try_for_each(|transaction| {
            lines.push(self.line(transaction)?);
            Ok(())
        });
        self.transactions = transactions;
        found.map(|()| hits)
    }

    fn line(&mut self, transaction: Transaction) -> Result<Line, MemoryError> {
        let address = transaction.line().wrapping_mul(self.line_bytes);
        let page = address / self.page_bytes;
        let (region, first) = match self.frames.get(&page) {
            Some(frame) => *frame,
            None => {
                let region = self.pages.region(page)?;
                // A page table names regions of the configuration.
                let used = &mut self.used[usize::from(region)];
                let frame = (region, *used);
                *used += self.page_bytes;
                self.frames.insert(page, frame);
                frame
            }
        };
        Ok(Line {
            region: usize::from(region),
            offset: first + address % self.page_bytes,
            kind: match transaction {
                Transaction::Read(_) => AccessKind::Load,
                Transaction::Write(_) => AccessKind::Store,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Medium, MemorySystem, Region, RegionKind};
    use super::*;
    use proptest::prelude::*;

    fn config() -> Config {
        let region = |bytes| {
            let medium = Medium::uniform(Ps::ZERO);
            Region::new("n", RegionKind::Remote, bytes, medium)
        };
        Config {
            regions: vec![region(64 << 10), region(128 << 10)],
            caches: vec![super::super::CacheConfig {
                bytes: 4096,
                ways: 2,
                hit: Ps::ZERO,
            }],
            ..Config::default()
        }
    }

    proptest! {
        /// The memory system counts the lines that come out here, region by region.
        #[test]
        fn lines_are_those_of_the_memory_system(
            accesses in proptest::collection::vec((0..190_000_u64, 1..200_u64, any::<bool>()), 1..300)
        ) {
            let mut misses = Misses::new(&config()).unwrap();
            let mut system = MemorySystem::new(config()).unwrap();
            let mut lines = Vec::new();
            for (address, bytes, store) in accesses {
                let kind = if store { AccessKind::Store } else { AccessKind::Load };
                let access = Access { address, bytes, kind };
                misses.access(access, &mut lines).unwrap();
                system.access(access).unwrap();
            }
            for (region, counters) in system.regions().iter().enumerate() {
                let of = |kind| {
                    let here = lines.iter().filter(|line| line.region == region);
                    here.filter(|line| line.kind == kind).count() as u64
                };
                prop_assert_eq!(of(AccessKind::Load), counters.reads);
                prop_assert_eq!(of(AccessKind::Store), counters.writes);
            }
            let sizes = config().regions;
            prop_assert!(lines.iter().all(|line| line.offset + 64 <= sizes[line.region].bytes));
        }
    }
}
