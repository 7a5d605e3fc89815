//! The settings of a run: the contract of its windows, a processor, a temper and a seed.

use crate::conformance::Random;
use crate::visibility::Visibility;

/// How the processors order memory accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// Stores leave in order, and loads are executed in order. A load passes stores, flushes and `sfence`.
    X86,
    /// Stores leave in any order and loads are executed early, except where acquire, release and barriers
    /// forbid it.
    Arm,
}

/// One run.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The contract that the windows declare, and that the memory behind them has.
    pub visibility: Visibility,
    /// Decides everything else: processor, temper, and each step.
    pub seed: u64,
    /// Lets caches write back clean lines. No program with flushes can work then, if another host writes the
    /// line.
    pub clean_write_backs: bool,
    /// Steps after which a run counts as endless.
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

    /// The processor whose instructions are used.
    pub fn processor(&self) -> Processor {
        match self.seed % 2 {
            0 => Processor::X86,
            _ => Processor::Arm,
        }
    }

    /// Whether cache maintenance is slow on Arm, and whether an x86 has `clwb`, which may be slow: in every
    /// second run of a temper.
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

/// The order in which 8-byte chunks of a partly filled write-combining buffer leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunks {
    /// By address: the header of a line first.
    HeaderFirst,
    Reversed,
    Any,
}

/// How often the hardware does what. Each happens once in so many steps; 0 is never.
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
    /// A cache takes a line that no load has asked for.
    pub(super) fill: usize,
    /// A cache writes a line back, or drops one.
    pub(super) write_back: usize,
    /// A load is executed early.
    pub(super) early: usize,
    /// Another PE continues.
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
