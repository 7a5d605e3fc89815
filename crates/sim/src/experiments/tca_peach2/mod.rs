//! Experiments of the TCA paper: PIO between boards, chained DMA within a node and to the next.

mod claims;
mod measure;

pub use claims::{claims, reproduce};
pub use measure::{Dma, DmaTimes, LOOPBACK_BYTES, loopback, ping_pong, ring, run_dma, two_nodes};
