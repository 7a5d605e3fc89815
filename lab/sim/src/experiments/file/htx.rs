//! Workloads of the HTX board.

use crate::engine::{Ps, Summary};
use crate::experiments::htx_board::{end_to_end_with, written};
use crate::experiments::htx_host::start;
use crate::experiments::htx_ping_pong::{PARTS, Pair, ping_pong};
use crate::experiments::link_use::{LinkSum, LinkUse, LinkWatch};
use crate::experiments::programs::{BareStores, Step, Timed};
use crate::experiments::{ExperimentError, Monitor};
use crate::machine::htx::{HtxHost, Setup, WINDOW, add_host_with};
use crate::models::Fabric;
use crate::models::ht::cable::Medium;
use crate::models::ht::opteron::Op;
use crate::record::Recording;

use super::Point;
use super::outcome::Metric;
use super::run::{Measured, metric};
use super::workload::{HtxLink, Workload};

/// Time for the link to come up.
const SETTLE: Ps = Ps::from_us(20);

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
            };
            let program = stores.program();
            let ran = bench(point, link, program, monitor, recording)?;
            let (rate, last) = written(&ran.sim, &ran.host, *size_bytes)?;
            let links = ran.before.used(&ran.sim, last - SETTLE);
            let metrics = vec![metric("bandwidth", rate, "MiB/s")];
            Ok(measured(metrics, links, vec![ran.summary]))
        }
        Workload::HtxRead { size_bytes, link } => {
            let load = Op::Load {
                address: WINDOW,
                bytes: *size_bytes as usize,
            };
            let (program, marks) = Timed::new([Step::Mark, Step::Do(load), Step::Mark]);
            let ran = bench(point, link, program, monitor, recording)?;
            let [begin, end] = marks.times()[..] else {
                return Err(ExperimentError::NoMeasurement("read"));
            };
            let links = ran.before.used(&ran.sim, end - begin);
            let metrics = vec![metric("latency", (end - begin).as_ns(), "ns")];
            Ok(measured(metrics, links, vec![ran.summary]))
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
    let mut links = Vec::new();
    let result = ping_pong(pair, bytes, |sim, _, after| {
        if let Some(recording) = recording {
            recording.watch_all(sim)?;
        }
        let (begin, before) = (sim.now(), LinkWatch::new(sim));
        summaries.push(monitor.run_stepping(sim, point.events_max, after)?);
        links = before.used(sim, sim.now() - begin);
        Ok(())
    })?;
    let messages = result.messages as f64;
    let mut metrics = vec![metric(
        "half_round_trip",
        result.total.as_ns() / messages,
        "ns",
    )];
    let parts = PARTS.into_iter().zip(result.sums);
    metrics.extend(parts.map(|(part, sum)| metric(part, sum.as_ns() / messages, "ns")));
    Ok(measured(metrics, links, summaries))
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
    link: &HtxLink,
    program: Timed,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Bench, ExperimentError> {
    let mut sim = Fabric::new();
    let models = &point.models;
    let host = add_host_with(
        &mut sim,
        "host",
        &setup(link),
        models.nic.clone(),
        models.processor.clone(),
    );
    sim.run_until(SETTLE);
    if let Some(recording) = recording {
        recording.watch_all(&mut sim)?;
    }
    let before = LinkWatch::new(&sim);
    start(&mut sim, host.host, program)?;
    let summary = monitor.run(&mut sim, point.events_max)?;
    Ok(Bench {
        sim,
        host,
        before,
        summary,
    })
}

fn setup(link: &HtxLink) -> Setup {
    Setup {
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
