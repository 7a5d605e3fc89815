//! The paper's figures 3 and 10: what could limit the data on their way to the query.

use serde::Serialize;

use super::{Optimised, Q1, Q21, Query, TIMING, Transfer, stage_gb_s};
use crate::htea::{Config, HteaError, PAYLOAD_BYTES, port_data_share, run};

/// A part of the way, with the data that it can carry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// What it is.
    pub part: String,
    /// Data rate that it could have, in 10^9 bits per second.
    pub limit_gb_s: f64,
    /// How it is known.
    pub source: &'static str,
    /// Whether it is less than what the adapters deliver.
    pub limits: bool,
}

/// The way of eight nodes with both optimisations, payloads of 20 packets and 50 NOPs: all
/// parts, in the order in which data pass them.
///
/// # Errors
/// [`HteaError`] if a run does not come to its end.
pub fn bottlenecks() -> Result<Vec<Bottleneck>, HteaError> {
    let config = Optimised::Both.config(8, 20, 50);
    let delivered = run(config)?.throughput_gb_s;
    let mut parts = Vec::new();
    let mut part = |part: String, limit_gb_s: f64, source| {
        parts.push(Bottleneck {
            part,
            limit_gb_s,
            source,
            limits: limit_gb_s < delivered,
        });
    };
    let packets = config.packets_per_frame;
    let senders = config.senders() as f64;
    let ports = (config.stages_in * TIMING.port_gb_s) as f64;
    // Virtual links modulo ports: the port with most links has to carry its share.
    let fullest = config.senders().div_ceil(config.stages_in) as f64;
    let spread = senders / fullest;
    let deencapsulation = stage_gb_s(TIMING.deencapsulate(packets, 0), packets);
    let ht = (PAYLOAD_BYTES * 8) as f64 / TIMING.ht_packet.as_ns();
    part(
        "HyperTransport of a sender, times 7".into(),
        ht * senders,
        "12.8 GB/s, 64 of 72 bytes",
    );
    part(
        "encapsulation of a sender, times 7".into(),
        stage_gb_s(TIMING.encapsulate(packets, 0), packets) * senders,
        "Table I, slope assumed",
    );
    part(
        "Ethernet, 4 ports of 10 Gb/s".into(),
        ports * port_data_share(packets),
        "frames of 20 packets",
    );
    part(
        "Ethernet, links modulo 4 ports".into(),
        TIMING.port_gb_s as f64 * port_data_share(packets) * spread,
        "two of seven senders share a port",
    );
    part(
        "de-encapsulation, links modulo 4 stages".into(),
        deencapsulation * spread,
        "Table I, slope fitted",
    );
    part("adapters as simulated".into(), delivered, "simulated");
    part(
        "HyperTransport of the receiver".into(),
        ht,
        "12.8 GB/s, 64 of 72 bytes",
    );
    for (query, transfer) in [(Q1, Transfer::Q1), (Q21, Transfer::Q21)] {
        let mut limited = config;
        limited.timing.sink_packet = transfer.packet();
        let name = query.name;
        let rate = Query::decimal_gb_s(query.transfer_s);
        part(
            format!("PCI Express, {name}"),
            rate,
            "measured by the paper",
        );
        let rate = run(limited)?.throughput_gb_s;
        part(
            format!("adapters with PCI Express of {name}, as simulated"),
            rate,
            "simulated",
        );
        let rate = Query::decimal_gb_s(query.compute_s);
        part(format!("query {name}"), rate, "measured by the paper");
    }
    Ok(parts)
}

/// As used by the rows of the claims.
pub(super) fn limited(transfer: Transfer) -> Result<f64, HteaError> {
    let mut config: Config = Optimised::Both.config(8, 20, 50);
    config.timing.sink_packet = transfer.packet();
    Ok(run(config)?.throughput_gb_s)
}
