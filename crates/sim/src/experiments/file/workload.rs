//! What is run.

use serde::Serialize;

/// How a message's lines are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Lines leave the write-combining buffers as they fill.
    Weak,
    /// A fence after each line.
    Fenced,
}

/// Link and clocks of an HTX board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HtxLink {
    /// Lanes per direction.
    pub width_bits: u8,
    /// HyperTransport clock.
    pub frequency_mhz: u32,
    /// Clock of the board's own logic.
    pub user_clock_mhz: u32,
}

/// A workload with all its keys resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    /// Two programs answer each other by stores and polls.
    PingPong {
        /// Processor that begins.
        from: String,
        /// Processor that answers.
        to: String,
        /// Message size.
        size_bytes: u64,
        /// Order of its lines.
        order: Order,
    },
    /// One program stores lines into another processor's memory.
    Stream {
        /// Processor that stores.
        from: String,
        /// Owner of the memory.
        to: String,
        /// All bytes together.
        size_bytes: u64,
        /// Order of the lines.
        order: Order,
        /// Work of the sender after each line.
        work_ps: u64,
    },
    /// Every processor stores into every other one's memory.
    AllToAll {
        /// Bytes from each to each.
        size_bytes: u64,
    },
    /// Stores of a processor into an HTX board.
    HtxWrite {
        /// Bytes per store.
        size_bytes: u64,
        /// Number of stores.
        stores: u64,
        /// Link and clocks.
        #[serde(flatten)]
        link: HtxLink,
    },
    /// An uncached load from an HTX board.
    HtxRead {
        /// Bytes loaded.
        size_bytes: u64,
        /// Link and clocks.
        #[serde(flatten)]
        link: HtxLink,
    },
    /// A message through an HTX board whose network port is looped back.
    HtxMessage {
        /// Bytes of the message.
        size_bytes: u64,
        /// Link and clocks.
        #[serde(flatten)]
        link: HtxLink,
    },
}
