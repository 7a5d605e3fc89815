//! A whole job in one process: for tests, and for programs whose PEs are threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::liveness::Liveness;
use super::{Shm, ShmOptions, memfd};
use crate::error::{PeId, TransportError};

/// The transports of a job of `pes` PEs, one for a thread each. Dropping one makes its
/// PE look dead to the others.
pub fn local(
    pes: u32,
    segment_bytes: usize,
    options: ShmOptions,
) -> Result<Vec<Shm>, TransportError> {
    let segment_bytes = super::whole_pages(segment_bytes)?;
    let segments = (0..pes)
        .map(|pe| memfd::create(&format!("hostwire-local-{pe}"), segment_bytes))
        .collect::<Result<Vec<_>, _>>()?;
    let alive: Arc<[AtomicBool]> = (0..pes).map(|_| AtomicBool::new(true)).collect();
    (0..pes)
        .map(|pe: PeId| {
            let alive = Arc::clone(&alive);
            let liveness = Liveness::Flags { alive, pe };
            Shm::over(pe, &segments, segment_bytes, liveness, options)
        })
        .collect()
}
