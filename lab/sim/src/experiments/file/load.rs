//! Running messages between all processors.

use crate::experiments::load::{self, Bounds, Limits, Messages, Pacing, Pattern};
use crate::experiments::{ExperimentError, Monitor, mib_per_s};
use crate::machine::Machine;

use super::hashed::Hashed;
use super::read_load::bytes_max;
use super::read_workload::LINES_MAX;
use super::run::{Measured, busiest, metric};
use super::workload::Workload;
use super::{Metric, Open, Point};

/// `None` for other workloads.
pub(super) fn run(
    point: &Point,
    machine: &mut Machine,
    monitor: &Monitor,
    open: Open<'_>,
) -> Option<Result<Measured, ExperimentError>> {
    let count = machine.sockets().len();
    match &point.workload {
        Workload::Traffic { load, .. } => {
            let in_flight = match load.pacing {
                Pacing::Closed { in_flight } => in_flight,
                Pacing::Open { .. } => u64::MAX,
            };
            let limits = limits(point, monitor, in_flight, load.size_bytes);
            let senders = match load.pattern {
                Pattern::Incast => count - 1,
                _ => count,
            };
            let offered = match load.pacing {
                Pacing::Open { interval_ps, .. } => {
                    let bytes = load.size_bytes * senders as u64;
                    Some(mib_per_s(bytes, crate::engine::Ps(interval_ps)))
                }
                Pacing::Closed { .. } => None,
            };
            let offered = offered.map(|offered| metric("offered_bandwidth", offered, "MiB/s"));
            Some(measure(machine, load.senders(count), &limits, offered))
        }
        Workload::MessageTrace { path, .. } => Some(replay(point, path, machine, monitor, open)),
        _ => None,
    }
}

fn limits<'m>(
    point: &Point,
    monitor: &'m Monitor,
    in_flight_max: u64,
    bytes_max: u64,
) -> Limits<'m> {
    Limits {
        in_flight_max,
        bytes_max,
        events_max: point.events_max,
        monitor,
    }
}

fn replay(
    point: &Point,
    path: &str,
    machine: &mut Machine,
    monitor: &Monitor,
    open: Open<'_>,
) -> Result<Measured, ExperimentError> {
    let (input, hash) = Hashed::open(path, open)?;
    let sockets = machine.sockets().iter();
    let names: Vec<String> = sockets.map(|socket| socket.name.clone()).collect();
    let bounds = Bounds {
        names: &names,
        bytes_max: bytes_max(machine.plan()),
        lines_max: LINES_MAX,
    };
    let read = load::read_trace(input, &bounds);
    let (senders, largest) = read.map_err(|error| ExperimentError::Trace {
        file: path.to_owned(),
        message: error.to_string(),
    })?;
    let limits = limits(point, monitor, u64::MAX, largest);
    Ok(Measured {
        trace_hash: Some(format!("{:016x}", hash.get())),
        ..measure(machine, senders, &limits, None)?
    })
}

fn measure(
    machine: &mut Machine,
    senders: Vec<Messages>,
    limits: &Limits<'_>,
    offered: Option<Metric>,
) -> Result<Measured, ExperimentError> {
    let delivered = load::run(machine, senders, limits)?;
    let latencies = &delivered.latencies;
    let (time, count) = (latencies.time, latencies.count());
    let mut metrics = vec![
        metric("time", time.as_ns(), "ns"),
        metric("messages", count as f64, ""),
        metric("bandwidth", mib_per_s(latencies.bytes, time), "MiB/s"),
        metric("message_rate", count as f64 / time.as_s() / 1e6, "M/s"),
        metric("latency_mean", latencies.mean_ns(), "ns"),
    ];
    metrics.extend(offered);
    let percentiles = [
        ("latency_p50", 500),
        ("latency_p90", 900),
        ("latency_p99", 990),
        ("latency_p999", 999),
        ("latency_max", 1_000),
    ];
    let percentiles = percentiles.into_iter();
    metrics
        .extend(percentiles.map(|(name, part)| metric(name, latencies.percentile_ns(part), "ns")));
    metrics.push(busiest(&delivered.links));
    let name = |socket: usize| {
        let socket = machine.sockets().get(socket);
        socket.map_or_else(String::new, |socket| socket.name.clone())
    };
    Ok(Measured {
        metrics,
        flows: latencies.flows(name),
        histogram: latencies.histogram(),
        links: delivered.links,
        summaries: vec![delivered.summary],
        ..Measured::default()
    })
}
