//! The paper's question: when is remote memory better than swap?
//!
//! A program works on more than its node's memory holds. Either the rest lies in remote
//! memory, and the accesses that go there take their latency; or it lies in swap, and the
//! pages in use come and stay. Both are simulated with the same accesses. With a blocking
//! processor their times are sums, so there is one remote latency at which they are equal:
//! remote memory that is faster is better than that swap.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde::Serialize;

use crate::engine::random::Random;
use crate::engine::{Ps, Summary};
use crate::models::memory::{
    Access, AccessKind, CacheConfig, Config, Loop, Medium, MemoryError, MemorySystem, Paging,
    Placement, Region, RegionKind, Strided, Totals, Watch,
};

use super::scenario::Media;

/// How a program goes through its working set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// From begin to end, again and again, changing every word.
    Sweep,
    /// A word anywhere; every fourth access is a store.
    Random,
    /// As random, but nine accesses of ten go to a tenth of the pages.
    Skewed,
}

impl Pattern {
    /// All, with their names.
    pub const ALL: [(&str, Pattern); 3] = [
        ("sweep", Pattern::Sweep),
        ("random", Pattern::Random),
        ("skewed", Pattern::Skewed),
    ];
}

/// Where pages or lines go that the memory has no room for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// What it is.
    pub name: &'static str,
    /// What it costs.
    pub cost: DeviceCost,
}

/// The costs of using a device.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DeviceCost {
    /// A page has to be brought in; what a page fault costs is part of it.
    Page {
        /// Bringing it in.
        page_in: Ps,
        /// Writing it out.
        page_out: Ps,
    },
    /// The processor loads lines from it.
    Line(Ps),
}

/// Devices of the tables. Their sources are in `docs/sim/pgas.md`: the paper's disk is
/// published, the others are **assumed**.
pub const DEVICES: [Device; 5] = [
    page_device("disk", 10_000_000, 10_000_000),
    page_device("the paper's disk", 45_600, 45_600),
    page_device("SSD", 81_000, 21_000),
    page_device("compressed memory", 2_700, 4_000),
    Device {
        name: "CXL",
        cost: DeviceCost::Line(Ps::from_ns(250)),
    },
];

const fn page_device(name: &'static str, page_in_ns: u64, page_out_ns: u64) -> Device {
    Device {
        name,
        cost: DeviceCost::Page {
            page_in: Ps::from_ns(page_in_ns),
            page_out: Ps::from_ns(page_out_ns),
        },
    }
}

/// The accesses of a program, with swap and with remote memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakEven {
    /// Lines that went to or came from memory.
    pub transactions: u64,
    /// Of them, those that went to remote memory where there is some.
    pub remote_reads: u64,
    /// As `remote_reads`, written.
    pub remote_writes: u64,
    /// Pages that swap brought in.
    pub page_ins: u64,
    /// Pages that swap wrote out.
    pub page_outs: u64,
    /// A line of the node's own memory, in ns.
    pub local_ns: f64,
    /// The cost of the simulations.
    pub summaries: [Summary; 2],
}

impl BreakEven {
    /// Share of the transactions that swap finds in memory.
    pub fn hit_rate(&self) -> f64 {
        1.0 - self.page_ins as f64 / self.transactions.max(1) as f64
    }

    /// Mean of an access to the part that is remote at which the program is as fast as with
    /// this device.
    pub fn latency_ns(&self, cost: DeviceCost) -> f64 {
        match cost {
            DeviceCost::Line(latency) => latency.as_ns(),
            DeviceCost::Page { page_in, page_out } => {
                let swap_ns = self.page_ins as f64 * page_in.as_ns()
                    + self.page_outs as f64 * page_out.as_ns();
                self.local_ns + swap_ns / self.remote().max(1) as f64
            }
        }
    }

    /// Mean of an access to remote memory of this medium.
    pub fn remote_ns(&self, medium: &Medium, line_bytes: u64) -> f64 {
        let [read, write] = [medium.line_read(line_bytes), medium.line_write(line_bytes)];
        let sum =
            self.remote_reads as f64 * read.as_ns() + self.remote_writes as f64 * write.as_ns();
        sum / self.remote().max(1) as f64
    }

