//! Running processors that use memory of other hosts.

use crate::engine::{ComponentId, Ps};
use crate::experiments::remote::{self, Accesses, Cached, Host, Hosts, Step, Walk};
use crate::experiments::{ExperimentError, Monitor, mib_per_s};
use crate::machine::Machine;
use crate::machine::htx::HtxCluster;
use crate::models::Fabric;
use crate::models::memory::trace::{Format, Reader};
use crate::record::Recording;
use hostwire_plan::htx::HtxPlan;

use super::hashed::Hashed;
use super::read_remote::LOADS_MAX;
use super::run::{Measured, busiest, metric};
use super::{Open, Point};

type Steps = Box<dyn Iterator<Item = Step>>;

/// Runs it on hosts with boards.
pub(super) fn on_boards(
    point: &Point,
    plan: &HtxPlan,
    walk: &Walk,
    (monitor, recording): (&Monitor, Option<&Recording>),
    open: Open<'_>,
) -> Result<Measured, ExperimentError> {
    let models = &point.models;
    let mut cluster = HtxCluster::with_boards(plan.clone(), &models.processor, &models.boards())?;
    if let Some(recording) = recording {
        recording.watch_all(&mut cluster.sim)?;
    }
    let hosts = Hosts::of_boards(plan);
    let components: Vec<_> = cluster.hosts().iter().map(|host| host.host).collect();
    let of = (&hosts, &components[..]);
    run(
        &mut cluster.sim,
        of,
        walk,
        (point.events_max, monitor),
        open,
    )
}

/// Runs it on the sockets with boards of a machine that has booted.
pub(super) fn on_sockets(
    point: &Point,
    machine: &mut Machine,
    walk: &Walk,
    monitor: &Monitor,
    open: Open<'_>,
) -> Result<Measured, ExperimentError> {
    let hosts = Hosts::of_sockets(machine.plan());
    let component = |host: &Host| {
        let socket = machine.find(host.processor?)?;
        Some(machine.sockets()[socket].component)
    };
    let components = hosts.all().iter().map(component);
    let components = components.collect::<Option<Vec<_>>>();
    let components = components.ok_or(ExperimentError::NoMeasurement("no such socket"))?;
    let of = (&hosts, &components[..]);
    run(
        &mut machine.sim,
        of,
        walk,
        (point.events_max, monitor),
        open,
    )
}

fn run(
    sim: &mut Fabric,
    (hosts, components): (&Hosts, &[ComponentId]),
    walk: &Walk,
    limits: (u64, &Monitor),
    open: Open<'_>,
) -> Result<Measured, ExperimentError> {
    let (steps, trace_hash) = steps(hosts, walk, open)?;
    let walked = remote::run(sim, (hosts, components), walk, steps, limits)?;
    let mut metrics = vec![
        metric("time", walked.time.as_ns(), "ns"),
        metric("time_mean", walked.time_mean.as_ns(), "ns"),
    ];
    let counters = [
        ("local_loads", walked.local_loads),
        ("stores", walked.stores),
    ];
    let counters = counters.into_iter().filter(|(_, count)| *count > 0);
    metrics.extend(counters.map(|(name, count)| metric(name, count as f64, "")));
    let mut measured = Measured::default();
    if let Some(remote) = &walked.remote {
        let mean = remote.mean_ns();
        let in_flight = mean * remote.count() as f64 / walked.time.as_ns();
        metrics.extend([
            metric("remote_loads", remote.count() as f64, ""),
            metric("bandwidth", mib_per_s(remote.bytes, walked.time), "MiB/s"),
            metric("in_flight_mean", in_flight, ""),
            metric("latency_mean", mean, "ns"),
            metric("latency_p50", remote.percentile_ns(500), "ns"),
            metric("latency_p90", remote.percentile_ns(900), "ns"),
            metric("latency_p99", remote.percentile_ns(990), "ns"),
            metric("latency_max", remote.percentile_ns(1_000), "ns"),
        ]);
        let name = |host: usize| {
            let host = hosts.all().get(host);
            host.map_or_else(String::new, |host| host.name.clone())
        };
        measured.flows = remote.flows(name);
        measured.histogram = remote.histogram();
    }
    metrics.push(busiest(&walked.links));
    Ok(Measured {
        metrics,
        links: walked.links,
        summaries: vec![walked.summary],
        trace_hash,
        ..measured
    })
}

/// The steps of every processor, and the hash of the trace.
fn steps(
    hosts: &Hosts,
    walk: &Walk,
    open: Open<'_>,
) -> Result<(Vec<Steps>, Option<String>), ExperimentError> {
    let mut all = Vec::new();
    let mut trace_hash = None;
    for (index, host) in (0..walk.processors).zip(hosts.processors()) {
        let memory = hosts.ranges(host, walk.local_bytes);
        all.push(match &walk.accesses {
            Accesses::Stream {
                kernels,
                elements,
                cache,
            } => {
                let work = Ps(walk.work_ps);
                let steps = remote::stream((kernels, *elements), *cache, work, memory)?;
                Box::new(steps.into_iter()) as Steps
            }
            Accesses::Trace {
                path,
                format,
                cache,
                ..
            } => {
                let cached = Cached::new(*cache, memory)?;
                let (steps, hash) = traced(path, *format, Ps(walk.work_ps), cached, open)?;
                trace_hash = Some(hash);
                Box::new(steps.into_iter())
            }
            _ => remote::plain(walk, index, memory)
                .ok_or(ExperimentError::NoMeasurement("no such accesses"))?,
        });
    }
    Ok((all, trace_hash))
}

fn traced(
    path: &str,
    format: Format,
    instruction: Ps,
    mut cached: Cached,
    open: Open<'_>,
) -> Result<(Vec<Step>, String), ExperimentError> {
    let (input, hash) = Hashed::open(path, open)?;
    let wrong = |message: String| ExperimentError::Trace {
        file: path.to_owned(),
        message,
    };
    let mut steps = Vec::new();
    for event in Reader::new(input, format) {
        let event = event.map_err(|error| wrong(error.to_string()))?;
        cached.event(event, instruction, &mut steps)?;
        if steps.len() as u64 > LOADS_MAX {
            let text = format!("more than {LOADS_MAX} lines go to memory: record less");
            return Err(wrong(text));
        }
    }
    cached.finish(&mut steps);
    Ok((steps, format!("{:016x}", hash.get())))
}
