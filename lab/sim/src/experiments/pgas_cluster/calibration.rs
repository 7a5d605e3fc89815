//! Three constants from three printed numbers. No number is left for a prediction.

use crate::engine::Ps;
use crate::models::memory::{MemoryError, MemorySystem, RegionCounters};

use super::scenario::{Media, Scenario};
use super::{KERNELS, STREAM, Stream, config, never};

/// The numbers of the paper from which the constants are set: times of 4P and 16P over
/// that of 1P, less one, and the seconds of the latter.
const INCREASE_4P: f64 = 0.0268;
const INCREASE_16P: f64 = 2.0268;
const INCREASE_16P_S: f64 = 40.76;

/// The constants that the paper does not give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// An access to the own processor's memory, in ns.
    pub local_ns: f64,
    /// Accesses that the paper's simulator charged for a line of ours.
    pub transactions_per_line: f64,
    /// The work of the processor for an access to an array, in ns.
    pub work_per_access_ns: f64,
}

/// Solves for the constants. The time of a blocking processor is a sum: of work, and of
/// accesses times their cost. How many accesses go where comes out of the simulated STREAM;
/// then three equations with three unknowns are left.
///
/// # Errors
/// [`MemoryError`] if the run does not come to its end.
pub fn calibrate() -> Result<Calibration, MemoryError> {
    let stream = Stream {
        work_per_access: Ps::ZERO,
        ..STREAM
    };
    let counted = |scenario: Scenario| -> Result<Vec<RegionCounters>, MemoryError> {
        let mut memory = MemorySystem::new(config(scenario))?;
        Ok(stream.run(&mut memory, never())?.regions)
    };
    // Means of the four functions, as the paper's.
    let kernels = KERNELS.len() as f64;
    let counters = counted(Scenario::Remote)?;
    let lines: u64 = counters.iter().map(|r| r.reads + r.writes).sum();
    let lines = lines as f64 / kernels;
    let regions = Scenario::Remote.regions(&Media::PAPER, 1);
    let remote_ns = counters.iter().zip(&regions).map(|(seen, region)| {
        let line_bytes = config(Scenario::Remote).line_bytes;
        let [read, write] = [
            region.medium.line_read(line_bytes),
            region.medium.line_write(line_bytes),
        ];
        seen.reads as f64 * read.as_ns() + seen.writes as f64 * write.as_ns()
    });
    let remote_ns = remote_ns.sum::<f64>() / kernels / lines;
    let board_ns = Media::PAPER.same_board.as_ns();
    // (remote - local) / (board - local) is the ratio of the increases.
    let ratio = INCREASE_16P / INCREASE_4P;
    let local_ns = (ratio * board_ns - remote_ns) / (ratio - 1.0);
    let transactions = INCREASE_16P_S * 1e9 / (remote_ns - local_ns);
    let local_s = INCREASE_16P_S / INCREASE_16P;
    let work_ns = local_s * 1e9 - transactions * local_ns;
    let accesses: u64 = KERNELS.iter().map(|kernel| kernel.accesses()).sum();
    let accesses = accesses as f64 / kernels * STREAM.elements as f64;
    Ok(Calibration {
        local_ns,
        transactions_per_line: transactions / lines,
        work_per_access_ns: work_ns / accesses,
    })
}
