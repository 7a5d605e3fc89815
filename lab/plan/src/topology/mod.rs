//! The cluster as a graph: nodes, their processors and links, and the cables between them.
//!
//! Built from a description in one of two ways ([`explicit`] or [`generate`]); in
//! both, [`wiring`] then gives each node its coherent links and its southbridge.

mod below;
mod explicit;
mod generate;
mod grid;
mod rooted;
mod wiring;

pub(crate) use below::{Below, Chips, Gate, gate_of};
pub(crate) use grid::Grid;
pub(crate) use rooted::Depths;

use crate::check;
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::file::Length;
use crate::id::LinkIndex;
use crate::spec::{
    AdapterKind, AdapterPlace, AdapterPort, CableKind, ClusterSpec, Fabric, Family, LinkSpec,
    Medium, NodeSpec, NodeTemplate, ShapeSpec,
};

pub(crate) struct Topology {
    pub fabric: Fabric,
    pub family: Family,
    pub nodes: Vec<Node>,
    pub cables: Vec<Cable>,
    /// The regular shape, where the cables were generated.
    pub shape: Option<ShapeSpec>,
    /// The networks of boards and of chips.
    pub below: Below,
}

pub(crate) struct Node {
    pub name: String,
    /// Where the node is described.
    pub span: Span,
    pub base: Option<crate::diagnostic::Located<u64>>,
    pub template: NodeTemplate,
    pub coherent: Vec<CoherentLink>,
    pub southbridge: Option<LinkIndex>,
    /// Its adapters, in the order of their kinds.
    pub adapters: Vec<NodeAdapter>,
}

/// An adapter of a node.
#[derive(Clone, Copy)]
pub(crate) struct NodeAdapter {
    pub kind: AdapterKind,
    /// Where it is to be.
    pub place: Located<AdapterPlace>,
    /// Its processor and link, when it has been plugged in.
    pub port: Option<AdapterPort>,
    /// Its place among those of its kind in its node.
    pub index: usize,
    /// Its number among those of its kind, in the order of the file.
    pub member: usize,
}

impl NodeAdapter {
    fn new(kind: AdapterKind, place: Located<AdapterPlace>, index: usize) -> Self {
        Self {
            kind,
            place,
            port: None,
            index,
            // Numbers come when all nodes are known.
            member: 0,
        }
    }
}

/// The adapters of a node as the file lists them, those of a kind together.
fn number_in_node(specs: Vec<(AdapterKind, Located<AdapterPlace>)>) -> Vec<NodeAdapter> {
    let mut adapters: Vec<NodeAdapter> = Vec::new();
    for (kind, place) in specs {
        let before = adapters.iter().filter(|adapter| adapter.kind == kind);
        let index = before.count();
        adapters.push(NodeAdapter::new(kind, place, index));
    }
    adapters
}

/// A coherent link inside a supernode.
#[derive(Clone, Copy)]
pub(crate) struct CoherentLink {
    pub ends: [(u8, LinkIndex); 2],
}

/// A port by the number of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Port {
    pub node: usize,
    pub processor: u8,
    pub link: LinkIndex,
}

pub(crate) struct Cable {
    pub ends: [Port; 2],
    pub kind: CableKind,
    pub width_bits: u8,
    pub frequency_mhz: u16,
    pub length: Option<Length>,
    pub medium: Medium,
    pub span: Span,
}

/// A way out of a node.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub peer: usize,
    pub port: Port,
}

impl Node {
    fn new(spec: NodeSpec) -> Self {
        Self {
            name: spec.name.value,
            span: spec.name.span,
            base: spec.base,
            template: spec.template,
            coherent: Vec::new(),
            southbridge: None,
            adapters: number_in_node(spec.adapters),
        }
    }

    /// Where its adapter of a kind with this number stands in the file.
    pub(crate) fn span_of(&self, kind: AdapterKind, member: usize) -> Span {
        let mut adapters = self.adapters.iter();
        let adapter = adapters.find(|adapter| (adapter.kind, adapter.member) == (kind, member));
        adapter.map_or(self.span, |adapter| adapter.place.span)
    }

    pub(crate) fn processors(&self) -> u8 {
        // The reader admits 1, 2, 4 and 8 only.
        u8::try_from(self.template.processors.value).unwrap_or(1)
    }

    pub(crate) fn links(&self) -> u8 {
        u8::try_from(self.template.links.value).unwrap_or(LinkIndex::COUNT)
    }

    /// The abilities of a link: width in bits and clock in MHz.
    pub(crate) fn capability(&self, processor: u8, link: LinkIndex) -> (u64, u64) {
        let template = &self.template;
        let special = template
            .overrides
            .iter()
            .find(|o| o.processor == processor && o.link == link);
        let pick = |special: Option<crate::diagnostic::Located<u64>>, usual: u64| {
            special.map_or(usual, |s| s.value)
        };
        let width = pick(
            special.and_then(|s| s.width_bits),
            template.width_bits.value,
        );
        let frequency = pick(
            special.and_then(|s| s.frequency_mhz),
            template.frequency_mhz.value,
        );
        // Eight links means that the four 16-bit links are split in sublinks of 8 bit.
        let width = if template.links.value > 4 {
            width.min(8)
        } else {
            width
        };
        (width, frequency)
    }
}

