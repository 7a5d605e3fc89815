//! Nodes and cables as the file lists them.

use std::collections::HashMap;

use super::wiring::{Taken, wire};
use super::{Node, Port, Topology, below, check_names, make_cable};
use crate::check;
use crate::diagnostic::{Diagnostic, Findings, Located};
use crate::spec::{CableSpec, ClusterSpec, PortRef};
use crate::{NODES_MAX, PROCESSORS_MAX};

/// Resolves the names in the cables and gives every link its use.
pub(super) fn assemble(spec: &mut ClusterSpec, out: &mut Findings) -> Option<Topology> {
    check_names(&spec.nodes, out);
    let processors: u64 = spec.nodes.iter().map(|n| n.template.processors.value).sum();
    if spec.nodes.len() > NODES_MAX || processors > PROCESSORS_MAX as u64 {
        out.push(
            Diagnostic::error(
                "size",
                format!(
                    "the file describes {} nodes with {processors} processors",
                    spec.nodes.len()
                ),
            )
            .note(format!(
                "a plan has at most {NODES_MAX} nodes and {PROCESSORS_MAX} processors"
            ))
            .help("plan a smaller cluster"),
        );
        return None;
    }
    let mut nodes: Vec<_> = std::mem::take(&mut spec.nodes)
        .into_iter()
        .map(Node::new)
        .collect();
    let numbers: HashMap<String, usize> = nodes
        .iter()
        .enumerate()
        .map(|(i, n)| (n.name.clone(), i))
        .collect();
    let mut resolved = Vec::new();
    for cable in &spec.cables {
        let ends = [&cable.from, &cable.to].map(|port| resolve(port, &nodes, &numbers, out));
        if let [Some(a), Some(b)] = ends {
            resolved.push((cable, [a, b]));
        }
    }
    check::cables::check(spec.fabric, &nodes, &resolved, out);
    let mut taken = vec![Taken::default(); nodes.len()];
    for (_, ends) in &resolved {
        for end in ends {
            taken[end.node].take(end.processor, end.link);
        }
    }
    if !out.has_errors() {
        for (node, taken) in nodes.iter_mut().zip(&mut taken) {
            wire(node, spec.fabric, taken, out);
        }
    }
    let cables = resolved
        .into_iter()
        // Further findings about these could be wrong.
        .filter(|(cable, _)| !cable.link.wrong && !spec.link.wrong)
        .map(|(cable, ends): (&CableSpec, [Port; 2])| {
            make_cable(
                &nodes,
                ends,
                cable.kind,
                &cable.link,
                &spec.link,
                cable.span,
                out,
            )
        })
        .collect();
    Some(Topology {
        fabric: spec.fabric,
        family: spec.family,
        nodes,
        cables,
        shape: None,
        below: below::Below::default(),
    })
}

fn resolve(
    port: &Located<PortRef>,
    nodes: &[Node],
    numbers: &HashMap<String, usize>,
    out: &mut Findings,
) -> Option<Port> {
    let PortRef {
        node: name,
        processor,
        link,
    } = &port.value;
    let Some(&number) = numbers.get(name) else {
        let names: Vec<_> = nodes.iter().take(1000).map(|n| n.name.as_str()).collect();
        let help = crate::spec::nearest_name(name, &names).map_or(
            "name a [[node]] or [[supernode]] of this file".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        out.push(
            Diagnostic::error(
                "unknown-node",
                format!("there is no node `{}`", crate::spec::clip_name(name)),
            )
            .label(port.span, "not the name of a node")
            .help(help),
        );
        return None;
    };
    let node = &nodes[number];
    let problem = if *processor >= node.processors() {
        Some(format!(
            "`{name}` has {} processor(s), p0 to p{}",
            node.processors(),
            node.processors() - 1
        ))
    } else if link.get() >= node.links() {
        Some(format!(
            "a processor of `{name}` has {} links, l0 to l{}",
            node.links(),
            node.links().saturating_sub(1)
        ))
    } else {
        None
    };
    if let Some(problem) = problem {
        out.push(
            Diagnostic::error(
                "link-degree",
                "the cable is plugged into a link that does not exist",
            )
            .label(port.span, problem)
            .label(node.template.span, "described here")
            .help("use an existing link; `links = 8` gives sublinks of 8 bit"),
        );
        return None;
    }
    Some(Port {
        node: number,
        processor: *processor,
        link: *link,
    })
}
