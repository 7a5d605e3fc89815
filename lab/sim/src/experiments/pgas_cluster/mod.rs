//! Experiments of the PGAS cluster paper: STREAM on memory that is spread over boards, and
//! on memory that is partly swap.

mod break_even;
mod calibration;
mod claims;
mod links;
mod scenario;

use std::ops::ControlFlow;

use crate::engine::Ps;
use crate::models::memory::{Config, MemoryError, MemorySystem, Watch};

pub use super::stream::{KERNELS, Kernel, KernelTime, Stream, StreamTimes};
pub use break_even::{
    BreakEven, DEVICES, Device, DeviceCost, Pattern, break_even, hit_rate_table, working_set_table,
};
pub use calibration::{Calibration, calibrate};
pub use claims::{claims, reproduce};
pub use links::{LinkCosts, costs_on_links, run_with};
pub use scenario::{Media, REGIONS, SCENARIOS, Scenario};

/// Memory of the paper's target.
pub const MEMORY_BYTES: u64 = 512 << 20;
/// Accesses that a line of 64 bytes is charged as, in millionths. **Fitted**; see
/// [`calibrate`].
pub const TRANSACTIONS_PER_MILLION_LINES: u64 = 1_754_376;
/// The paper's STREAM. The elements follow from its 460 MB; the work is **fitted**, see
/// [`calibrate`]. That it is the same for each access to an array is **assumed**.
pub const STREAM: Stream = Stream {
    elements: 20_000_000,
    series: 2,
    work_per_access: Ps(377_683),
};

/// The memory system of the paper's target in a scenario.
pub fn config(scenario: Scenario) -> Config {
    Config {
        regions: scenario.regions(&Media::PAPER, MEMORY_BYTES / REGIONS),
        transactions_per_million_lines: TRANSACTIONS_PER_MILLION_LINES,
        ..Config::default()
    }
}

/// The paper's STREAM in a scenario.
///
/// # Errors
/// [`MemoryError`] if the run does not come to its end.
pub fn run(scenario: Scenario) -> Result<StreamTimes, MemoryError> {
    STREAM.run(&mut MemorySystem::new(config(scenario))?, never())
}

/// A watch that does nothing.
fn never() -> Watch<'static> {
    &|_| ControlFlow::Continue(())
}
