//! Workloads of the HTX board.

use crate::engine::{Ps, Summary};
use crate::experiments::htx_board::{end_to_end_with, written};
use crate::experiments::htx_host::start;
use crate::experiments::htx_ping_pong::{PARTS, Pair, ping_pong};
use crate::experiments::link_use::LinkUse;
use crate::experiments::programs::{BareStores, Step, Timed};
use crate::experiments::{ExperimentError, Monitor};
use crate::machine::htx::{HtxHost, Setup, WINDOW, add_host_with};
use crate::models::Fabric;
use crate::models::ht::Link;
use crate::models::ht::cable::Medium;
use crate::models::ht::opteron::Op;
use crate::models::link::End;
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
            let (sim, host, summary) = bench(point, link, program, monitor, recording)?;
            let (rate, last) = written(&sim, &host, *size_bytes)?;
            let links = link_use(&sim, &host, last - SETTLE);
            Ok(Measured {
                links,
                ..measured(vec![metric("bandwidth", rate, "MiB/s")], vec![summary])
            })
        }
        Workload::HtxRead { size_bytes, link } => {
            let load = Op::Load {
                address: WINDOW,
                bytes: *size_bytes as usize,
            };
            let (program, marks) = Timed::new([Step::Mark, Step::Do(load), Step::Mark]);
            let (_, _, summary) = bench(point, link, program, monitor, recording)?;
            let [begin, end] = marks.times()[..] else {
                return Err(ExperimentError::NoMeasurement("read"));
            };
            let latency = (end - begin).as_ns();
            Ok(measured(
                vec![metric("latency", latency, "ns")],
                vec![summary],
            ))
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
            let inches = *cable_um as f64 / 25_400.0;
            let pair = Pair {
                setup: setup(link),
                port: *port,
                propagation: Medium::HtxCable.propagation(inches),
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
    let mut watch = recording;
    let result = end_to_end_with(&setup(link), models, bytes, |sim, _| {
        // The phases of the poll loop differ by a nanosecond; one is enough to see.
        if let Some(recording) = watch.take() {
            recording.watch_all(sim)?;
        }
        summaries.push(monitor.run(sim, point.events_max)?);
        Ok(())
    })?;
    let metrics = vec![
        metric("latency", result.latency_ns, "ns"),
        metric("wire_time", result.wire_ns, "ns"),
        metric("hardware_time", result.hardware_ns, "ns"),
    ];
    Ok(measured(metrics, summaries))
}

fn ping_pong_of(
    point: &Point,
    pair: &Pair,
    bytes: usize,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    let mut summaries = Vec::new();
    let result = ping_pong(pair, bytes, |sim, _, after| {
        if let Some(recording) = recording {
            recording.watch_all(sim)?;
        }
        summaries.push(monitor.run_stepping(sim, point.events_max, after)?);
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
    Ok(measured(metrics, summaries))
}

/// One host with a board, on which `program` has run.
fn bench(
    point: &Point,
    link: &HtxLink,
    program: Timed,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<(Fabric, HtxHost, Summary), ExperimentError> {
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
    start(&mut sim, host.host, program)?;
    let summary = monitor.run(&mut sim, point.events_max)?;
    Ok((sim, host, summary))
}

/// Both directions of the board's link over `time`.
fn link_use(sim: &Fabric, host: &HtxHost, time: Ps) -> Vec<LinkUse> {
    let Some(link) = sim.component::<Link>(host.link) else {
        return Vec::new();
    };
    let direction = |(end, from)| {
        let counters = link.counters(end);
        LinkUse {
            link: "processor - board".to_owned(),
            from,
            payload_bytes: counters.payload_bytes,
            utilisation: counters.busy.as_s() / time.as_s().max(f64::MIN_POSITIVE),
        }
    };
    [(End::A, "A"), (End::B, "B")].map(direction).into()
}

fn setup(link: &HtxLink) -> Setup {
    Setup {
        width_bits: link.width_bits,
        link_mhz: link.frequency_mhz,
        user_mhz: link.user_clock_mhz,
    }
}

fn measured(metrics: Vec<Metric>, summaries: Vec<Summary>) -> Measured {
    Measured {
        metrics,
        summaries,
        ..Measured::default()
    }
}
