//! The paper's figures 3 and 10: what could limit the data on their way to the query.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Optimised, Q1, Q21, Query, Transfer, stage_gb_s};
use crate::models::htea::fast::{Config, HteaError, PAYLOAD_BYTES, port_data_share, run};

/// A part of the way, with the data that it can carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// What it is.
    pub part: Cow<'static, str>,
    /// Data rate that it could have, in 10^9 bits per second.
    pub limit_gb_s: f64,
    /// The delivered rate divided by that: a part at 1 limits the run.
    pub used: f64,
    /// How it is known.
    pub source: Cow<'static, str>,
}

/// All parts of the way of a run with this rate, in the order in which data, credits, and
/// then the query pass them. The needs of the paper's queries were not part of the run,
/// unless its transfer was chosen.
pub fn bottlenecks_of(config: &Config, delivered_gb_s: f64) -> Vec<Bottleneck> {
    let mut parts = Vec::new();
    let mut part = |part: String, limit_gb_s: f64, source: &'static str| {
        parts.push(Bottleneck {
            part: part.into(),
            limit_gb_s,
            used: delivered_gb_s / limit_gb_s.max(f64::MIN_POSITIVE),
            source: source.into(),
        });
    };
    let (timing, packets) = (&config.timing, config.packets_per_frame);
    let count = config.senders();
    let senders = count as f64;
    // Virtual links modulo ports: the port with most links has to carry its share.
    let spread = |ports: u64| senders / count.div_ceil(ports.max(1)) as f64;
    let port = config.port_gb_s() as f64 * port_data_share(packets);
    let ht = (PAYLOAD_BYTES * 8) as f64 / timing.ht_packet.as_ns();
    let stage = stage_gb_s(timing.encapsulate(packets, 0), packets);
    let (ports, links) = (config.stages_in, count);
    part(
        format!("HyperTransport of a sender, times {links}"),
        ht * senders,
        "12.8 GB/s, 64 of 72 bytes",
    );
    part(
        format!("encapsulation of a sender, times {links}"),
        stage * senders,
        "Table I, slope assumed",
    );
    part(
        format!("Ethernet of a sender, times {links}"),
        port * senders,
        "frames of these packets",
    );
    let (name, gb_s, why) = receiving_ports(config, port, spread(ports));
    part(name, gb_s, why);
    part(
        format!("de-encapsulation, {links} links modulo {ports} stages"),
        stage_gb_s(timing.deencapsulate(packets, 0), packets) * spread(ports),
        "Table I, slope fitted",
    );
    let batch = config.credit_batch();
    let out = config.stages_out;
    part(
        format!("credits: encapsulation of NOPs, {links} links modulo {out} stages"),
        stage_gb_s(timing.encapsulate(0, config.nops_per_frame), batch) * spread(out),
        "Table I, a NOP assumed",
    );
    part(
        format!("credits: de-encapsulation of NOPs, times {links}"),
        stage_gb_s(timing.deencapsulate(0, config.nops_per_frame), batch) * senders,
        "Table I, a NOP assumed",
    );
    part(
        "way from the adapter to the accelerator".into(),
        (PAYLOAD_BYTES * 8) as f64 / timing.out_of_adapter().as_ns(),
        "HyperTransport, or the transfer chosen",
    );
    for query in [Q1, Q21] {
        for (what, seconds) in [
            ("PCI Express", query.transfer_s),
            ("computation", query.compute_s),
        ] {
            part(
                format!("{what} of query {}", query.name),
                Query::decimal_gb_s(seconds),
                "measured by the paper",
            );
        }
    }
    parts
}

/// The ports of the receiver: name, rate, why.
fn receiving_ports(config: &Config, port_gb_s: f64, spread: f64) -> (String, f64, &'static str) {
    let (links, ports) = (config.senders(), config.stages_in);
    let part = "Ethernet of the receiver";
    match config.multiplexed {
        true => (
            format!("{part}, one port for {ports} queues"),
            port_gb_s,
            "frames of these packets",
        ),
        false => (
            format!("{part}, {links} links modulo {ports} ports"),
            port_gb_s * spread,
            "the fullest port sets the rate",
        ),
    }
}

/// The way of eight nodes with both optimisations, payloads of 20 packets and 50 NOPs.
///
/// # Errors
/// [`HteaError`] if the run does not come to its end.
pub fn bottlenecks() -> Result<Vec<Bottleneck>, HteaError> {
    let config = Optimised::Both.config(8, 20, 50);
    Ok(bottlenecks_of(&config, run(config)?.throughput_gb_s))
}

/// As used by the rows of the claims.
pub(super) fn limited(transfer: Transfer) -> Result<f64, HteaError> {
    let mut config: Config = Optimised::Both.config(8, 20, 50);
    config.timing.sink_packet = transfer.packet();
    Ok(run(config)?.throughput_gb_s)
}
