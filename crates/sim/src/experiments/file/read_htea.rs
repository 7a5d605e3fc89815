//! The keys of the workload of Ethernet adapters.

use hostwire_plan::Diagnostic;
use hostwire_plan::diagnostic::{Located, Span};
use hostwire_plan::file::{Findings, SIZE, Section, display_bytes};

use crate::experiments::htoe::Transfer;
use crate::htea::{Config, PAYLOAD_BYTES};

use super::workload::Workload;

/// As many as frames of any length could hold; [`Config::check`] knows the MTU.
const COUNT_MAX: u64 = 1_000_000;
const DATA_MAX: u64 = 1 << 40;

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
    let data = section.quantity("data", &SIZE, out);
    let transfer = section.choice("transfer", &Transfer::ALL, out);
    let transfer = transfer.map_or(Transfer::Unlimited, |transfer| transfer.value);
    if let Some(data) = data
        && !(data.value > 0 && data.value.is_multiple_of(PAYLOAD_BYTES) && data.value <= DATA_MAX)
    {
        let expected = format!("a multiple of 64B, at most {}", display_bytes(DATA_MAX));
        out.push(
            Diagnostic::error("value", "`data` is not made of packets")
                .label(data.span, format!("expected {expected}"))
                .help(format!("use {expected}")),
        );
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
        transfer,
        config,
    })
}