    fn remote(&self) -> u64 {
        self.remote_reads + self.remote_writes
    }
}

/// Memory of the node in the tables, and its cache: small, because only their ratio to the
/// working set matters.
const MEMORY_BYTES: u64 = 1 << 20;
const CACHE: CacheConfig = CacheConfig {
    bytes: 64 << 10,
    ways: 4,
    hit: Ps::ZERO,
};
/// Accesses of the random patterns that count. As many warm up.
const ACCESSES: u64 = 150_000;
/// Sweeps that count. One warms up.
const SWEEPS: u64 = 2;

/// Runs a program on `working_set_bytes` in a node with `memory_bytes` of memory, once with
/// swap and once with remote memory for the rest. `base` gives everything but the regions.
///
/// # Errors
/// [`MemoryError`]: sizes that cannot be, or the run was ended.
pub fn break_even(
    base: &Config,
    pattern: Pattern,
    memory_bytes: u64,
    working_set_bytes: u64,
    local: Ps,
    watch: Watch<'_>,
) -> Result<BreakEven, MemoryError> {
    let near = Medium::uniform(local);
    let region = |owner: &str, kind, bytes| Region::new(owner, kind, bytes, near);
    let swap = Region {
        paging: Some(Paging {
            resident_bytes: memory_bytes,
            // Counted, and charged afterwards.
            page_in: Ps::ZERO,
            page_out: Ps::ZERO,
        }),
        ..region("swap", RegionKind::Swap, working_set_bytes)
    };
    let mut swapped = MemorySystem::new(Config {
        regions: vec![swap],
        ..base.clone()
    })?;
    let swap = difference(&mut swapped, pattern, working_set_bytes, watch)?;
    let beyond = working_set_bytes.saturating_sub(memory_bytes);
    let beyond = beyond.div_ceil(base.page_bytes.max(1)).max(1) * base.page_bytes;
    let mut spread = MemorySystem::new(Config {
        regions: vec![
            region("node", RegionKind::Local, memory_bytes),
            region("another node", RegionKind::Remote, beyond),
        ],
        placement: Placement::Spread,
        ..base.clone()
    })?;
    let all = difference(&mut spread, pattern, working_set_bytes, watch)?;
    let (own, all) = (all.own, all.all);
    Ok(BreakEven {
        transactions: swap.all.memory.reads + swap.all.memory.writes,
        remote_reads: all.memory.reads - own.0,
        remote_writes: all.memory.writes - own.1,
        page_ins: swap.all.memory.page_ins,
        page_outs: swap.all.memory.page_outs,
        local_ns: local.as_ns(),
        summaries: [swapped.summary(), spread.summary()],
    })
}

/// The counts of the measured part of a run.
struct Seen {
    all: Totals,
    /// Reads and writes of the first region.
    own: (u64, u64),
}

fn difference(
    memory: &mut MemorySystem,
    pattern: Pattern,
    working_set_bytes: u64,
    watch: Watch<'_>,
) -> Result<Seen, MemoryError> {
    memory.place(0, working_set_bytes)?;
    let own = |memory: &MemorySystem| {
        let first = memory.regions().first().copied().unwrap_or_default();
        (first.reads, first.writes)
    };
    let mut random = Random::new(0x5eed);
    run(memory, pattern, working_set_bytes, 1, &mut random, watch)?;
    let (before, own_before) = (memory.totals(), own(memory));
    run(
        memory,
        pattern,
        working_set_bytes,
        SWEEPS,
        &mut random,
        watch,
    )?;
    memory.drain();
    let (after, own_after) = (memory.totals(), own(memory));
    let mut all = after;
    all.touches -= before.touches;
    all.memory.reads -= before.memory.reads;
    all.memory.writes -= before.memory.writes;
    all.memory.page_ins -= before.memory.page_ins;
    all.memory.page_outs -= before.memory.page_outs;
    let own = (own_after.0 - own_before.0, own_after.1 - own_before.1);
    Ok(Seen { all, own })
}

