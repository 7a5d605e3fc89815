//! A whole job in one process: for tests, and for programs whose PEs are threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::liveness::Liveness;
use super::plot::Plot;
use super::{Shm, ShmOptions};
use crate::error::{PeId, TransportError};

/// The transports of a job of `pes` PEs, one for a thread each. Dropping one makes its
/// PE look dead to the others.
pub fn local(
    pes: u32,
    segment_bytes: usize,
    options: ShmOptions,
) -> Result<Vec<Shm>, TransportError> {
    let segment_bytes = super::whole_pages(segment_bytes)?;
    let plot = Plot::new(pes, segment_bytes)?;
    let file = plot.create()?;
    let alive: Arc<[AtomicBool]> = (0..pes).map(|_| AtomicBool::new(true)).collect();
    (0..pes)
        .map(|pe: PeId| {
            let alive = Arc::clone(&alive);
            let liveness = Liveness::Flags { alive, pe };
            let file = file
                .try_clone()
                .map_err(|e| TransportError::environment("keeping the segments open", e))?;
            Shm::over(pe, plot, file, liveness, options)
        })
        .collect()
}
