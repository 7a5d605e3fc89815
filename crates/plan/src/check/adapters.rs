//! Adapters have somebody to talk to, and buffers for everybody.

use crate::diagnostic::{Diagnostic, Findings};
use crate::plan::Plan;
use crate::spec::ClusterSpec;
use crate::topology::Topology;

/// Most adapters on one switch.
pub(crate) const ADAPTERS_MAX: usize = 256;

/// Checks what the file says of adapters and their network.
pub(crate) fn check(spec: &ClusterSpec, topology: &Topology, out: &mut Findings) {
    let gateways = topology.gateways();
    let place = |node: &usize| {
        let node = &topology.nodes[*node];
        node.adapter_place.map_or(node.span, |place| place.span)
    };
    let sections = [
        ("[ethernet]", spec.ethernet.map(|given| given.span)),
        ("[htea]", spec.htea.map(|given| given.span)),
    ];
    if gateways.is_empty() {
        for (name, span) in sections {
            if let Some(span) = span {
                out.push(
                    Diagnostic::error("adapter", format!("{name}, and no node has an adapter"))
                        .label(span, "describes what is not there")
                        .help("give nodes an `adapter`, or remove this"),
                );
            }
        }
        return;
    }
    if let [only] = gateways.as_slice() {
        out.push(
            Diagnostic::error(
                "adapter",
                format!("only `{}` has an adapter", topology.nodes[*only].name),
            )
            .label(place(only), "there is no other one to talk to")
            .help("give another node an `adapter`, or remove this one"),
        );
    }
    if let Some(extra) = gateways.get(ADAPTERS_MAX) {
        out.push(
            Diagnostic::error(
                "adapter",
                format!("{} nodes have an adapter", gateways.len()),
            )
            .label(place(extra), format!("expected at most {ADAPTERS_MAX}"))
            .help("give one node of each island an adapter"),
        );
    }
    check_buffers(spec, gateways.len() as u64, out);
}

/// Warns about adapters that no route uses.
pub(crate) fn check_unused(topology: &Topology, plan: &Plan, out: &mut Findings) {
    for adapter in plan.adapters() {
        let node = &topology.nodes[adapter.port.processor.node.index()];
        if adapter.targets.is_empty() {
            out.push(
                Diagnostic::warning(
                    "unused-adapter",
                    format!("no route uses the adapter of `{}`", node.name),
                )
                .label(
                    node.adapter_place.map_or(node.span, |place| place.span),
                    "carries nothing",
                )
                .note("where several adapters of an island could deadlock, one does all work")
                .help("remove it"),
            );
        }
    }
}

/// Each virtual link needs a buffer at both ends.
fn check_buffers(spec: &ClusterSpec, adapters: u64, out: &mut Findings) {
    let Some(htea) = spec.htea else {
        return;
    };
    let peers = adapters.saturating_sub(1);
    let needed = htea.value.buffer_bytes.saturating_mul(peers);
    for (key, got) in [
        ("buffers_in", htea.value.buffers_in_bytes),
        ("buffers_out", htea.value.buffers_out_bytes),
    ] {
        if got < needed {
            out.push(
                Diagnostic::error(
                    "adapter",
                    format!("`{key}` has no packet for each of {peers} virtual links"),
                )
                .label(
                    htea.span,
                    format!("expected at least {needed} bytes, got {got}"),
                )
                .note("the virtual links of an adapter share its buffers equally")
                .help(format!("raise `{key}`, or lower `buffer`")),
            );
        }
    }
    let timing = htea.value;
    for (key, first, packet) in [
        (
            "encapsulation",
            timing.encapsulation_ps,
            timing.encapsulation_packet_ps,
        ),
        (
            "deencapsulation",
            timing.deencapsulation_ps,
            timing.deencapsulation_packet_ps,
        ),
    ] {
        if packet > first {
            out.push(
                Diagnostic::error("adapter", format!("`{key}_packet` is longer than `{key}`"))
                    .label(
                        htea.span,
                        "a further packet takes longer than a frame with one",
                    )
                    .help(format!("lower `{key}_packet`")),
            );
        }
    }
}
