//! The memory system.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::engine::{EventHash, Ps, Summary};

use super::cache::{Caches, Transaction};
use super::config::MILLION;
use super::pages::Pages;
use super::processor::Processor;
use super::residency::{Residency, Touched};
use super::{Access, AccessKind, Config, MemoryError, Paging};

/// Shown every few milliseconds how far a run has come; `Break` ends it.
pub type Watch<'w> = &'w dyn Fn(&Summary) -> ControlFlow<()>;

/// Steps between two looks at what watches a run.
const STEPS_PER_LOOK: u32 = 1 << 16;

/// The counts of one region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionCounters {
    /// Lines read from it.
    pub reads: u64,
    /// Lines written to it.
    pub writes: u64,
    /// Pages brought in.
    pub page_ins: u64,
    /// Pages written out, to make room.
    pub page_outs: u64,
}

/// The counts of all regions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Lines that the program has touched; each touch counts.
    pub touches: u64,
    /// Sums over the regions.
    pub memory: RegionCounters,
    /// Pages of the program.
    pub pages: u64,
}

/// See the [module text](super).
#[derive(Clone, Debug)]
pub struct MemorySystem {
    pub(super) caches: Caches,
    pub(super) memory: Memory,
    pub(super) line_shift: u32,
    pub(super) touches: u64,
    /// The result of an access, before it is applied.
    pub(super) items: Vec<Item>,
    steps_to_look: u32,
    started: Instant,
}

/// A piece of what the processor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Work(Ps),
    Transact(Transaction),
}

impl Item {
    /// The same, `lines` lines on.
    pub(super) fn shifted(self, lines: u64) -> Item {
        match self {
            Self::Work(time) => Self::Work(time),
            Self::Transact(transaction) => Self::Transact(transaction.shifted(lines)),
        }
    }
}

/// Everything behind the caches, and the clock.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    processor: Processor,
    pub(super) pages: Pages,
    regions: Vec<Costs>,
    counters: Vec<RegionCounters>,
    residency: Option<Residency>,
    /// From the number of a line to that of its page.
    pub(super) page_shift: u32,
    pub(super) events: u64,
    pub(super) events_max: u64,
}

/// The costs of a region.
#[derive(Clone, Copy, Debug)]
struct Costs {
    read: Ps,
    write: Ps,
    paging: Option<Paging>,
}

impl MemorySystem {
    /// Caches are empty, no page is resident.
    ///
    /// # Errors
    /// [`MemoryError`] names what is wrong with the configuration.
    pub fn new(config: Config) -> Result<Self, MemoryError> {
        config.check()?;
        let line = config.line_bytes;
        let charged = |time: Ps| {
            let parts = u128::from(time.0) * u128::from(config.transactions_per_million_lines);
            let time = (parts + u128::from(MILLION / 2)) / u128::from(MILLION);
            Ps(u64::try_from(time).unwrap_or(u64::MAX))
        };
        let costs = config.regions.iter().map(|region| Costs {
            read: charged(region.medium.line_read(line)),
            write: charged(region.medium.line_write(line)),
            paging: region.paging,
        });
        let paging = config.regions.iter().filter_map(|region| region.paging);
        let resident = paging.map(|paging| paging.resident_bytes).max();
        Ok(Self {
            caches: Caches::new(&config.caches, config.write_allocate, line),
            memory: Memory {
                processor: Processor::new(config.processor),
                pages: Pages::new(&config),
                regions: costs.collect(),
                counters: vec![RegionCounters::default(); config.regions.len()],
                // At most 1 TiB of pages of at least 8 bytes.
                residency: resident
                    .map(|bytes| Residency::new((bytes / config.page_bytes) as usize)),
                page_shift: config.page_bytes.trailing_zeros() - line.trailing_zeros(),
                events: 0,
                events_max: config.events_max,
            },
            line_shift: line.trailing_zeros(),
            touches: 0,
            items: Vec::new(),
            steps_to_look: STEPS_PER_LOOK,
            started: Instant::now(),
        })
    }

