//! The workload of hosts with the project's own links: its keys, and its runs.

use hostwire_plan::Diagnostic;
use hostwire_plan::file::{Findings, Section};

use crate::experiments::ethernet::{Ethernet, LINE_BYTES, Towards};
use crate::experiments::{ExperimentError, Monitor};
use crate::record::Recording;

use super::ethernet_parameters::EthernetModels;
use super::read_workload::LINES_MAX;
use super::run::{Measured, metric};
use super::workload::Workload;

const HOSTS_MAX: u64 = 64;
const PATTERNS: [(&str, Towards); 2] = [("incast", Towards::Incast), ("ring", Towards::Ring)];

/// Reads `ethernet`.
pub(super) fn read(
    section: &mut Section<'_>,
    models: &EthernetModels,
    out: &mut Findings,
) -> Option<Workload> {
    let hosts = section.count("hosts", 2, HOSTS_MAX, out);
    let towards = section.choice("pattern", &PATTERNS, out);
    let lines = section.count("lines", 1, LINES_MAX / HOSTS_MAX, out);
    if let Err(error) = models.link.check() {
        out.push(
            Diagnostic::error("ethernet", error.to_string())
                .label(section.span(), "the links of this workload")
                .help("see [parameters]"),
        );
        return None;
    }
    Some(Workload::Ethernet {
        hosts: hosts.map_or(2, |hosts| hosts.value as u16),
        pattern: towards.map_or(Towards::Incast, |towards| towards.value),
        lines: lines.map_or(10_000, |lines| lines.value),
    })
}

pub(super) fn run(
    network: &Ethernet,
    events_max: u64,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    let ran = network.run(events_max, monitor, recording)?;
    let (latencies, switch) = (&ran.latencies, &ran.switch);
    let bits = latencies.count() as f64 * LINE_BYTES as f64 * 8.0;
    let mut metrics = vec![
        metric("time", latencies.time.as_ns(), "ns"),
        metric("goodput", bits / latencies.time.as_ns().max(1e-3), "Gb/s"),
        metric("latency_mean", latencies.mean_ns(), "ns"),
        metric("latency_p50", latencies.percentile_ns(500), "ns"),
        metric("latency_p99", latencies.percentile_ns(990), "ns"),
        metric("latency_max", latencies.percentile_ns(1_000), "ns"),
        metric("frames", switch.frames as f64, ""),
    ];
    let rare = [
        ("lost_frames", switch.lost),
        ("dropped_frames", switch.dropped),
        ("doubled_frames", switch.doubled),
        ("delayed_frames", switch.delayed),
        ("resent_frames", ran.resent),
    ];
    let seen = rare.into_iter().filter(|(_, count)| *count > 0);
    metrics.extend(seen.map(|(name, count)| metric(name, count as f64, "")));
    Ok(Measured {
        metrics,
        links: ran.links,
        flows: latencies.flows(|host| host.to_string()),
        histogram: latencies.histogram(),
        summaries: vec![ran.summary],
        ..Measured::default()
    })
}
