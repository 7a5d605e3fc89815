//! Processors that use memory of other hosts by plain loads and stores, over HTX boards.
//!
//! Loads become reads on the links, stores posted writes: see `docs/sim/remote-memory.md`.

mod program;
mod walk;

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::{ComponentId, Ps, Summary};
use crate::machine::htx::HtxCluster;
use crate::models::DeviceEvent;
use crate::models::ht::opteron::{Opteron, OpteronEvent};

use super::link_use::{LinkUse, LinkWatch};
use super::load::Latencies;
use super::{ExperimentError, Monitor};

pub use walk::{Accesses, Cache, LOCAL_BASE, Range, Step, Walk, ranges};

use program::{Seen, Walker};
pub(super) use walk::{Cached, plain, stream};

/// What happened.
#[derive(Clone, Debug)]
pub struct Walked {
    /// Of loads from other hosts; none if there were no such loads.
    pub remote: Option<Latencies>,
    /// Loads from the own memory.
    pub local_loads: u64,
    /// Stores, to any memory.
    pub stores: u64,
    /// From the begin until the last processor was done.
    pub time: Ps,
    /// The same, as a mean over the processors.
    pub time_mean: Ps,
    /// Every direction of every link.
    pub links: Vec<LinkUse>,
    /// The cost of the simulation.
    pub summary: Summary,
}

/// The processors of a cluster that can use memory of other hosts: all cores of the first host
/// that does, then those of the next one.
pub fn processors(cluster: &HtxCluster) -> Vec<usize> {
    let plan = cluster.plan();
    let hosts = plan.hosts().iter().enumerate();
    let using = hosts.filter(|(host, _)| plan.regions().iter().any(|region| region.at == *host));
    using
        .flat_map(|(host, figures)| std::iter::repeat_n(host, figures.cores.into()))
        .collect()
}

/// Lets processors walk through their memory, each by its steps. `steps[i]` are those of the
/// `i`-th of [`processors`].
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end, or a load finds no memory.
pub fn run(
    cluster: &mut HtxCluster,
    walk: &Walk,
    steps: Vec<Box<dyn Iterator<Item = Step>>>,
    events_max: u64,
    monitor: &Monitor,
) -> Result<Walked, ExperimentError> {
    let begin = cluster.sim.now();
    let before = LinkWatch::new(&cluster.sim);
    let seen = Rc::new(RefCell::new(Seen::default()));
    let count = steps.len();
    for (host, steps) in processors(cluster).into_iter().zip(steps) {
        let walker = Walker::new(
            host,
            ranges(cluster.plan(), host, walk.local_bytes),
            walk,
            steps,
            &seen,
        );
        let component = cluster.hosts()[host].host;
        start(cluster, component, walker)?;
    }
    let summary = monitor.run(&mut cluster.sim, events_max)?;
    let seen = seen.take();
    if seen.failed || seen.ends.len() != count || count == 0 {
        return Err(ExperimentError::NoMeasurement("a load found no memory"));
    }
    let last = seen.ends.iter().copied().max().unwrap_or(begin);
    let time = last - begin;
    let sum: u64 = seen.ends.iter().map(|end| (*end - begin).0).sum();
    Ok(Walked {
        remote: Latencies::of(seen.arrived, time),
        local_loads: seen.local_loads,
        stores: seen.stores,
        time,
        time_mean: Ps(sum / count as u64),
        links: before.used(&cluster.sim, time),
        summary,
    })
}

fn start(
    cluster: &mut HtxCluster,
    host: ComponentId,
    walker: Walker,
) -> Result<(), ExperimentError> {
    let core = cluster
        .sim
        .component_mut::<Opteron>(host)
        .and_then(|host| host.load(walker));
    let core = core.ok_or(ExperimentError::NoMeasurement("no free core"))?;
    let now = cluster.sim.now();
    let event = DeviceEvent::Opteron(OpteronEvent::Step { core });
    cluster
        .sim
        .inject(now, host, event)
        .map_err(|_| ExperimentError::NoMeasurement("start"))
}