fn run(
    memory: &mut MemorySystem,
    pattern: Pattern,
    working_set_bytes: u64,
    sweeps: u64,
    random: &mut Random,
    watch: Watch<'_>,
) -> Result<(), MemoryError> {
    const WORD: u64 = 8;
    let access = |address, kind| Access {
        address,
        bytes: WORD,
        kind,
    };
    if pattern == Pattern::Sweep {
        let body = [AccessKind::Load, AccessKind::Store].map(|kind| Strided {
            first: access(0, kind),
            stride_bytes: WORD,
        });
        let program = Loop {
            body: &body,
            iterations: working_set_bytes / WORD,
            work: Ps::ZERO,
        };
        return (0..sweeps).try_for_each(|_| memory.run(&program, watch));
    }
    let words = working_set_bytes / WORD;
    for count in 0..ACCESSES {
        let within = match pattern == Pattern::Skewed && !count.is_multiple_of(10) {
            true => (words / 10).max(1),
            false => words.max(1),
        };
        let kind = match count % 4 {
            3 => AccessKind::Store,
            _ => AccessKind::Load,
        };
        memory.access(access(random.below(within) * WORD, kind))?;
        memory.look(watch)?;
    }
    Ok(())
}

/// Break-even latencies by how often swap finds a page in memory, if all data is remote
/// otherwise and no page has to be written: as Markdown.
pub fn hit_rate_table() -> String {
    let local = Media::PAPER.local.as_ns();
    let mut out = header("pages found in memory");
    for hit_rate in [0.0, 0.9, 0.99, 0.999, 0.9999, 0.99999] {
        let latency = |device: &Device| match device.cost {
            DeviceCost::Page { page_in, .. } => local + (1.0 - hit_rate) * page_in.as_ns(),
            DeviceCost::Line(line) => line.as_ns(),
        };
        let name = format!("{} %", (hit_rate * 1e7_f64).round() / 1e5);
        row(&mut out, &name, DEVICES.iter().map(latency));
    }
    out
}

/// Break-even latencies by pattern and working set, simulated: as Markdown.
///
/// # Errors
/// [`MemoryError`] if a run does not come to its end.
pub fn working_set_table() -> Result<String, MemoryError> {
    let base = Config {
        caches: vec![CACHE],
        ..Config::default()
    };
    let mut out = header("pattern, working set over memory, hits, remote of the paper");
    let go_on: Watch<'_> = &|_| ControlFlow::Continue(());
    for (name, pattern) in Pattern::ALL {
        // In quarters of the memory.
        for quarters in [5, 8, 16, 64] {
            let working_set = MEMORY_BYTES / 4 * quarters;
            let local = Media::PAPER.local;
            let found = break_even(&base, pattern, MEMORY_BYTES, working_set, local, go_on)?;
            let title = format!(
                "{name}, {}, {:.2} %, {:.0} ns",
                quarters as f64 / 4.0,
                found.hit_rate() * 100.0,
                found.remote_ns(&Media::PAPER.remote, base.line_bytes),
            );
            let latencies = DEVICES.iter().map(|device| found.latency_ns(device.cost));
            row(&mut out, &title, latencies);
        }
    }
    Ok(out)
}

fn header(first: &str) -> String {
    let names: Vec<&str> = DEVICES.iter().map(|device| device.name).collect();
    let rule = "---:|".repeat(names.len());
    format!("| {first} | {} |\n|---|{rule}\n", names.join(" | "))
}

/// Latencies in ns to three digits.
fn row(out: &mut String, title: &str, latencies_ns: impl Iterator<Item = f64>) {
    let _ = write!(out, "| {title} |");
    for ns in latencies_ns {
        let unit = 10_f64.powi(ns.max(1.0).log10() as i32 - 2).max(1.0);
        // Writing to a String cannot fail.
        let _ = write!(out, " {:.0} ns |", (ns / unit).round() * unit);
    }
    out.push('\n');
}
