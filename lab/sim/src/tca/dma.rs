//! What the driver of a node keeps for its chains of DMA.

use serde::Serialize;

use crate::models::pcie::peach2::chip::{Descriptor, DmaKind, TABLE_BYTES};

/// Memory at the end of each host that the driver keeps: a page for each kind of table.
pub(super) const DRIVER_BYTES: u64 = 4 * TABLE_BYTES;

/// How a chain is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// The controller of the paper's measurements: data goes through the chip's memory. A chain
    /// from there is one DMA write and a chain into it one DMA read; any other takes two
    /// phases, with an interrupt in between.
    TwoPhase,
    /// The controller that the paper announces: reads and writes at the same time.
    Pipelined,
}

/// The driver of a node.
#[derive(Default)]
pub(super) struct Driver {
    /// Interrupts seen so far.
    pub(super) interrupts: usize,
    /// Phases that are still to come, the next one first.
    pub(super) phases: Vec<(DmaKind, Vec<Descriptor>)>,
    pub(super) busy: bool,
}
