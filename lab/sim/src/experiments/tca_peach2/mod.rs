//! Experiments of the TCA paper: PIO between boards, chained DMA within a node and to the next.

mod claims;
mod curves;
mod measure;
mod rings;
mod three_copies;

use crate::models::pcie::peach2::chip::DESCRIPTORS_MAX;

pub(super) use claims::elsewhere;
pub use claims::{claims, reproduce};
pub use curves::{bandwidth_of_one_over_size, bandwidth_over_requests, bandwidth_over_size};
pub use measure::{Dma, DmaTimes, LOOPBACK_BYTES, loopback, ping_pong, ring, run_dma, two_nodes};
pub use rings::{RingsTimes, couple_and_separate};
pub use three_copies::{Grade, Steps, ThreeCopies, direct, three_copies};

/// Data size that the paper calls the largest.
pub const LARGE_BYTES: u64 = 4096;
/// Requests of the paper's long chains: all that a table has.
pub const CHAIN: u64 = DESCRIPTORS_MAX as u64;
