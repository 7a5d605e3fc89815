//! A whole job in one process: for tests, and for programs whose PEs are threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::liveness::Liveness;
use super::plot::Plot;
use super::{Host, Sharing, Shm, ShmOptions};
use crate::error::{PeId, TransportError};

/// The transports of a job of `pes` PEs, one for a thread each. Dropping one makes its
/// PE look dead to the others.
///
/// # Errors
/// [`TransportError::Environment`]: no memory or no descriptors.
pub fn local(
    pes: u32,
    segment_bytes: usize,
    options: ShmOptions,
) -> Result<Vec<Shm>, TransportError> {
    let everybody: Vec<PeId> = (0..pes).collect();
    local_part(pes, &everybody, segment_bytes, options)
}

/// Those of a job on `hosts` hosts, by host: PEs are dealt out to hosts in turn.
pub fn local_hosts(
    pes: u32,
    hosts: u32,
    segment_bytes: usize,
) -> Result<Vec<Vec<Shm>>, TransportError> {
    let hosts = 0..hosts;
    hosts
        .clone()
        .map(|host| {
            let here: Vec<PeId> = (host..pes).step_by(hosts.len()).collect();
            local_part(pes, &here, segment_bytes, ShmOptions::default())
        })
        .collect()
}

/// The transports of `members` only, which share a host in a job of `pes` PEs.
pub fn local_part(
    pes: u32,
    members: &[PeId],
    segment_bytes: usize,
    options: ShmOptions,
) -> Result<Vec<Shm>, TransportError> {
    let segment_bytes = super::whole_pages(segment_bytes)?;
    let count = members.len() as u32;
    let plot = Plot::new(count, segment_bytes)?;
    let file = plot.create()?;
    // And one more after them, for the adapter.
    let alive = (0..=count).map(|local| AtomicBool::new(local < count));
    let alive: Arc<[AtomicBool]> = alive.collect();
    (0..count)
        .map(|local| {
            let alive = Arc::clone(&alive);
            let liveness = Liveness::Flags { alive, pe: local };
            let file = file
                .try_clone()
                .map_err(|e| TransportError::environment("keeping the segments open", e))?;
            let host = Host::new(pes, members.to_vec(), local)?;
            let memory = plot.map(file)?;
            Shm::over(
                host,
                plot,
                memory,
                liveness,
                Sharing::new(options, count),
                None,
            )
        })
        .collect()
}
