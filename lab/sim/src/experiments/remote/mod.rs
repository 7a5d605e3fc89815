//! Processors that use memory of other hosts by plain loads and stores, over HTX boards.
//!
//! Loads become reads on the links, stores posted writes: see `docs/sim/remote-memory.md`.

mod hosts;
mod program;
mod walk;

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::{ComponentId, Ps, Summary};
use crate::models::ht::opteron::{Opteron, OpteronEvent};
use crate::models::{DeviceEvent, Fabric};

use super::link_use::{LinkUse, LinkWatch};
use super::load::Latencies;
use super::{ExperimentError, Monitor};

pub use hosts::{Host, Hosts, LOCAL_BASE};
pub use walk::{Accesses, Cache, Range, Step, Walk};

use program::{Seen, Walker};
pub(super) use walk::{Cached, plain, stream};

/// What happened.
#[derive(Clone, Debug)]
pub struct Walked {
    /// Latencies of loads from other hosts; none if there were no such loads.
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

/// Lets processors walk through their memory, each by its steps. `steps[i]` are those of the
/// `i`-th of [`Hosts::processors`]; `components` are the processors of all hosts.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end, or a load finds no memory.
pub fn run(
    sim: &mut Fabric,
    (hosts, components): (&Hosts, &[ComponentId]),
    walk: &Walk,
    steps: Vec<Box<dyn Iterator<Item = Step>>>,
    (events_max, monitor): (u64, &Monitor),
) -> Result<Walked, ExperimentError> {
    let begin = sim.now();
    let before = LinkWatch::new(sim);
    let seen = Rc::new(RefCell::new(Seen::default()));
    let count = steps.len();
    for (host, steps) in hosts.processors().into_iter().zip(steps) {
        let ranges = hosts.ranges(host, walk.local_bytes);
        let walker = Walker::new(host, ranges, walk, steps, &seen);
        start(sim, components.get(host).copied(), walker)?;
    }
    let summary = monitor.run(sim, events_max)?;
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
        links: before.used(sim, time),
        summary,
    })
}

fn start(
    sim: &mut Fabric,
    processor: Option<ComponentId>,
    walker: Walker,
) -> Result<(), ExperimentError> {
    let none = ExperimentError::NoMeasurement("no free core");
    let Some(processor) = processor else {
        return Err(none);
    };
    let model = sim.component_mut::<Opteron>(processor);
    let core = model.and_then(|model| model.load(walker)).ok_or(none)?;
    let event = DeviceEvent::Opteron(OpteronEvent::Step { core });
    sim.inject(sim.now(), processor, event)
        .map_err(|_| ExperimentError::NoMeasurement("start"))
}
