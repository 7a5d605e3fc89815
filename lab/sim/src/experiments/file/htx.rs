//! Workloads of the HTX board.

use crate::engine::{Ps, Summary};
use crate::experiments::htx_board::{end_to_end_with, load_steps, load_time, written};
use crate::experiments::htx_host::{bench_with, start};
use crate::experiments::htx_ping_pong::{Pair, parts, phases as ping_pong_phases, ping_pong};
use crate::experiments::link_use::{LinkSum, LinkUse, LinkWatch};
use crate::experiments::programs::{BareStores, Timed};
use crate::experiments::{ExperimentError, Monitor};
use crate::machine::htx::device::{phases, window_bytes};
use crate::machine::htx::rtl::outcome;
use crate::machine::htx::{HtxHost, SETTLE, Setup, WINDOW};
use crate::models::Fabric;
use crate::models::ht::cable::Medium;
use crate::record::Recording;

use super::Point;
use super::outcome::Metric;
use super::run::{Measured, metric};
use super::workload::{HtxLink, Workload};

pub(super) fn run(
    point: &Point,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    match &point.workload {
        Workload::HtxWrite {
            size_bytes,
            stores,
            link,
        } => {
            let stores = BareStores {
                address: WINDOW,
                lines: *stores,
                bytes: *size_bytes as usize,
                window_bytes: window_bytes(link.device),
            };
            let program = stores.program();
            let ran = bench(point, (link, 0), program, monitor, recording)?;
            let (rate, last) = written(&ran.sim, &ran.host, *size_bytes)?;
            let links = ran.before.used(&ran.sim, last - SETTLE);
            let metrics = vec![metric("bandwidth", rate, "MiB/s")];
            Ok(measured(metrics, links, vec![ran.summary]))
        }
        Workload::HtxRead { size_bytes, link } => {
            read(point, *size_bytes as usize, link, monitor, recording)
        }
        Workload::HtxMessage { size_bytes, link } => {
            message(point, *size_bytes as usize, link, monitor, recording)
        }
        Workload::HtxPingPong {
            size_bytes,
            port,
            cable_um,
            link,
        } => {
            let pair = Pair {
                setup: setup(link),
                phase: 0,
                port: *port,
                propagation: point
                    .models
                    .wiring
                    .propagation(Medium::HtxCable, Some(*cable_um)),
                nic: point.models.nic.clone(),
                processor: point.models.processor.clone(),
            };
            ping_pong_of(point, &pair, *size_bytes as usize, monitor, recording)
        }
        _ => Err(ExperimentError::NoMeasurement(
            "no such workload of the HTX board",
        )),
    }
}

/// The mean over the phases of RTL.
fn read(
    point: &Point,
    bytes: usize,
    link: &HtxLink,
    monitor: &Monitor,
    mut recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    let phases = phases(link.device);
    let mut summaries = Vec::new();
    let mut links = LinkSum::default();
    let mut sum = Ps::ZERO;
    for phase in 0..phases {
        let (program, marks) = Timed::new(load_steps(&setup(link), phase, bytes));
        let ran = bench(point, (link, phase), program, monitor, recording.take())?;
        let time = load_time(&ran.sim, &marks)?;
        links.add(ran.before.used(&ran.sim, time), time);
        summaries.push(ran.summary);
        sum += time;
    }
    let latency = sum.as_ns() / f64::from(phases);
    let metrics = vec![metric("latency", latency, "ns")];
    Ok(measured(metrics, links.links(), summaries))
}

fn message(
    point: &Point,
    bytes: usize,
    link: &HtxLink,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    let models = (point.models.nic.clone(), point.models.processor.clone());
    let mut summaries = Vec::new();
    let mut links = LinkSum::default();
    let mut watch = recording;
    let cable = point.models.wiring.propagation(Medium::HtxCable, None);
    let result = end_to_end_with((&setup(link), cable), models, bytes, |sim, _| {
        // The phases of the poll loop differ by a nanosecond; one is enough to see.
        if let Some(recording) = watch.take() {
            recording.watch_all(sim)?;
        }
        let (begin, before) = (sim.now(), LinkWatch::new(sim));
        summaries.push(monitor.run(sim, point.events_max)?);
        let time = sim.now() - begin;
        links.add(before.used(sim, time), time);
        Ok(())
    })?;
    let metrics = vec![
        metric("latency", result.latency_ns, "ns"),
        metric("wire_time", result.wire_ns, "ns"),
        metric("hardware_time", result.hardware_ns, "ns"),
    ];
    Ok(measured(metrics, links.links(), summaries))
}

fn ping_pong_of(
    point: &Point,
    pair: &Pair,
    bytes: usize,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    let mut summaries = Vec::new();
    let mut links = LinkSum::default();
    let mut totals = vec![Ps::ZERO; parts(pair.setup.device).len()];
    let (mut total, mut messages) = (Ps::ZERO, 0);
    let mut watch = recording;
    for phase in ping_pong_phases(pair.setup.device) {
        let pair = Pair {
            phase,
            ..pair.clone()
        };
        let ran = ping_pong(&pair, bytes, |sim, _, after| {
            if let Some(recording) = watch.take() {
                recording.watch_all(sim)?;
            }
            let (begin, before) = (sim.now(), LinkWatch::new(sim));
            summaries.push(monitor.run_stepping(sim, point.events_max, after)?);
            let time = sim.now() - begin;
            links.add(before.used(sim, time), time);
            Ok(())
        })?;
        total += ran.total;
        messages += ran.messages;
        for (sum, part) in totals.iter_mut().zip(ran.sums) {
            *sum += part;
        }
    }
    let mean = |sum: Ps| sum.as_ns() / messages as f64;
    let mut metrics = vec![metric("half_round_trip", mean(total), "ns")];
    let parts = parts(pair.setup.device).iter().zip(totals);
    metrics.extend(parts.map(|(part, sum)| metric(part, mean(sum), "ns")));
    Ok(measured(metrics, links.links(), summaries))
}

/// One host with a board, on which a program has run.
struct Bench {
    sim: Fabric,
    host: HtxHost,
    /// The links before the program.
    before: LinkWatch,
    summary: Summary,
}

/// Runs `program` on one host with a board.
fn bench(
    point: &Point,
    (link, phase): (&HtxLink, u8),
    program: Timed,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Bench, ExperimentError> {
    let models = (point.models.nic.clone(), point.models.processor.clone());
    let (mut sim, host) = bench_with((&setup(link), phase), models)?;
    if let Some(recording) = recording {
        recording.watch_all(&mut sim)?;
    }
    let before = LinkWatch::new(&sim);
    start(&mut sim, host.host, program)?;
    let summary = monitor.run(&mut sim, point.events_max)?;
    outcome(&sim)?;
    Ok(Bench {
        sim,
        host,
        before,
        summary,
    })
}

fn setup(link: &HtxLink) -> Setup {
    Setup {
        device: link.device,
        width_bits: link.width_bits,
        link_mhz: link.frequency_mhz,
        user_mhz: link.user_clock_mhz,
    }
}

fn measured(metrics: Vec<Metric>, links: Vec<LinkUse>, summaries: Vec<Summary>) -> Measured {
    Measured {
        metrics,
        links,
        summaries,
        ..Measured::default()
    }
}