/// Builds the graph. Faults go to `out`.
///
/// There is also a result after an error if the nodes are without fault; it may lack cables.
pub(crate) fn build(spec: &mut ClusterSpec, out: &mut Findings) -> Option<Topology> {
    let below = std::mem::take(&mut spec.below);
    let mut topology = match spec.topology.take() {
        Some(shape) => generate::generate(spec, shape, out),
        None => explicit::assemble(spec, out),
    }?;
    below::number(&mut topology.nodes);
    let settings = (spec.policy, spec.ring_bytes.value);
    topology.below = below::build(below, settings, &topology.nodes, out);
    Some(topology)
}

impl Topology {
    /// The ways out of every node over cables that carry traffic.
    pub(crate) fn adjacency(&self) -> Vec<Vec<Edge>> {
        let mut edges = vec![Vec::new(); self.nodes.len()];
        for cable in self.cables.iter().filter(|c| c.kind == CableKind::Fabric) {
            let [a, b] = cable.ends;
            edges[a.node].push(Edge {
                peer: b.node,
                port: a,
            });
            edges[b.node].push(Edge {
                peer: a.node,
                port: b,
            });
        }
        edges
    }

    /// The ways out of every node over cables, and over its adapters, which come last: their peer is
    /// the node itself, because who takes a packet depends on the address.
    pub(crate) fn ways(&self) -> Vec<Vec<Edge>> {
        let mut ways = self.adjacency();
        for (number, node) in self.nodes.iter().enumerate() {
            for (processor, link) in node.adapters.iter().filter_map(|adapter| adapter.port) {
                let port = Port {
                    node: number,
                    processor,
                    link,
                };
                ways[number].push(Edge { peer: number, port });
            }
        }
        ways
    }

    /// Renumbers the nodes: `order[new]` is the old number.
    pub(crate) fn renumber(&mut self, order: &[usize]) {
        let mut new_of_old = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_of_old[old] = new;
        }
        let mut nodes: Vec<_> = self.nodes.drain(..).map(Some).collect();
        self.nodes
            .extend(order.iter().filter_map(|&old| nodes[old].take()));
        for end in self.cables.iter_mut().flat_map(|c| c.ends.iter_mut()) {
            end.node = new_of_old[end.node];
        }
    }

    /// A port with the name of its node, for messages.
    pub(crate) fn port_name(&self, port: Port) -> String {
        port_name(self.fabric, &self.nodes[port.node], port)
    }
}

fn port_name(fabric: Fabric, node: &Node, port: Port) -> String {
    match fabric {
        Fabric::Peach2 => format!("{}.{}", node.name, peach2_port_name(port.link)),
        Fabric::TcCluster if node.processors() > 1 => {
            format!("{}.p{}.{}", node.name, port.processor, port.link)
        }
        Fabric::TcCluster => format!("{}.{}", node.name, port.link),
    }
}

/// `east`, `west`, `south` or `north`.
pub(crate) fn peach2_port_name(link: LinkIndex) -> &'static str {
    crate::spec::PEACH2_PORTS
        .get(link.index())
        .copied()
        .unwrap_or("none")
}

/// A cable between two ports, with its width and clock agreed on.
fn make_cable(
    nodes: &[Node],
    ends: [Port; 2],
    kind: CableKind,
    own: &LinkSpec,
    defaults: &LinkSpec,
    span: Span,
    out: &mut Findings,
) -> Cable {
    let pick = |own: Option<crate::diagnostic::Located<u64>>, default| own.or(default);
    let capability = ends.map(|p| {
        let (width, frequency) = nodes[p.node].capability(p.processor, p.link);
        (
            port_name(Fabric::TcCluster, &nodes[p.node], p),
            width,
            frequency,
        )
    });
    let width = check::links::agree(
        &check::links::WIDTH,
        pick(own.width_bits, defaults.width_bits),
        [
            (&capability[0].0, capability[0].1),
            (&capability[1].0, capability[1].1),
        ],
        span,
        out,
    );
    let asked = pick(own.frequency_mhz, defaults.frequency_mhz);
    let frequency = check::links::agree(
        &check::links::FREQUENCY,
        asked,
        [
            (&capability[0].0, capability[0].2),
            (&capability[1].0, capability[1].2),
        ],
        span,
        out,
    );
    let medium = own.medium.or(defaults.medium);
    let frequency = check::links::carry(medium, asked, frequency, span, out);
    let length = own.length.or(defaults.length);
    Cable {
        ends,
        kind,
        width_bits: u8::try_from(width).unwrap_or(8),
        frequency_mhz: u16::try_from(frequency).unwrap_or(200),
        length: length.map(|l| l.value),
        medium: medium.map_or(Medium::Backplane, |m| m.value),
        span: length.map_or(span, |l| if own.length.is_some() { l.span } else { span }),
    }
}

/// Reports a node with two names or a name for two nodes.
fn check_names(nodes: &[NodeSpec], out: &mut Findings) {
    let mut first = std::collections::HashMap::new();
    for node in nodes {
        if let Some(span) = first.insert(node.name.value.as_str(), node.name.span) {
            out.push(
                Diagnostic::error(
                    "name",
                    format!("two nodes are called `{}`", node.name.value),
                )
                .label(node.name.span, "already taken")
                .label(span, "the first one")
                .help("give each node its own name"),
            );
        }
    }
}
