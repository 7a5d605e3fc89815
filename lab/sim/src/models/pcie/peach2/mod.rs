//! PEACH2: the chip, and the host of a node with such chips.

pub mod chip;
pub mod host;
mod processor;
mod rate;
mod sparse;

pub use chip::{Chip, ChipEvent};
pub use host::{Host, HostEvent};
pub use processor::ProcessorConfig;
pub(crate) use rate::kib_at;
