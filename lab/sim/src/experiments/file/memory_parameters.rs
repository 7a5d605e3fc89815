//! Parameters of memory systems.

use crate::engine::Ps;
use crate::experiments::pgas_cluster::{Media, STREAM, TRANSACTIONS_PER_MILLION_LINES};

use super::parameter::{Parameter, number, time};

/// Everything that parameters change in a memory system.
#[derive(Clone, Debug)]
pub(super) struct MemoryModels {
    pub(super) media: Media,
    pub(super) line_bytes: u64,
    pub(super) cache_bytes: u64,
    pub(super) cache_ways: u64,
    pub(super) cache_hit: Ps,
    pub(super) page_bytes: u64,
    pub(super) transactions_per_million_lines: u64,
    pub(super) work_per_access: Ps,
    pub(super) instruction: Ps,
}

impl Default for MemoryModels {
    fn default() -> Self {
        MemoryModels {
            media: Media::PAPER,
            line_bytes: 64,
            cache_bytes: 512 << 10,
            cache_ways: 4,
            cache_hit: Ps::ZERO,
            page_bytes: 8 << 10,
            transactions_per_million_lines: TRANSACTIONS_PER_MILLION_LINES,
            work_per_access: STREAM.work_per_access,
            // A cycle of 75 MHz.
            instruction: Ps(13_333),
        }
    }
}

/// A second: the slowest disk is faster.
const LATENCY_MAX: u64 = 1_000_000_000_000;

macro_rules! latency {
    ($key:literal, $($field:ident).+, $class:ident) => {
        time!($key, memory.$($field).+, 0, LATENCY_MAX, $class)
    };
}

macro_rules! bytes {
    ($key:literal, $($field:ident).+, $least:expr, $most:expr, $class:ident) => {
        number!(Bytes, $key, memory.$($field).+, $least, $most, $class)
    };
}

pub(super) const MEMORY: &[Parameter] = &[
    latency!("local", media.local, Fitted),
    latency!("same_board", media.same_board, Published),
    latency!("remote_read", media.remote.read, Published),
    bytes!(
        "remote_read_size",
        media.remote.read_bytes,
        1,
        4096,
        Published
    ),
    latency!("remote_write", media.remote.write, Published),
    bytes!(
        "remote_write_size",
        media.remote.write_bytes,
        1,
        4096,
        Published
    ),
    latency!("swap", media.swap, Published),
    latency!("page_in", media.page_in, Assumed),
    latency!("page_out", media.page_out, Assumed),
    bytes!("page", page_bytes, 512, 1 << 30, Assumed),
    bytes!("line", line_bytes, 8, 4096, Published),
    bytes!("cache", cache_bytes, 8, 1 << 30, Assumed),
    number!(Count, "cache_ways", memory.cache_ways, 1, 64, Assumed),
    latency!("cache_hit", cache_hit, Assumed),
    number!(
        Count,
        "transactions_per_million_lines",
        memory.transactions_per_million_lines,
        1,
        1_000_000_000,
        Fitted
    ),
    latency!("work_per_access", work_per_access, Fitted),
    latency!("instruction", instruction, Assumed),
];
