//! The keys of the workload of Ethernet adapters.

use hostwire_plan::Diagnostic;
use hostwire_plan::diagnostic::{Located, Span};
use hostwire_plan::file::{Findings, SIZE, Section, display_bytes};

use crate::experiments::htoe::Transfer;
use crate::models::htea::fast::{Config, PAYLOAD_BYTES};

use super::workload::Workload;

/// As many as frames of any length could hold; [`Config::check`] knows the MTU.
const COUNT_MAX: u64 = 1_000_000;
const DATA_MAX: u64 = 1 << 40;

/// How stages get to the switch: whether they share a port.
const PORTS: [(&str, bool); 2] = [("separate", false), ("multiplexed", true)];

/// Reads `htea`.
pub(super) fn read(
    section: &mut Section<'_>,
    parameters: &Config,
    out: &mut Findings,
) -> Option<Workload> {
    let whole = section.span();
    let keys = [
        ("nodes", 32),
        ("packets_per_frame", COUNT_MAX),
        ("nops_per_frame", COUNT_MAX),
        ("credits_per_nop", 3),
        ("incoming_stages", 32),
        ("outgoing_stages", 32),
    ];
    let counts = keys.map(|(key, most)| section.count(key, 1, most, out));
    let gets = section.count("gets", 1, 1 << 20, out);
    let get = section.quantity("get", &SIZE, out);
    let ports = section.choice("ports", &PORTS, out);
    let data = section.quantity("data", &SIZE, out);
    let transfer = section.choice("transfer", &Transfer::ALL, out);
    let transfer = transfer.map_or(Transfer::Unlimited, |transfer| transfer.value);
    if !sizes_are_sound(data, get, gets.is_some(), out) {
        return None;
    }
    let [nodes, packets, nops, credits, stages_in, stages_out] = counts;
    let or = |count: Option<Located<u64>>, usual| count.map_or(usual, |count| count.value);
    let mut config = Config {
        nodes: or(nodes, parameters.nodes),
        packets: data.map_or(parameters.packets, |data| data.value / PAYLOAD_BYTES),
        packets_per_frame: or(packets, parameters.packets_per_frame),
        nops_per_frame: or(nops, parameters.nops_per_frame),
        credits_per_nop: or(credits, parameters.credits_per_nop),
        stages_in: or(stages_in, parameters.stages_in),
        stages_out: or(stages_out, parameters.stages_out),
        multiplexed: ports.is_some_and(|ports| ports.value),
        gets: or(gets, parameters.gets),
        get_packets: get.map_or(parameters.get_packets, |get| get.value / PAYLOAD_BYTES),
        ..*parameters
    };
    config.timing.sink_packet = transfer.packet();
    if let Err(error) = config.check() {
        let place = |key: &str| {
            let counted = keys.iter().zip(&counts);
            let known = counted.filter(|((name, _), _)| *name == key);
            known
                .filter_map(|(_, count)| *count)
                .map(|count| count.span)
                .next()
        };
        let span: Span = place(error.field())
            .or_else(|| place("nops_per_frame"))
            .or_else(|| place("packets_per_frame"))
            .unwrap_or(whole);
        out.push(
            Diagnostic::error("htea", "such adapters cannot be")
                .label(span, error.to_string())
                .help(format!("change `{}`", error.field())),
        );
        return None;
    }
    Some(Workload::Htea {
        nodes: config.nodes,
        packets: config.packets,
        packets_per_frame: config.packets_per_frame,
        nops_per_frame: config.nops_per_frame,
        credits_per_nop: config.credits_per_nop,
        incoming_stages: config.stages_in,
        outgoing_stages: config.stages_out,
        multiplexed: config.multiplexed,
        gets: config.gets,
        get_packets: (config.gets > 0).then_some(config.get_packets),
        transfer,
        config,
    })
}

fn is_packets(bytes: u64) -> bool {
    bytes > 0 && bytes.is_multiple_of(PAYLOAD_BYTES) && bytes <= DATA_MAX
}

/// Whether data and gets are made of packets, and gets are there.
fn sizes_are_sound(
    data: Option<Located<u64>>,
    get: Option<Located<u64>>,
    has_gets: bool,
    out: &mut Findings,
) -> bool {
    for (key, size) in [("data", data), ("get", get)] {
        let Some(size) = size.filter(|size| !is_packets(size.value)) else {
            continue;
        };
        let expected = format!("a multiple of 64B, at most {}", display_bytes(DATA_MAX));
        out.push(
            Diagnostic::error("value", format!("`{key}` is not made of packets"))
                .label(size.span, format!("expected {expected}"))
                .help(format!("use {expected}")),
        );
        return false;
    }
    if let Some(get) = get.filter(|_| !has_gets) {
        out.push(
            Diagnostic::error("htea", "`get` is the size of gets, and there are none")
                .label(get.span, "without `gets` senders send of themselves")
                .help("say with `gets` how many are open on each virtual link"),
        );
        return false;
    }
    true
}
