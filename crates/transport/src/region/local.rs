//! A whole job in one process: for tests.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::join::{Joining, Needs};
use super::{Region, Result, Spec};
use crate::shm::{Shm, Watch};
use crate::visibility::Visibility;

/// The wires of a job of `pes` PEs over a region of its own, one for a thread each. Dropping one makes
/// its PE look dead to the others.
///
/// # Errors
/// As those of a job of processes.
pub fn local(pes: u32, segment_bytes: usize, contract: Visibility) -> Result<Vec<Shm>> {
    let needs = Needs::new(pes, segment_bytes as u64);
    let (first, ticket) = Region::of_its_own(&needs, contract)?;
    let alive: Arc<[AtomicBool]> = (0..pes).map(|_| AtomicBool::new(false)).collect();
    let mut regions = vec![first];
    for _ in 1..pes {
        regions.push(Region::open_for(&Spec::default(), &ticket)?);
    }
    let joining = (0..).zip(regions).map(|(pe, region)| {
        let flags = Watch::Flags(Arc::clone(&alive));
        Joining::with_locks(region, &ticket, pe, &needs, Some(flags))
    });
    let joining = joining.collect::<Result<Vec<_>>>()?;
    let lost_after = Duration::from_secs(1);
    joining
        .into_iter()
        .map(|pe| pe.finish(lost_after))
        .collect()
}