    /// Gives regions to the pages of these bytes, in the order of their addresses, as an
    /// allocation that is filled from its begin does.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`], [`MemoryError::AddressRange`].
    pub fn place(&mut self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        let kind = AccessKind::Load;
        let last = Access {
            address,
            bytes,
            kind,
        }
        .last()?;
        self.memory.pages.place_all(address, last)
    }

    /// One access.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`], [`MemoryError::AddressRange`],
    /// [`MemoryError::EventsSpent`].
    pub fn access(&mut self, access: Access) -> Result<(), MemoryError> {
        let last = access.last()? >> self.line_shift;
        for line in access.address >> self.line_shift..=last {
            self.touch(line, access.kind);
            self.apply()?;
        }
        Ok(())
    }

    /// The processor does something else for `time`.
    pub fn work(&mut self, time: Ps) {
        self.memory.processor.work(time);
    }

    /// The processor waits for everything that is on its way.
    pub fn drain(&mut self) {
        self.memory.processor.drain();
    }

    /// The processor's clock.
    pub fn time(&self) -> Ps {
        self.memory.processor.now()
    }

    /// The counts of each region, in the order of the configuration.
    pub fn regions(&self) -> &[RegionCounters] {
        &self.memory.counters
    }

    /// The counts of all regions together.
    pub fn totals(&self) -> Totals {
        let mut memory = RegionCounters::default();
        for region in &self.memory.counters {
            memory.reads += region.reads;
            memory.writes += region.writes;
            memory.page_ins += region.page_ins;
            memory.page_outs += region.page_outs;
        }
        Totals {
            touches: self.touches,
            memory,
            pages: self.memory.pages.placed(),
        }
    }

    /// Hash over the clock, the counters, the caches and the resident pages. Equal runs
    /// have equal ones; how a run was computed is no part of it.
    pub fn state_hash(&self) -> EventHash {
        let mut hash = 0_u64;
        let mut add = |value: u64| {
            // Odd constants with well-spread bits, as in `EventHash::add`.
            let mixed = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash = (hash.rotate_left(29) ^ mixed ^ mixed >> 32).wrapping_mul(0x8ebc_6af0_9c88_c6e3);
        };
        add(self.time().0);
        add(self.touches);
        add(self.memory.events);
        for region in &self.memory.counters {
            [
                region.reads,
                region.writes,
                region.page_ins,
                region.page_outs,
            ]
            .into_iter()
            .for_each(&mut add);
        }
        self.caches.places().for_each(&mut add);
        for (page, dirty) in self.memory.residency.iter().flat_map(Residency::pages) {
            add(page << 1 | u64::from(dirty));
        }
        EventHash(hash)
    }

    /// The summary of the run: transactions count as events, and the hash is that of
    /// the [state](Self::state_hash).
    pub fn summary(&self) -> Summary {
        Summary {
            hash: self.state_hash(),
            ..self.progress()
        }
    }

    /// The summary without the hash, which takes a walk through the caches.
    fn progress(&self) -> Summary {
        Summary {
            events: self.memory.events,
            virtual_time: self.time(),
            wall: self.started.elapsed(),
            hash: EventHash::default(),
        }
    }

    /// Reports the progress of the run to `watch` now and then.
    ///
    /// # Errors
    /// [`MemoryError::Interrupted`] if it says so.
    #[inline]
    pub fn look(&mut self, watch: Watch<'_>) -> Result<(), MemoryError> {
        self.steps_to_look -= 1;
        if self.steps_to_look > 0 {
            return Ok(());
        }
        self.steps_to_look = STEPS_PER_LOOK;
        match watch(&self.progress()) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(MemoryError::Interrupted {
                events: self.memory.events,
                time: self.time(),
            }),
        }
    }

    /// Sends a line through the caches; what comes of it is in `items`.
    #[inline]
    pub(super) fn touch(&mut self, line: u64, kind: AccessKind) {
        self.touches += 1;
        let items = &mut self.items;
        let store = kind == AccessKind::Store;
        let hit = self.caches.access(line, store, &mut |transaction| {
            items.push(Item::Transact(transaction));
        });
        if hit > Ps::ZERO {
            self.items.push(Item::Work(hit));
        }
    }

    /// Applies `items`, and forgets them.
    pub(super) fn apply(&mut self) -> Result<(), MemoryError> {
        let memory = &mut self.memory;
        self.items.drain(..).try_for_each(|item| memory.apply(item))
    }
}

