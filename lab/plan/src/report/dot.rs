//! The topology as a Graphviz graph.

use std::fmt::{self, Write as _};

use super::layout::{self, Position};
use crate::plan::{AdapterPlan, LinkRole, NodePlan, Plan};
use crate::spec::{AdapterKind, CableKind};

/// Distance of two nodes in inches, for nodes of one processor.
const STEP: Position = (2.1, 1.3);
/// Inches between the processors of a node, and around them.
const PROCESSOR: Position = (1.1, 0.9);
const MARGIN: Position = (0.9, 1.0);
/// Inches of a range on one line.
const RANGE: f64 = 2.7;
/// Up to so many nodes, cables go around nodes that are in their way. It takes long.
const ROUTED_NODES_MAX: usize = 16;

/// The topology for `dot` or `neato`: nodes where they are wired, a box per supernode, an edge
/// per link. Places are fixed, so both draw the same.
pub fn dot(plan: &Plan) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, plan);
    out
}

fn write(out: &mut String, plan: &Plan) -> fmt::Result {
    let most = plan.nodes().iter().map(|node| node.processors.len()).max();
    let block = Block::of(most.unwrap_or(1));
    let places = layout::places(plan.shape.as_ref(), plan.nodes().len(), block.step);
    // Nor can they go around nodes that lie in a box.
    let splines = most < Some(2) && plan.nodes().len() <= ROUTED_NODES_MAX;
    writeln!(out, "graph cluster {{")?;
    writeln!(out, "  graph [layout=neato, splines={splines}];")?;
    writeln!(
        out,
        "  node [shape=box, fontname=\"sans-serif\", fontsize=10];"
    )?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=9];")?;
    for (node, (right, down)) in plan.nodes().iter().zip(places) {
        // Graphviz counts upwards.
        let middle = (right * block.step.0, -down * block.step.1);
        write_node(out, node, &block, middle)?;
    }
    write_networks(out, plan, &block)?;
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

/// The networks of adapters, above the nodes, each with an edge to every adapter.
fn write_networks(out: &mut String, plan: &Plan, block: &Block) -> fmt::Result {
    let name = |adapter: &AdapterPlan| match adapter.kind {
        AdapterKind::Htea => "switch".to_owned(),
        AdapterKind::Htx => format!("boards {}", adapter.network),
        AdapterKind::Peach2 => format!("chips {}", adapter.network),
    };
    let mut written: Vec<usize> = Vec::new();
    for adapter in plan.adapters() {
        if !written.contains(&adapter.network) {
            let label = match adapter.kind {
                AdapterKind::Htea => "Ethernet",
                AdapterKind::Htx => "HTX boards",
                AdapterKind::Peach2 => "PEACH2",
            };
            let (right, up) = (written.len() as f64 * block.step.0, block.step.1);
            writeln!(
                out,
                "  \"{}\" [label=\"{label}\", shape=ellipse, pos=\"{right:.2},{up:.2}!\"];",
                name(adapter)
            )?;
            written.push(adapter.network);
        }
    }
    for adapter in plan.adapters() {
        let at = adapter.port.processor;
        writeln!(
            out,
            "  \"{at}\" -- \"{}\" [taillabel=\"{}\", style=dotted];",
            name(adapter),
            adapter.port.link
        )?;
    }
    Ok(())
}

/// The arrangement of a node's processors, two or more in a row.
struct Block {
    columns: usize,
    /// Inches of the box around them.
    size: Position,
    /// Inches from a node to the next one.
    step: Position,
}

impl Block {
    fn of(processors: usize) -> Block {
        let columns = (processors as f64).sqrt().ceil().max(1.0) as usize;
        let rows = processors.div_ceil(columns);
        if processors < 2 {
            return Block {
                columns,
                size: (0.0, 0.0),
                step: STEP,
            };
        }
        let size = (
            (PROCESSOR.0 * columns as f64 + MARGIN.0).max(RANGE),
            PROCESSOR.1 * rows as f64 + MARGIN.1,
        );
        Block {
            columns,
            size,
            step: (size.0 + 1.0, size.1 + 0.8),
        }
    }

    /// Inches of a processor from the middle of its node.
    fn place(&self, processor: usize, processors: usize) -> Position {
        let columns = self.columns.min(processors).max(1);
        let rows = processors.div_ceil(columns);
        let from_middle = |at: usize, count: usize| at as f64 - (count as f64 - 1.0) / 2.0;
        (
            from_middle(processor % columns, columns) * PROCESSOR.0,
            -from_middle(processor / columns, rows) * PROCESSOR.1,
        )
    }
}

fn write_node(out: &mut String, node: &NodePlan, block: &Block, (x, y): Position) -> fmt::Result {
    let many = node.processors.len() > 1;
    if many {
        writeln!(
            out,
            "  \"{}\" [label=\"{}\\n{}\", labelloc=t, style=\"dashed,rounded\", fixedsize=true, \
             width={:.2}, height={:.2}, pos=\"{x:.2},{y:.2}!\"];",
            node.name, node.name, node.range, block.size.0, block.size.1
        )?;
    }
    for (number, processor) in node.processors.iter().enumerate() {
        let id = processor.id;
        let label = if many {
            format!("p{}", id.index)
        } else {
            // Its first and its last byte, each on a line.
            let range = node.range.to_string().replace("..=", "\\n..=");
            format!("{}\\n{range}", node.name)
        };
        // Below the name of the box.
        let (right, up) = block.place(number, node.processors.len());
        let (px, py) = if many {
            (x + right, y + up - 0.2)
        } else {
            (x, y)
        };
        writeln!(
            out,
            "  \"{id}\" [label=\"{label}\", pos=\"{px:.2},{py:.2}!\"];"
        )?;
        for link in &processor.links {
            match (link.role, link.peer) {
                // Each coherent link is listed at both ends.
                (LinkRole::Coherent, Some(peer)) if id < peer.processor => {
                    writeln!(out, "  \"{id}\" -- \"{}\" [style=bold];", peer.processor)?;
                }
                (LinkRole::Southbridge, _) => {
                    let (sx, sy) = if many {
                        (px + 0.42, py - 0.42)
                    } else {
                        (px + 0.75, py - 0.5)
                    };
                    writeln!(
                        out,
                        "  \"{id}.sb\" [label=\"SB\", shape=circle, fontsize=8, margin=0, width=0.28, \
                         fixedsize=true, pos=\"{sx:.2},{sy:.2}!\"];"
                    )?;
                    writeln!(out, "  \"{id}\" -- \"{id}.sb\" [style=dotted];")?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}
