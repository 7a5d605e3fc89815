//! Errors of a memory system, or of a request to it.

use crate::engine::Ps;

/// An error of the memory system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The line is no power of two.
    #[error("a line of {got} bytes: expected a power of two, 8 to 4096")]
    Line {
        /// Bytes.
        got: u64,
    },
    /// The page is no power of two, or smaller than a line.
    #[error("a page of {got} bytes: expected a power of two from a line of {line_bytes} to 1 GiB")]
    Page {
        /// Bytes.
        got: u64,
        /// Bytes of a line.
        line_bytes: u64,
    },
    /// A cache is not made of whole sets.
    #[error(
        "cache {level} of {bytes} bytes in {ways} ways: expected a multiple of {ways} lines of \
         {line_bytes} bytes, at most 1 GiB, 1 to 64 ways"
    )]
    Cache {
        /// From 1, which is next to the processor.
        level: usize,
        /// Bytes.
        bytes: u64,
        /// Ways.
        ways: u64,
        /// Bytes of a line.
        line_bytes: u64,
    },
    /// There are no regions, or too many.
    #[error("{got} regions: expected 1 to 4096")]
    Regions {
        /// How many.
        got: usize,
    },
    /// A region is not made of whole pages.
    #[error("region {index} of {bytes} bytes: expected a multiple of {page_bytes}, at least one")]
    Region {
        /// From 0.
        index: usize,
        /// Bytes.
        bytes: u64,
        /// Bytes of a page.
        page_bytes: u64,
    },
    /// An operation of a medium moves no bytes.
    #[error("region {index}: an operation moves 0 bytes")]
    Granularity {
        /// From 0.
        index: usize,
    },
    /// Swap with residency has no memory to keep pages in, or too much.
    #[error("{got} bytes of memory for resident pages: expected at least a page, at most 1 TiB")]
    Resident {
        /// Bytes.
        got: u64,
    },
    /// An overlapping processor has no access in flight, or too many.
    #[error("{got} accesses in flight: expected 1 to 1024")]
    InFlight {
        /// How many.
        got: u32,
    },
    /// The program touches more pages than the regions hold.
    #[error("the program touches more than the {pages} pages of {page_bytes} bytes that there are")]
    OutOfMemory {
        /// Pages of all regions.
        pages: u64,
        /// Bytes of a page.
        page_bytes: u64,
    },
    /// An access of no bytes, or beyond the last address.
    #[error("{bytes} bytes at {address:#x}: expected at least one, below 2^64")]
    AddressRange {
        /// First byte.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The watch of the run has ended it.
    #[error("interrupted at {time} after {events} transactions")]
    Interrupted {
        /// Transactions.
        events: u64,
        /// Simulated time.
        time: Ps,
    },
    /// The budget is spent.
    #[error("{events} transactions up to {time} and the run has not ended")]
    EventsSpent {
        /// The budget.
        events: u64,
        /// Simulated time.
        time: Ps,
    },
}
