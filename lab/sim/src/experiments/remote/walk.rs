//! The accesses of a processor: in order, by chance, of STREAM, of a recorded trace.

use serde::Serialize;

use crate::engine::{Ps, random::Random};
use crate::experiments::stream::Kernel;
use crate::models::memory::trace::{Event, Format};
use crate::models::memory::{
    Access, AccessKind, CacheConfig, Config, Line, Medium, MemoryError, Misses, Region, RegionKind,
};

/// What every processor does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Walk {
    /// Processors that walk.
    pub processors: u64,
    /// Own memory that belongs to what a processor walks through, before its regions.
    pub local_bytes: u64,
    /// Bytes that a load from another host asks for at once: a longer one becomes several. One
    /// from the own memory moves a line.
    pub read_bytes: u64,
    /// Loads of a processor that may be under way.
    pub in_flight: u64,
    /// Its work for each access of the program, in picoseconds; of a trace, for each instruction.
    pub work_ps: u64,
    /// Which accesses.
    #[serde(flatten)]
    pub accesses: Accesses,
}

/// The order of accesses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "pattern", rename_all = "kebab-case")]
pub enum Accesses {
    /// Loads one behind the other, through all of the memory and again. No cache.
    Sequential {
        /// Bytes of a load.
        size_bytes: u64,
        /// How many.
        loads: u64,
    },
    /// Loads anywhere. No cache.
    Random {
        /// Bytes of a load.
        size_bytes: u64,
        /// How many.
        loads: u64,
        /// Where the choice begins.
        seed: u64,
    },
    /// Functions of STREAM, once each, through a cache; pages spread over the memory.
    Stream {
        /// Which.
        kernels: Vec<Kernel>,
        /// Elements of each of the three arrays.
        elements: u64,
        /// The cache and the pages.
        #[serde(flatten)]
        cache: Cache,
    },
    /// A recorded trace, through a cache; pages spread over the memory.
    Trace {
        /// Where the trace is; no part of the configuration.
        #[serde(skip)]
        path: String,
        /// How it is written.
        format: Format,
        /// FNV-1a over the trace, once it was read.
        #[serde(skip_serializing_if = "Option::is_none")]
        trace_hash: Option<String>,
        /// The cache and the pages.
        #[serde(flatten)]
        cache: Cache,
    },
}

/// The cache of a processor, and the pages that are dealt out to the parts of its memory. A smaller
/// problem is like a larger one if both are made smaller with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// Size of the cache, which has four ways.
    pub cache_bytes: u64,
    /// Size of a page.
    pub page_bytes: u64,
}

impl Default for Cache {
    /// Assumed, as in the memory systems of the PGAS cluster.
    fn default() -> Cache {
        Cache {
            cache_bytes: 512 << 10,
            page_bytes: 8 << 10,
        }
    }
}

impl Cache {
    /// With the memory that a processor walks through.
    pub(in crate::experiments) fn config(self, ranges: &[Range]) -> Config {
        let regions = ranges.iter().map(|range| {
            // The cost of a line does not matter here.
            let medium = Medium::uniform(Ps::ZERO);
            Region::new("", RegionKind::Remote, range.bytes, medium)
        });
        Config {
            regions: regions.collect(),
            page_bytes: self.page_bytes,
            caches: vec![CacheConfig {
                bytes: self.cache_bytes,
                ways: 4,
                hit: Ps::ZERO,
            }],
            ..Config::default()
        }
    }
}

/// What a processor does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something without memory.
    Work(Ps),
    /// Loads.
    Load {
        /// Where, among the processor's addresses.
        address: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// Stores.
    Store {
        /// Where.
        address: u64,
        /// How many bytes.
        bytes: u64,
    },
}

/// A part of the memory that a processor walks through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub base: u64,
    /// Its size.
    pub bytes: u64,
    /// The host whose memory it is.
    pub owner: usize,
}

impl Range {
    /// Whether the address lies in it.
    pub fn holds(&self, address: u64) -> bool {
        address
            .checked_sub(self.base)
            .is_some_and(|offset| offset < self.bytes)
    }
}

