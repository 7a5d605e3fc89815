//! Which region holds a page of the program.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::{Config, MemoryError, Placement};

/// Nobody chooses page numbers to do harm, so a multiplication is enough to spread
/// them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageHasher(u64);

pub(super) type PageHash = BuildHasherDefault<PageHasher>;

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        // An odd constant with well-spread bits: the golden ratio.
        let mixed = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// The page table: pages get a region when they are touched first.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    regions: HashMap<u64, u16, PageHash>,
    /// Pages left in each region.
    free: Vec<u64>,
    /// Pages of each region.
    sizes: Vec<u64>,
    placement: Placement,
    all: u64,
    page_bytes: u64,
}

impl Pages {
    pub(super) fn new(config: &Config) -> Pages {
        let free = config.regions.iter().map(|r| r.bytes / config.page_bytes);
        let free: Vec<u64> = free.collect();
        Pages {
            regions: HashMap::default(),
            placement: config.placement,
            all: free.iter().sum(),
            page_bytes: config.page_bytes,
            sizes: free.clone(),
            free,
        }
    }

    /// The region of a page. A new page gets one now.
    #[inline]
    pub(super) fn region(&mut self, page: u64) -> Result<u16, MemoryError> {
        match self.regions.get(&page) {
            Some(region) => Ok(*region),
            None => self.place(page),
        }
    }

    #[cold]
    fn place(&mut self, page: u64) -> Result<u16, MemoryError> {
        let with_room = self.free.iter().zip(&self.sizes).enumerate();
        let mut with_room = with_room.filter(|(_, (free, _))| **free > 0);
        let found = match self.placement {
            Placement::Contiguous => with_room.next(),
            // The one of which the largest part is free, by cross multiplication; the first
            // of several.
            Placement::Spread => with_room.reduce(|best, next| {
                let ((_, (free, size)), (_, (next_free, next_size))) = (best, next);
                let [ours, theirs] = [(free, next_size), (next_free, size)]
                    .map(|(free, size)| u128::from(*free) * u128::from(*size));
                if theirs > ours { next } else { best }
            }),
        };
        let Some((region, _)) = found else {
            return Err(MemoryError::OutOfMemory {
                pages: self.all,
                page_bytes: self.page_bytes,
            });
        };
        self.free[region] -= 1;
        // The configuration has at most 4096 regions.
        let region = region as u16;
        self.regions.insert(page, region);
        Ok(region)
    }

    /// Gives regions to all pages of `first ..= last`, bytes.
    pub(super) fn place_all(&mut self, first: u64, last: u64) -> Result<(), MemoryError> {
        let (from, to) = (first / self.page_bytes, last / self.page_bytes);
        // Otherwise a stride over half the address space would need very long to fail.
        if to - from >= self.all {
            return Err(MemoryError::OutOfMemory {
                pages: self.all,
                page_bytes: self.page_bytes,
            });
        }
        for page in from..=to {
            self.region(page)?;
        }
        Ok(())
    }

    /// How many pages have a region.
    pub(super) fn placed(&self) -> u64 {
        self.regions.len() as u64
    }
}
