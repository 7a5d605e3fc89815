//! The topology as a Graphviz graph.

use std::fmt::{self, Write as _};

use crate::plan::{LinkRole, Plan};
use crate::spec::CableKind;

/// The topology for `dot` or `neato`: a cluster box per supernode, an edge per link.
pub fn dot(plan: &Plan) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, plan);
    out
}

fn write(out: &mut String, plan: &Plan) -> fmt::Result {
    writeln!(out, "graph cluster {{")?;
    writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=9];")?;
    for node in plan.nodes() {
        let many = node.processors.len() > 1;
        if many {
            writeln!(out, "  subgraph \"cluster_{}\" {{", node.name)?;
            writeln!(out, "    label=\"{}\\n{}\";", node.name, node.range)?;
        }
        for processor in &node.processors {
            let id = processor.id;
            let label = if many {
                format!("p{}", id.index)
            } else {
                format!("{}\\n{}", node.name, node.range)
            };
            writeln!(out, "    \"{id}\" [label=\"{label}\"];")?;
            for link in &processor.links {
                match (link.role, link.peer) {
                    // Each coherent link is listed at both ends.
                    (LinkRole::Coherent, Some(peer)) if id < peer.processor => {
                        writeln!(out, "    \"{id}\" -- \"{}\" [style=bold];", peer.processor)?;
                    }
                    (LinkRole::Southbridge, _) => {
                        writeln!(out, "    \"{id}.sb\" [label=\"SB\", shape=circle];")?;
                        writeln!(out, "    \"{id}\" -- \"{id}.sb\" [style=dotted];")?;
                    }
                    _ => {}
                }
            }
        }
        if many {
            writeln!(out, "  }}")?;
        }
    }
    for cable in plan.cables() {
        let [a, b] = cable.ends;
        let style = match cable.kind {
            CableKind::Fabric => "solid",
            CableKind::Coherent => "dashed",
        };
        let ends = [a, b].map(|end| plan.port_name(end));
        let [tail, head] = ends
            .each_ref()
            .map(|n| n.rsplit('.').next().unwrap_or_default());
        writeln!(
            out,
            "  \"{}\" -- \"{}\" [taillabel=\"{tail}\", headlabel=\"{head}\", style={style}];",
            a.processor, b.processor
        )?;
    }
    writeln!(out, "}}")
}
