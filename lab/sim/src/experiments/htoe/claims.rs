//! Published and simulated numbers.

use super::bottlenecks::limited;
use super::{Optimised, Q1, Q21, Query, TIMING, Transfer, one_packet};
use crate::experiments::{Claims, ExperimentError, Row};
use crate::models::htea::fast::{Config, HteaError, PAYLOAD_BYTES, Report, port_data_share, run};

const CLAIMS: &str = include_str!("../../../experiments/htoe/claims.toml");

/// The published numbers.
///
/// # Errors
/// [`ExperimentError::Claims`] if the file is wrong.
pub fn claims() -> Result<Claims, ExperimentError> {
    Claims::parse(CLAIMS)
}

/// Runs everything and compares.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn reproduce() -> Result<Vec<Row>, ExperimentError> {
    let mut simulated = latency()?;
    // A frame per NOP: the longest runs, for several rows.
    let starved = full(Optimised::Nothing, 8, 20, 1)?;
    simulated.extend(bandwidth(&starved)?);
    simulated.extend(collapse()?);
    simulated.extend(delays(&starved)?);
    simulated.extend(context()?);
    Ok(claims()?.judge(&simulated))
}

type Values = Vec<(&'static str, f64)>;

/// The paper's 1 GB.
fn full(optimised: Optimised, nodes: u64, packets: u64, nops: u64) -> Result<Report, HteaError> {
    run(optimised.config(nodes, packets, nops))
}

/// The same with buffers of which half can be filled: 16 MiB each way.
fn half_buffers(nodes: u64, packets: u64, nops: u64) -> Result<Report, HteaError> {
    let config = Optimised::Nothing.config(nodes, packets, nops);
    run(Config {
        buffers_out_bytes: config.buffers_out_bytes / 2,
        buffers_in_bytes: config.buffers_in_bytes / 2,
        ..config
    })
}

/// Table I.
fn latency() -> Result<Values, HteaError> {
    let one = one_packet()?.latency.as_ns();
    Ok(vec![
        ("E1", one),
        ("E2", one),
        ("E15", TIMING.switch.as_ns()),
    ])
}

/// Figures 5, 8 and 9.
fn bandwidth(starved: &Report) -> Result<Values, HteaError> {
    let plain = full(Optimised::Nothing, 8, 20, 50)?;
    let incoming = full(Optimised::Incoming, 8, 20, 50)?;
    let outgoing = full(Optimised::Outgoing, 8, 20, 50)?;
    let both = full(Optimised::Both, 8, 20, 50)?;
    let [two, four] = [2, 4].map(|nodes| full(Optimised::Both, nodes, 20, 50));
    let queues = run(Config {
        multiplexed: true,
        ..Optimised::Both.config(8, 20, 50)
    })?;
    let gets = |gets| {
        let config = Config {
            packets: (16 << 20) / PAYLOAD_BYTES,
            gets,
            ..Optimised::Nothing.config(2, 20, 50)
        };
        Ok::<_, HteaError>(run(config)?.throughput_gb_s)
    };
    Ok(vec![
        ("E14-queues", queues.throughput_gb_s),
        ("E14-queues-use", queues.incoming_use),
        ("E19-1", gets(1)?),
        ("E19-2", gets(2)?),
        ("E19-8", gets(8)?),
        ("E3-least", starved.throughput_gb_s),
        ("E3-most", both.throughput_gb_s),
        ("E4-plain", plain.throughput_gb_s),
        ("E4-incoming", incoming.throughput_gb_s),
        ("E4-ratio", incoming.throughput_gb_s / plain.throughput_gb_s),
        ("E4-outgoing", outgoing.throughput_gb_s),
        ("E4-base", starved.throughput_gb_s),
        ("E4-nodes-2", two?.throughput_gb_s),
        ("E4-nodes-4", four?.throughput_gb_s),
        ("E14", 4.0 * TIMING.port_gb_s as f64 * port_data_share(20)),
        ("E14-limit", both.incoming_use),
    ])
}

/// Runs that could explain the paper's 2.80 Gb/s: 16 MiB each, which is enough for a steady
/// state.
fn collapse() -> Result<Values, HteaError> {
    let plain = |nodes| Config {
        packets: (16 << 20) / PAYLOAD_BYTES,
        ..Optimised::Nothing.config(nodes, 20, 50)
    };
    let lossy = |retry_frames| {
        let config = Config {
            incoming_frames: 8,
            retry_frames,
            ..plain(8)
        };
        Ok::<_, HteaError>(run(config)?.throughput_gb_s)
    };
    let few = Config {
        buffers_in_bytes: 6 << 10,
        ..plain(2)
    };
    Ok(vec![
        ("E4-loss-2", lossy(2)?),
        ("E4-loss-8", lossy(8)?),
        ("E4-loss-16", lossy(16)?),
        ("E4-few", run(few)?.throughput_gb_s),
    ])
}

/// Figures 6 and 7, and the statements of the text about them.
fn delays(eight: &Report) -> Result<Values, HteaError> {
    let one = full(Optimised::Nothing, 2, 1, 10)?;
    let [some, many] = [10, 50].map(|nops| full(Optimised::Nothing, 2, 20, nops));
    let (some, many) = (some?, many?);
    let few = full(Optimised::Nothing, 2, 20, 1)?;
    let wide = full(Optimised::Outgoing, 8, 20, 1)?;
    let [half_one, half_many, half_eight] = [(2, 1, 10), (2, 20, 50), (8, 20, 1)]
        .map(|(nodes, packets, nops)| half_buffers(nodes, packets, nops));
    // Table I has the queue behind the stage as a part of the incoming way.
    let queuing = TIMING.queuing.as_ns();
    let ms = |ns: f64| ns / 1e6;
    Ok(vec![
        ("E5-most", ms(one.outgoing_delay_ns)),
        ("E5-least", many.outgoing_delay_ns),
        ("E5-most-16", ms(half_one?.outgoing_delay_ns)),
        ("E6-least", one.incoming_delay_ns + queuing),
        ("E6-most", ms(many.incoming_delay_ns + queuing)),
        ("E6-most-16", ms(half_many?.incoming_delay_ns + queuing)),
        ("E7-plain", ms(eight.nop_delay_ns)),
        ("E7-plain-16", ms(half_eight?.nop_delay_ns)),
        ("E7-wide", wide.nop_delay_ns),
        ("E16", many.wire_gb_s / some.wire_gb_s),
        ("E17-equal", many.credits_mean / some.credits_mean),
        ("E17-few", few.credits_mean / many.credits_mean),
    ])
}

/// Units, sizes, and the rest of the way.
fn context() -> Result<Values, HteaError> {
    let config = Config::default();
    let both = full(Optimised::Both, 8, 20, 50)?.throughput_gb_s;
    let fits = |packets: u64| {
        let config = Config {
            packets_per_frame: packets,
            ..config
        };
        config.check().is_ok()
    };
    let ht_gb_s = (PAYLOAD_BYTES + 8) as f64 / TIMING.ht_packet.as_ns();
    let most = (1..=64).take_while(|packets| fits(*packets)).count();
    Ok(vec![
        ("E8-Q1", Q1.transfer_s),
        ("E8-Q21", Q21.transfer_s),
        ("E9-pcie-Q1", Query::printed_gb_s(Q1.transfer_s)),
        ("E9-pcie-Q21", Query::printed_gb_s(Q21.transfer_s)),
        ("E9-query-Q1", Query::printed_gb_s(Q1.compute_s)),
        ("E9-query-Q21", Query::printed_gb_s(Q21.compute_s)),
        ("E10-bits", both),
        ("E10-bytes", both),
        ("E10-Q1", limited(Transfer::Q1)?),
        ("E10-Q21", limited(Transfer::Q21)?),
        ("E11", config.packets as f64 / 1e6),
        ("E12", ht_gb_s),
        ("E12-32", 2.0 * ht_gb_s),
        ("E13-packets", most as f64),
        (
            "E13-buffers",
            (config.buffers_in_bytes + config.buffers_out_bytes) as f64 / f64::from(1 << 20),
        ),
    ])
}
