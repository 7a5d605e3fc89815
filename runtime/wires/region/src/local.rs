//! A whole job in one process: for tests.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hostwire_transport::conformance::{Program, Testbed, run_on_threads};
use hostwire_transport::shm::{Bells, LivenessWatch, Shm, Sleepers};
use hostwire_transport::visibility::Visibility;
use hostwire_transport::window::Ring;

use crate::join::{Joining, Needs};
use crate::{Region, Result, Spec};

/// The wires of a job of `pes` PEs over a region of its own, one for a thread each. Dropping one makes
/// its PE look dead to the others. With bells they wake each other by calls, as PEs of several kernels do.
///
/// # Errors
/// As those of a job of processes.
pub fn local(
    pes: u32,
    segment_bytes: usize,
    contract: Visibility,
    has_bells: bool,
) -> Result<Vec<Shm>> {
    let needs = Needs::new(pes, segment_bytes as u64);
    let (first, ticket) = Region::of_its_own(&needs, contract)?;
    let alive: Arc<[AtomicBool]> = (0..pes).map(|_| AtomicBool::new(false)).collect();
    let mut regions = vec![first];
    for _ in 1..pes {
        regions.push(Region::open_for(&Spec::default(), &ticket)?);
    }
    let joining = (0..).zip(regions).map(|(pe, region)| {
        let flags = LivenessWatch::Flags(Arc::clone(&alive));
        Joining::with_locks(region, &ticket, pe, &needs, Some(flags))
    });
    let joining = joining.collect::<Result<Vec<_>>>()?;
    let lost_after = Duration::from_secs(1);
    let sleepers: Vec<Arc<Sleepers>> = (0..pes).map(|_| Arc::default()).collect();
    let bells = |pe: usize| {
        let ring = |it: &Arc<Sleepers>| Arc::clone(it) as Arc<dyn Ring>;
        let sleepers_of = sleepers.get(pe).map(Arc::clone);
        Some(Bells {
            rings: sleepers.iter().map(ring).collect(),
            sleepers: sleepers_of.filter(|_| has_bells)?,
        })
    };
    let finished = (0..).zip(joining).map(|(pe, joined)| match bells(pe) {
        Some(bells) => joined.finish_with(lost_after, Some((bells, None))),
        None => joined.finish(lost_after),
    });
    finished.collect()
}

/// PEs are threads of this process and the wire is a region with this contract.
#[derive(Debug, Clone, Copy)]
pub struct InRegion {
    /// Its contract.
    pub contract: Visibility,
    /// PEs wake each other by calls, as those of several kernels do.
    pub has_bells: bool,
}

impl Testbed for InRegion {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let wires =
            local(pes, segment_bytes, self.contract, self.has_bells).expect("making the wire");
        run_on_threads(wires, program);
    }
}
