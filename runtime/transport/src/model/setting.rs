//! What a run is: the contract of its windows, a processor, a temper and a seed.

use crate::conformance::Random;
use crate::visibility::Visibility;

/// How the processors order what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// Stores leave in order, loads are done in order; a load passes stores, flushes and
    /// `sfence`.
    X86,
    /// Stores leave in any order and loads are done early, but for what acquire, release
    /// and barriers forbid.
    Arm,
}

/// One run.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// What the windows declare, and what the memory behind them is.
    pub visibility: Visibility,
    /// Decides everything that is left open: processor, temper, and each step.
    pub seed: u64,
    /// Lets caches write back lines that nobody has changed. No program that flushes can
    /// stand that, if another host writes the line.
    pub clean_write_backs: bool,
    /// Steps after which a run is taken for one without end.
    pub steps_max: u64,
}

impl Setting {
    /// The run of `seed`.
    pub fn new(visibility: Visibility, seed: u64) -> Self {
        Self {
            visibility,
            seed,
            clean_write_backs: false,
            steps_max: 300_000,
        }
    }

    /// Whose instructions.
    pub fn processor(&self) -> Processor {
        match self.seed % 2 {
            0 => Processor::X86,
            _ => Processor::Arm,
        }
    }

    /// Whether Arm's cache maintenance takes its time, and whether an x86 has `clwb`, which may: every second
    /// run of a temper.
    pub(super) fn late_flushes(&self) -> bool {
        self.seed / (2 * TEMPERS.len() as u64) % 2 == 1
    }

    pub(super) fn temper(&self) -> Temper {
        TEMPERS[(self.seed / 2) as usize % TEMPERS.len()]
    }

    pub(super) fn dice(&self) -> Random {
        Random::new(self.seed.wrapping_mul(0xd134_2543_de82_ef95))
    }
}

/// In which order the 8-byte chunks of a write-combining buffer leave that is not full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunks {
    /// As they lie: the header of a line first.
    HeaderFirst,
    Reversed,
    Any,
}

/// What the hardware likes to do. Each is one in so many steps; 0 is never.
#[derive(Debug, Clone, Copy)]
pub(super) struct Temper {
    pub(super) name: &'static str,
    /// A store leaves its store buffer.
    pub(super) drain: usize,
    /// A write-combining buffer is evicted.
    pub(super) evict: usize,
    pub(super) chunks: Chunks,
    /// A packet arrives.
    pub(super) deliver: usize,
    /// A cache takes a line that nobody has asked for.
    pub(super) fill: usize,
    /// A cache writes a line back, or drops one.
    pub(super) write_back: usize,
    /// A load is done early.
    pub(super) early: usize,
    /// Another PE goes on.
    pub(super) switch: usize,
}

/// A seed has one of these.
const TEMPERS: [Temper; 6] = [
    Temper {
        name: "late and stale for ever",
        drain: 12,
        evict: 0,
        chunks: Chunks::Reversed,
        deliver: 12,
        fill: 0,
        write_back: 0,
        early: 2,
        switch: 3,
    },
    Temper {
        name: "header first",
        drain: 2,
        evict: 3,
        chunks: Chunks::HeaderFirst,
        deliver: 3,
        fill: 8,
        write_back: 8,
        early: 3,
        switch: 2,
    },
    Temper {
        name: "evicts at once, prefetches always",
        drain: 1,
        evict: 1,
        chunks: Chunks::HeaderFirst,
        deliver: 1,
        fill: 1,
        write_back: 2,
        early: 2,
        switch: 4,
    },
    Temper {
        name: "reversed",
        drain: 3,
        evict: 6,
        chunks: Chunks::Reversed,
        deliver: 4,
        fill: 3,
        write_back: 3,
        early: 4,
        switch: 3,
    },
    Temper {
        name: "prefetches, keeps what is dirty",
        drain: 4,
        evict: 0,
        chunks: Chunks::HeaderFirst,
        deliver: 2,
        fill: 2,
        write_back: 0,
        early: 1,
        switch: 5,
    },
    Temper {
        name: "anything",
        drain: 4,
        evict: 5,
        chunks: Chunks::Any,
        deliver: 5,
        fill: 5,
        write_back: 5,
        early: 3,
        switch: 2,
    },
];
