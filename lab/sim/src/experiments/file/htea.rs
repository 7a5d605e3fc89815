//! Running adapters.

use crate::experiments::htoe::bottlenecks_of;
use crate::experiments::link_use::LinkUse;
use crate::experiments::{ExperimentError, Monitor};
use crate::models::htea::fast::{Config, HteaError, Losses, Model, PortUse};
use crate::record::Recording;

use super::run::{Measured, metric};

pub(super) fn run(
    config: Config,
    events_max: u64,
    monitor: &Monitor,
    recording: Option<&Recording>,
) -> Result<Measured, ExperimentError> {
    let mut model = Model::new(config).map_err(HteaError::from)?;
    if let Some(recording) = recording {
        recording.watch_events(model.sim())?;
    }
    let summary = monitor.run(model.sim(), events_max)?;
    let report = model.report();
    let counts = &report.counts;
    let metrics = vec![
        metric("throughput", report.throughput_gb_s, "Gb/s"),
        metric("time", report.time.as_ns(), "ns"),
        metric("last_delivery", report.latency.as_ns(), "ns"),
        metric("incoming_port", report.incoming_use * 100.0, "%"),
        metric("outgoing_port", report.outgoing_use * 100.0, "%"),
        metric("wire", report.wire_gb_s, "Gb/s"),
        metric("busiest_stage", report.deencapsulation_use * 100.0, "%"),
        metric("credits", report.credits_mean, ""),
        metric("outgoing_delay", report.outgoing_delay_ns, "ns"),
        metric("incoming_delay", report.incoming_delay_ns, "ns"),
        metric("nop_delay", report.nop_delay_ns, "ns"),
        metric("switch_wait_max", report.switch_wait_max.as_ns(), "ns"),
        metric("packets", counts.packets_delivered as f64, ""),
        metric("frames", counts.frames_received as f64, ""),
        metric("nop_frames", counts.nop_frames_received as f64, ""),
        metric("lost_frames", report.losses.lost as f64, ""),
        metric("discarded_frames", report.losses.discarded as f64, ""),
        metric("resent_frames", report.losses.resent as f64, ""),
    ];
    Ok(Measured {
        // In a short run no packet waits, and no credits return.
        metrics: metrics
            .into_iter()
            .filter(|metric| metric.value > 0.0)
            .collect(),
        links: model.ports().into_iter().map(link_use).collect(),
        bottlenecks: bottlenecks_of(&config, report.throughput_gb_s),
        hints: losses(&config, &report.losses).into_iter().collect(),
        summaries: vec![summary],
        ..Measured::default()
    })
}

/// An incoming MAC that holds fewer frames than its links may have on the way.
fn losses(config: &Config, losses: &Losses) -> Option<String> {
    if losses.lost == 0 {
        return None;
    }
    let links = match config.multiplexed {
        true => config.senders(),
        false => config.senders().div_ceil(config.stages_in.max(1)),
    };
    let (room, each) = (config.incoming_frames, config.retry_frames);
    let fewer = match room / links.max(1) {
        0 => String::new(),
        most => format!(", or with retry_frames = {most}"),
    };
    Some(format!(
        "an incoming MAC holds {room} frames, and its links, {links} of them, may have {each} each on the way: {} were lost, and \
         {} behind them took their time in de-encapsulation and were thrown away (Go-Back-N). None is lost with \
         incoming_frames = {}, or 0 for no limit{fewer}",
        losses.lost,
        losses.discarded,
        links.saturating_mul(each),
    ))
}

fn link_use(port: PortUse) -> LinkUse {
    LinkUse {
        link: port.name,
        from: if port.back { "B" } else { "A" },
        payload_bytes: port.payload_bytes,
        utilisation: port.utilisation,
    }
}
