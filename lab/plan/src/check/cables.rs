//! Cables that cannot exist as the file says: a cable twice, a cable from a link to itself,
//! or two cables in one socket.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Findings, Span};
use crate::spec::{CableSpec, Fabric, SouthRole};
use crate::topology::{Node, Port, peach2_port_name};

/// Checks the listed cables against each other and against the ports they join.
pub(crate) fn check(
    fabric: Fabric,
    nodes: &[Node],
    cables: &[(&CableSpec, [Port; 2])],
    out: &mut Findings,
) {
    let mut by_port: HashMap<Port, usize> = HashMap::new();
    for (number, (cable, ends)) in cables.iter().enumerate() {
        let [a, b] = *ends;
        if a == b {
            out.push(
                Diagnostic::error("self-link", "both ends of the cable are in one port")
                    .label(cable.to.span, "the same port as `from`")
                    .help("plug the other end into another node"),
            );
            continue;
        }
        if a.node == b.node {
            out.push(
                Diagnostic::error(
                    "self-link",
                    format!("the cable joins `{}` to itself", nodes[a.node].name),
                )
                .label(cable.to.span, "the same node as `from`")
                .note("the coherent links inside a supernode are not cables; see `coherent`")
                .help("plug one end into another node"),
            );
            continue;
        }
        if fabric == Fabric::Peach2 {
            check_roles(nodes, cable, *ends, out);
        }
        let [first, second] = [a, b].map(|port| *by_port.entry(port).or_insert(number));
        if first == second && first != number {
            out.push(
                Diagnostic::error("duplicate-link", "the same cable is listed twice")
                    .label(cable.span, "this one")
                    .label(cables[first].0.span, "was listed here")
                    .help("remove one of them"),
            );
            continue;
        }
        for (other, port) in [(first, &cable.from), (second, &cable.to)] {
            if other != number {
                out.push(port_taken(port.span, cables[other].0.span));
            }
        }
    }
}

/// Two cables in one port: where the second one says so, and the first one.
pub(crate) fn port_taken(end: Span, other: Span) -> Diagnostic {
    Diagnostic::error("contradictory-link", "two cables are plugged into one port")
        .label(end, "this port is taken")
        .label(other, "by this cable")
        .help("move one of the cables to another port")
}

/// A PCI Express link needs a root complex at one end and an endpoint at the other
/// (tca-peach2, section III.D: port east is an endpoint, west a root complex).
fn check_roles(nodes: &[Node], cable: &CableSpec, ends: [Port; 2], out: &mut Findings) {
    let roles = ends.map(|port| match port.link.get() {
        0 => Some(SouthRole::Endpoint),
        1 => Some(SouthRole::RootComplex),
        _ => nodes[port.node].template.south.map(|s| s.value),
    });
    for (role, port) in roles.iter().zip([&cable.from, &cable.to]) {
        if role.is_none() {
            out.push(
                Diagnostic::error(
                    "port-role",
                    format!("`{}` has no role for port south", port.value.node),
                )
                .label(
                    port.span,
                    "its FPGA image makes port south a root complex or an endpoint",
                )
                .help("add `south = \"rc\"` or `south = \"ep\"` to the node"),
            );
        }
    }
    if let [Some(a), Some(b)] = roles
        && a == b
    {
        let name = |role| match role {
            SouthRole::Endpoint => "an endpoint",
            SouthRole::RootComplex => "a root complex",
        };
        let [from, to] = ends.map(|p| peach2_port_name(p.link));
        out.push(
            Diagnostic::error(
                "port-role",
                format!("port {from} and port {to} are both {}", name(a)),
            )
            .label(cable.to.span, format!("{}, as is the other end", name(b)))
            .note("a PCI Express link needs a root complex at one end and an endpoint at the other")
            .help("join east to west; give the two south ports different roles"),
        );
    }
}