impl Memory {
    #[inline]
    pub(super) fn apply(&mut self, item: Item) -> Result<(), MemoryError> {
        match item {
            Item::Work(time) => {
                self.processor.work(time);
                Ok(())
            }
            Item::Transact(transaction) => self.transact(transaction),
        }
    }

    fn transact(&mut self, transaction: Transaction) -> Result<(), MemoryError> {
        if self.events == self.events_max {
            return Err(MemoryError::EventsSpent {
                events: self.events,
                time: self.processor.now(),
            });
        }
        let page = transaction.line() >> self.page_shift;
        let region = usize::from(self.pages.region(page)?);
        self.events += 1;
        // A page table names regions of the configuration, and these have both.
        let (costs, counters) = (&self.regions[region], &mut self.counters[region]);
        let write = matches!(transaction, Transaction::Write(_));
        if let (Some(paging), Some(residency)) = (costs.paging, &mut self.residency)
            && let Touched::BroughtIn { dirty_victim } = residency.touch(page, write)
        {
            counters.page_ins += 1;
            self.processor.work(paging.page_in);
            if dirty_victim {
                counters.page_outs += 1;
                self.processor.work(paging.page_out);
            }
        }
        let cost = match write {
            true => {
                counters.writes += 1;
                costs.write
            }
            false => {
                counters.reads += 1;
                costs.read
            }
        };
        self.processor.transact(cost);
        Ok(())
    }

    /// Whether transactions cost the same when the very pages of the last `transactions`
    /// are used again: the processor does not overlap them, and these pages fit together.
    pub(super) fn repeats(&self, transactions: u64) -> bool {
        let fit = |residency: &Residency| transactions <= residency.frames_max() as u64;
        self.processor.blocks() && self.residency.as_ref().is_none_or(fit)
    }

    /// Whether the order of transactions makes no difference.
    pub(super) fn is_sum(&self) -> bool {
        self.processor.blocks() && self.residency.is_none()
    }

    /// An item `rounds` times, each `lines` lines on from the one before.
    pub(super) fn sum(&mut self, item: Item, rounds: u64, lines: u64) -> Result<(), MemoryError> {
        let mut round = 1;
        while round <= rounds {
            let moved = item.shifted(round * lines);
            let left = rounds - round + 1;
            let alike = match moved {
                Item::Work(_) => left,
                Item::Transact(transaction) => {
                    let line = transaction.line();
                    let page_end = line | ((1 << self.page_shift) - 1);
                    ((page_end - line) / lines + 1).min(left)
                }
            };
            self.repeat(moved, alike)?;
            round += alike;
        }
        Ok(())
    }

    /// An item `times` times, where nothing has to be brought in for it.
    pub(super) fn repeat(&mut self, item: Item, times: u64) -> Result<(), MemoryError> {
        let sum = |time: Ps| Ps(time.0.saturating_mul(times));
        let transaction = match item {
            Item::Work(time) => {
                self.processor.work(sum(time));
                return Ok(());
            }
            Item::Transact(transaction) => transaction,
        };
        let page = transaction.line() >> self.page_shift;
        let region = usize::from(self.pages.region(page)?);
        self.events += times;
        let (costs, counters) = (&self.regions[region], &mut self.counters[region]);
        let cost = match transaction {
            Transaction::Read(_) => {
                counters.reads += times;
                costs.read
            }
            Transaction::Write(_) => {
                counters.writes += times;
                costs.write
            }
        };
        self.processor.work(sum(cost));
        Ok(())
    }
}
