//! The workload of puts over links of today: its keys, and its runs.

use hostwire_plan::Diagnostic;
use hostwire_plan::file::{BANDWIDTH, Findings, Section};

use crate::experiments::links::{FlowChoice, Network, NetworkTerms, Preset, RetryChoice};
use crate::experiments::load::{Load, Pacing, Pattern};
use crate::experiments::{ExperimentError, Monitor};
use crate::record::Recording;

use super::read_load::{self, PATTERNS, pacing};
use super::read_workload::{LINES_MAX, size, up_to};
use super::run::{Measured, metric};
use super::workload::Workload;

const HOSTS_MAX: u64 = 64;
/// A put of a cache line.
const SIZE: u64 = 64;
const RATES_BYTES_PER_S: [u64; 2] = [1_000_000, 1_000_000_000_000];
const FLOWS: [(&str, FlowChoice); 3] = [
    ("credits", FlowChoice::Credits),
    ("pause", FlowChoice::Pause),
    ("drop", FlowChoice::Drop),
];
const RETRIES: [(&str, RetryChoice); 2] = [
    ("link", RetryChoice::Link),
    ("end-to-end", RetryChoice::EndToEnd),
];

/// Reads `links`.
pub(super) fn read(
    section: &mut Section<'_>,
    terms: &NetworkTerms,
    out: &mut Findings,
) -> Option<Workload> {
    for (key, example) in [("link", "\"ultra-ethernet\""), ("pattern", "\"uniform\"")] {
        if !section.has(key) {
            section.missing(key, example, out);
        }
    }
    let preset = section.choice("link", &Preset::ALL, out);
    let rate = section.quantity("rate", &BANDWIDTH, out);
    let flow = section.choice("flow", &FLOWS, out);
    let retry = section.choice("retry", &RETRIES, out);
    let hosts = section.count("hosts", 2, HOSTS_MAX, out);
    let hosts = hosts.map_or(16, |hosts| hosts.value as u16);
    let load = load(section, hosts, out);
    let preset = preset?.value;
    let [least, most] = RATES_BYTES_PER_S;
    if let Some(rate) = rate.filter(|rate| !(least..=most).contains(&rate.value)) {
        out.push(
            Diagnostic::error("value", "`rate` is out of range")
                .label(rate.span, "expected 1MB/s to 1000GB/s")
                .help("it is that of one direction of every link"),
        );
    }
    let piece_bytes = u64::from(preset.cut().payload_bytes_max + preset.cut().header_bytes);
    if u64::from(terms.buffer_bytes) < 4 * piece_bytes {
        out.push(
            Diagnostic::error(
                "no-credit",
                "the buffers of a port hold less than four packets",
            )
            .label(
                section.span(),
                format!("one takes up to {piece_bytes} B here"),
            )
            .help("make `buffer` in [parameters] larger"),
        );
    }
    Some(Workload::Links(Box::new(Network {
        preset,
        bytes_per_s: rate.map_or(preset.bytes_per_s(), |rate| rate.value),
        flow: flow.map_or(FlowChoice::Credits, |flow| flow.value),
        retry: retry.map_or(RetryChoice::Link, |retry| retry.value),
        hosts,
        to: load.as_ref().map_or(0, |load| load.target as u64),
        load: load?,
        terms: terms.clone(),
    })))
}

fn load(section: &mut Section<'_>, hosts: u16, out: &mut Findings) -> Option<Load> {
    let pattern = section.choice("pattern", &PATTERNS, out)?.value;
    let target = match pattern {
        Pattern::Incast | Pattern::HotSpot => section.count("to", 0, u64::from(hosts) - 1, out),
        _ => None,
    };
    let share = match pattern {
        Pattern::HotSpot => section.count("share", 1, 100, out),
        _ => None,
    };
    let size = size(section, SIZE, &up_to(read_load::SIZE_MAX), out);
    let messages = section.count("messages", 1, 1 << 30, out);
    let pacing = pacing(section, out);
    let seed = section.count("seed", 0, i64::MAX as u64, out);
    let size = size?;
    let count = messages.map_or(10_000, |messages| messages.value);
    let place = messages.map_or(size.span, |messages| messages.span);
    let lines = size.value.div_ceil(SIZE).saturating_mul(u64::from(hosts));
    if lines.saturating_mul(count) > 4 * LINES_MAX {
        let what = format!("{hosts} hosts send more than {} lines", 4 * LINES_MAX);
        out.push(
            Diagnostic::error("value", what)
                .label(place, format!("{count} messages of {} B each", size.value))
                .help("send less: a run takes microseconds of real time for each line"),
        );
    }
    Some(Load {
        pattern,
        target: target.map_or(0, |target| target.value as usize),
        share_pct: (pattern == Pattern::HotSpot).then(|| share.map_or(50, |share| share.value)),
        size_bytes: size.value,
        messages: count,
        pacing: match pacing? {
            // One message at a time would measure latency only.
            Pacing::Closed { in_flight: 1 } if !section.has("in_flight") => {
                Pacing::Closed { in_flight: 64 }
            }
            pacing => pacing,
        },
        seed: seed.map_or(1, |seed| seed.value),
    })
}

pub(super) fn run(
    network: &Network,
    events_max: u64,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    let ran = network.run(events_max, monitor, recording)?;
    let latencies = &ran.latencies;
    let bits = latencies.bytes as f64 * 8.0;
    let puts = latencies.count() as f64;
    let time_ns = latencies.time.as_ns().max(1e-3);
    let mut metrics = vec![
        metric("time", time_ns, "ns"),
        metric("goodput", bits / time_ns, "Gb/s"),
        metric("goodput_share", ran.share * 100.0, "%"),
        metric("message_rate", puts / time_ns * 1e3, "M/s"),
        metric("latency_mean", latencies.mean_ns(), "ns"),
        metric("latency_p50", latencies.percentile_ns(500), "ns"),
        metric("latency_p99", latencies.percentile_ns(990), "ns"),
        metric("latency_p999", latencies.percentile_ns(999), "ns"),
        metric("latency_max", latencies.percentile_ns(1_000), "ns"),
        metric("frames", ran.units as f64, ""),
        metric("waiting_max", ran.switch.waiting_bytes_max as f64, "B"),
    ];
    let rare = [
        ("damaged_frames", ran.damaged),
        ("dropped_packets", ran.switch.dropped),
        ("repeated_frames", ran.repeated),
        ("resent_packets", ran.resent),
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
