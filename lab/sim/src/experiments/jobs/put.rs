//! One put, and how fast its bytes leave and arrive.

use std::cell::Cell;

use crate::engine::{Ps, Summary};
use crate::experiments::{ExperimentError, mib_per_s};

use super::{Needs, Order, Pair};

const LINE_BYTES: usize = 64;

/// The results of a put.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Put {
    /// Bytes over the time until the put has returned: what the sender believes.
    pub apparent_mib_s: f64,
    /// Bytes over the time until all have arrived.
    pub arrived_mib_s: f64,
    /// That time.
    pub time: Ps,
    /// The cost of the simulation, with the boot.
    pub summary: Summary,
}

/// Puts `bytes` bytes from PE 0 into the memory of PE 1. [`Order::Fenced`] makes it a put
/// and a fence per line of 64 bytes; the other orders are one put.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn put(pair: &mut Pair<'_>, bytes: usize, order: Order) -> Result<Put, ExperimentError> {
    let times = Cell::new(None);
    let needs = Needs { heap_bytes: bytes };
    let summary = pair.run(needs, &|job, wire| {
        let target = job.alloc::<u8>(bytes)?;
        if job.pe() == 0 {
            let source = vec![0x5a; bytes];
            let begin = wire.now();
            match order {
                Order::Weak | Order::Strict => target.put(1, 0, &source)?,
                Order::Fenced => {
                    for (line, data) in source.chunks(LINE_BYTES).enumerate() {
                        target.put(1, line * LINE_BYTES, data)?;
                        job.fence()?;
                    }
                }
            }
            let issued = wire.now() - begin;
            job.quiet()?;
            times.set(Some((issued, wire.now() - begin)));
        }
        job.barrier()
    })?;
    let (issued, time) = times.get().ok_or(ExperimentError::NoMeasurement("put"))?;
    Ok(Put {
        apparent_mib_s: mib_per_s(bytes as u64, issued),
        arrived_mib_s: mib_per_s(bytes as u64, time),
        time,
        summary,
    })
}