/// Loads in order or by chance for processor `index`; each begins at a place of its own.
/// `None` for accesses that go through a cache.
pub(in crate::experiments) fn plain(
    walk: &Walk,
    index: u64,
    ranges: Vec<Range>,
) -> Option<Box<dyn Iterator<Item = Step>>> {
    let (size, loads) = match walk.accesses {
        Accesses::Sequential { size_bytes, loads } => (size_bytes, loads),
        Accesses::Random {
            size_bytes, loads, ..
        } => (size_bytes, loads),
        Accesses::Stream { .. } | Accesses::Trace { .. } => return None,
    };
    let places: u64 = ranges.iter().map(|range| range.bytes / size).sum();
    let work = Ps(walk.work_ps);
    let mut random = match walk.accesses {
        Accesses::Random { seed, .. } => Some(Random::new(seed.wrapping_add(index << 32))),
        _ => None,
    };
    let first = places / walk.processors.max(1) * index;
    let steps = (0..loads).flat_map(move |load| {
        let place = match &mut random {
            Some(random) => random.below(places),
            None => (first + load) % places.max(1),
        };
        let address = address_of(&ranges, place, size);
        let load = address.map(|address| Step::Load {
            address,
            bytes: size,
        });
        [Some(Step::Work(work)), load].into_iter().flatten()
    });
    Some(Box::new(steps))
}

/// The address of the `place`-th piece of `size` bytes.
fn address_of(ranges: &[Range], mut place: u64, size: u64) -> Option<u64> {
    for range in ranges {
        let here = range.bytes / size;
        if place < here {
            return Some(range.base + place * size);
        }
        place -= here;
    }
    None
}

/// Turns accesses of a program into steps for those that miss its caches.
pub(in crate::experiments) struct Cached {
    misses: Misses,
    ranges: Vec<Range>,
    lines: Vec<Line>,
    work: Ps,
}

impl Cached {
    pub(in crate::experiments) fn new(
        cache: Cache,
        ranges: Vec<Range>,
    ) -> Result<Cached, MemoryError> {
        Ok(Cached {
            misses: Misses::new(&cache.config(&ranges))?,
            ranges,
            lines: Vec::new(),
            work: Ps::ZERO,
        })
    }

    /// Work that comes before the next line.
    pub(in crate::experiments) fn work(&mut self, time: Ps) {
        self.work += time;
    }

    /// An access; its steps are added to `steps`.
    pub(in crate::experiments) fn access(
        &mut self,
        access: Access,
        steps: &mut Vec<Step>,
    ) -> Result<(), MemoryError> {
        let hits = self.misses.access(access, &mut self.lines)?;
        self.work += hits;
        for line in self.lines.drain(..) {
            let address = self.ranges[line.region].base + line.offset;
            let bytes = Config::default().line_bytes;
            if self.work > Ps::ZERO {
                steps.push(Step::Work(std::mem::take(&mut self.work)));
            }
            steps.push(match line.kind {
                AccessKind::Load => Step::Load { address, bytes },
                AccessKind::Store => Step::Store { address, bytes },
            });
        }
        Ok(())
    }

    /// Work behind the last line.
    pub(in crate::experiments) fn finish(&mut self, steps: &mut Vec<Step>) {
        if self.work > Ps::ZERO {
            steps.push(Step::Work(std::mem::take(&mut self.work)));
        }
    }

    /// One event of a trace; an instruction takes `instruction`.
    pub(in crate::experiments) fn event(
        &mut self,
        event: Event,
        instruction: Ps,
        steps: &mut Vec<Step>,
    ) -> Result<(), MemoryError> {
        match event {
            Event::Access(access) => self.access(access, steps),
            Event::Instructions(count) => {
                self.work(Ps(instruction.0.saturating_mul(count)));
                Ok(())
            }
        }
    }
}

/// The steps of functions of STREAM, in order. Element by element: each access takes `work`.
///
/// # Errors
/// [`MemoryError`] if the arrays do not fit.
pub(in crate::experiments) fn stream(
    (kernels, elements): (&[Kernel], u64),
    cache: Cache,
    work: Ps,
    ranges: Vec<Range>,
) -> Result<Vec<Step>, MemoryError> {
    let mut cached = Cached::new(cache, ranges)?;
    let mut steps = Vec::new();
    for kernel in kernels {
        for access in kernel.accesses_of(elements) {
            cached.work(work);
            cached.access(access, &mut steps)?;
        }
    }
    cached.finish(&mut steps);
    Ok(steps)
}
