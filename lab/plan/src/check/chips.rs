//! PEACH2 chips below nodes: bounds that do not overlap, and registers that lead to the right chip.

use crate::diagnostic::{Diagnostic, Findings};
use crate::id::LinkIndex;
use crate::plan::Plan;
use crate::registers::Step;
use crate::registers::peach2::{NORTH, Router};
use crate::route::{Routes, chips};
use crate::spec::AdapterKind;
use crate::topology::{Topology, gate_of, peach2_port_name};

/// The addresses behind each port of a chip lie together.
pub(crate) fn check_bounds(topology: &Topology, routes: &Routes, out: &mut Findings) {
    let Err(overlap) = chips::bounds(topology, &routes.map, &routes.next) else {
        return;
    };
    let gates = topology.gates();
    let Some(gate) = gate_of(&gates, AdapterKind::Peach2, overlap.chip) else {
        return;
    };
    let node = &topology.nodes[gate.port.node];
    let [a, b] = overlap
        .ports
        .map(|port| peach2_port_name(LinkIndex::from_bits(port)));
    out.push(
        Diagnostic::error(
            "interval-routing",
            format!(
                "the {} of `{}` needs addresses on both sides of others behind one port",
                gate.kind.name(gate.index),
                node.name
            ),
        )
        .label(
            node.span_of(gate.kind, gate.member),
            format!("the bounds of ports {a} and {b} would overlap"),
        )
        .note("a PEACH2 port has one lower and one upper bound")
        .note("islands that packets reach over one port of a chip have to be numbered one after the other")
        .help("join fewer islands over this chip, or remove `base` so that the planner orders them"),
    );
}

/// Follows what each chip sends through the registers of the chips.
pub(crate) fn check_delivery(plan: &Plan, out: &mut Findings) {
    let routers: Vec<Router> = plan
        .chips()
        .iter()
        .map(|chip| Router::from_writes(&chip.registers))
        .collect();
    let across = |chip: usize, port: u8| {
        let here = (chip, port);
        plan.chip_cables().iter().find_map(|ends| match *ends {
            [a, b] if a == here => Some(b.0),
            [a, b] if b == here => Some(a.0),
            _ => None,
        })
    };
    let chips = plan.adapters().iter();
    for adapter in chips.filter(|adapter| adapter.kind == AdapterKind::Peach2) {
        for (range, target) in &adapter.targets {
            let target = plan.adapters()[*target].member;
            for address in [range.start, range.last()] {
                let mut at = Some(adapter.member);
                for _ in 0..routers.len() {
                    let step = at.map(|chip| (chip, routers[chip].step(address)));
                    at = match step {
                        Some((chip, Step::Forward(port))) => across(chip, port.get()),
                        Some((chip, Step::Deliver)) if chip == target => break,
                        _ => None,
                    };
                }
                if at != Some(target) {
                    let name = &plan.chips()[adapter.member].name;
                    out.push(Diagnostic::error(
                        "delivery",
                        format!("the chips do not lead {address} from {name} to port {NORTH} of its chip"),
                    ));
                }
            }
        }
    }
}
