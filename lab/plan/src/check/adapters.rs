//! Adapters have somebody to talk to, and buffers for everybody.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Findings, Span};
use crate::htx::Region;
use crate::plan::{AdapterPlan, Plan};
use crate::route::Scheme;
use crate::spec::{AdapterKind, ClusterSpec};
use crate::topology::{Gate, Topology};

/// Most adapters on one switch.
pub(crate) const ADAPTERS_MAX: usize = 256;

/// Checks what the file says of adapters and their networks.
pub(crate) fn check(spec: &ClusterSpec, topology: &Topology, out: &mut Findings) {
    let gates = topology.gates();
    let htea: Vec<&Gate> = gates
        .iter()
        .filter(|gate| gate.kind == AdapterKind::Htea)
        .collect();
    let sections = [
        ("[ethernet]", spec.ethernet.map(|given| given.span)),
        ("[htea]", spec.htea.map(|given| given.span)),
    ];
    if htea.is_empty() {
        for (name, span) in sections {
            if let Some(span) = span {
                out.push(
                    Diagnostic::error("adapter", format!("{name}, and no node has an adapter"))
                        .label(span, "describes what is not there")
                        .help("give nodes an `adapter`, or remove this"),
                );
            }
        }
    }
    for gate in &gates {
        let beside = |other: &&Gate| other.network == gate.network;
        if gates.iter().filter(beside).count() == 1 {
            check_alone(topology, gate, out);
        }
    }
    for kind in AdapterKind::ALL {
        let of_kind: Vec<&Gate> = gates.iter().filter(|gate| gate.kind == kind).collect();
        if let Some(extra) = of_kind.get(ADAPTERS_MAX) {
            let (several, what) = match kind {
                AdapterKind::Htea => ("HTEA adapters", "an adapter"),
                AdapterKind::Htx => ("boards", "a board"),
                AdapterKind::Peach2 => ("chips", "a chip"),
            };
            let count = of_kind.len();
            out.push(
                Diagnostic::error("adapter", format!("the nodes have {count} {several}"))
                    .label(
                        place(topology, extra),
                        format!("expected at most {ADAPTERS_MAX}"),
                    )
                    .help(format!("give one node of each island {what}")),
            );
        }
    }
    if !htea.is_empty() {
        check_buffers(spec, htea.len() as u64, out);
    }
}

/// Where an adapter stands in the file.
fn place(topology: &Topology, gate: &Gate) -> Span {
    topology.nodes[gate.port.node].span_of(gate.kind, gate.member)
}

/// An adapter with nobody on its network.
fn check_alone(topology: &Topology, gate: &Gate, out: &mut Findings) {
    let name = &topology.nodes[gate.port.node].name;
    let device = gate.kind.name(gate.index);
    let (text, help) = match gate.kind {
        AdapterKind::Htea => (
            format!("only `{name}` has an adapter"),
            "give another node an `adapter`, or remove this one",
        ),
        AdapterKind::Htx => (
            format!("no cable joins the {device} of `{name}` to another board"),
            "add a [[cable]] such as `from = \"a.board.p0\"`, `to = \"b.board.p0\"`",
        ),
        AdapterKind::Peach2 => (
            format!("no cable joins the {device} of `{name}` to another chip"),
            "add a [[cable]] such as `from = \"a.chip.east\"`, `to = \"b.chip.west\"`",
        ),
    };
    out.push(
        Diagnostic::error("adapter", text)
            .label(place(topology, gate), "there is no other one to talk to")
            .help(help),
    );
}

/// Warns about adapters that no route uses.
pub(crate) fn check_unused(topology: &Topology, plan: &Plan, out: &mut Findings) {
    let takers: BTreeSet<usize> = plan
        .adapters()
        .iter()
        .flat_map(|adapter| adapter.targets.iter().map(|(_, to)| *to))
        .collect();
    let regions = plan.boards().map_or(&[][..], |boards| boards.regions());
    let has_region = |adapter: &AdapterPlan| {
        let of_board = |region: &Region| [region.of, region.at].contains(&adapter.member);
        adapter.kind == AdapterKind::Htx && regions.iter().any(of_board)
    };
    for (number, adapter) in plan.adapters().iter().enumerate() {
        let node = &topology.nodes[adapter.port.processor.node.index()];
        let is_used = !adapter.targets.is_empty() || takers.contains(&number);
        if !is_used && !has_region(adapter) {
            out.push(
                Diagnostic::warning(
                    "unused-adapter",
                    format!(
                        "no route uses the {} of `{}`",
                        adapter.kind.name(adapter.index),
                        node.name
                    ),
                )
                .label(
                    node.span_of(adapter.kind, adapter.member),
                    "carries nothing",
                )
                .note(match plan.scheme() {
                    Scheme::File => "the routes of the file lead elsewhere",
                    _ => "where several adapters of an island could deadlock, one does all work",
                })
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
