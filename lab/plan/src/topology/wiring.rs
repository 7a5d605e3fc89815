//! Which link of a processor is used for what.

use super::{CoherentLink, Grid, Node};
use crate::diagnostic::{Diagnostic, Findings};
use crate::id::LinkIndex;
use crate::spec::{AdapterKind, AdapterPlace, CoherentShape, Fabric, Southbridge};

/// The links of one node that are taken.
#[derive(Clone, Default)]
pub(super) struct Taken([[bool; 8]; 8]);

impl Taken {
    /// Takes a link; `false` where it was taken before.
    pub(super) fn take(&mut self, processor: u8, link: LinkIndex) -> bool {
        let slot = &mut self.0[usize::from(processor & 7)][link.index()];
        !std::mem::replace(slot, true)
    }

    /// The first free link of a processor.
    fn free(&self, processor: u8, links: u8) -> Option<LinkIndex> {
        (0..links)
            .map(LinkIndex::from_bits)
            .find(|link| !self.0[usize::from(processor & 7)][link.index()])
    }

    /// The free links of a processor.
    pub(super) fn count_free(&self, processor: u8, links: u8) -> usize {
        let links = (0..links).map(LinkIndex::from_bits);
        links
            .filter(|link| !self.0[usize::from(processor & 7)][link.index()])
            .count()
    }

    /// Takes the first free link of a processor.
    pub(super) fn take_free(&mut self, processor: u8, links: u8) -> Option<LinkIndex> {
        let link = self.free(processor, links)?;
        self.take(processor, link);
        Some(link)
    }
}

/// Gives `node` its coherent links and its southbridge, on links that the cables left free.
pub(super) fn wire(node: &mut Node, fabric: Fabric, taken: &mut Taken, out: &mut Findings) {
    if fabric == Fabric::Peach2 {
        return;
    }
    let links = node.links();
    let explicit = node.template.southbridge;
    if let Southbridge::On(link) = explicit.value {
        if link.get() >= links || !taken.take(0, link) {
            let why = if link.get() >= links {
                format!(
                    "the processor has {links} links, l0 to l{}",
                    links.saturating_sub(1)
                )
            } else {
                "a cable uses this link too".to_owned()
            };
            out.push(
                Diagnostic::error(
                    "link-use",
                    format!("the southbridge of `{}` cannot be on {link}", node.name),
                )
                .label(explicit.span, why)
                .help("choose a free link, or write `southbridge = true` to let the plan choose"),
            );
            return;
        }
        node.southbridge = Some(link);
    }
    if !plug_adapters(node, taken, out) {
        return;
    }
    let Some(pairs) = coherent_pairs(node, out) else {
        return;
    };
    for (a, b) in pairs {
        let ends = (taken.take_free(a, links), taken.take_free(b, links));
        let (Some(la), Some(lb)) = ends else {
            return out.push(too_few_links(node, "its coherent links"));
        };
        node.coherent.push(CoherentLink {
            ends: [(a, la), (b, lb)],
        });
    }
    if explicit.value == Southbridge::Auto {
        node.southbridge = taken.take_free(0, links);
        if node.southbridge.is_none() {
            out.push(too_few_links(node, "its southbridge"));
        }
    }
    for adapter in 0..node.adapters.len() {
        let kind = node.adapters[adapter].kind;
        if node.adapters[adapter].place.value == AdapterPlace::Auto {
            let port = taken.take_free(0, links).map(|link| (0, link));
            node.adapters[adapter].port = port;
            if port.is_none() {
                out.push(too_few_links(node, &format!("its {}", kind.key())));
            }
        }
    }
}

/// Plugs the adapters into the links that the file names. `false` if that cannot be.
fn plug_adapters(node: &mut Node, taken: &mut Taken, out: &mut Findings) -> bool {
    let (links, processors) = (node.links(), node.processors());
    for adapter in &mut node.adapters {
        let AdapterPlace::On(processor, link) = adapter.place.value else {
            continue;
        };
        let key = adapter.kind.key();
        let why = if processor >= processors {
            format!("there is no processor p{processor}")
        } else if link.get() >= links {
            format!(
                "a processor has {links} links, l0 to l{}",
                links.saturating_sub(1)
            )
        } else if !taken.take(processor, link) {
            match adapter.kind {
                AdapterKind::Htea => "a cable or the southbridge uses this link too",
                _ => "a cable, the southbridge or an adapter uses this link too",
            }
            .to_owned()
        } else {
            adapter.port = Some((processor, link));
            continue;
        };
        out.push(
            Diagnostic::error(
                "link-use",
                format!("the {key} of `{}` cannot be on {link}", node.name),
            )
            .label(adapter.place.span, why)
            .help(format!(
                "choose a free link, or write `{key} = true` to let the plan choose"
            )),
        );
        return false;
    }
    true
}

fn too_few_links(node: &Node, what: &str) -> Diagnostic {
    Diagnostic::error(
        "link-degree",
        format!("`{}` has no free link left for {what}", node.name),
    )
    .label(
        node.template.span,
        format!("each processor has {} links", node.template.links.value),
    )
    .note(
        "cables take their links first, then coherent links, then the southbridge and the adapter",
    )
    .help("use fewer cables, `links = 8` (sublinks of 8 bit), or `southbridge = false`")
}

/// The coherent links of a supernode, as pairs of processors.
fn coherent_pairs(node: &Node, out: &mut Findings) -> Option<Vec<(u8, u8)>> {
    let processors = node.processors();
    let shape = coherent_shape(node);
    let expected = match shape {
        CoherentShape::Grid(sizes) => sizes.iter().product::<usize>(),
        CoherentShape::Full => usize::from(processors),
    };
    if expected != usize::from(processors) && processors > 1 {
        let span = node
            .template
            .coherent
            .map_or(node.template.span, |c| c.span);
        out.push(
            Diagnostic::error(
                "coherent-shape",
                format!(
                    "`{}` has {processors} processors, this shape joins {expected}",
                    node.name
                ),
            )
            .label(span, "does not fit the number of processors")
            .help("use pair for 2, square for 4, ladder or cube for 8; full fits 2, 4 and 8"),
        );
        return None;
    }
    let mut pairs = Vec::new();
    for a in 0..processors {
        for b in a + 1..processors {
            let (from, to) = (usize::from(a), usize::from(b));
            let joined = match shape {
                CoherentShape::Full => true,
                CoherentShape::Grid(sizes) => Grid::mesh(sizes).next_node(from, to) == Some(to),
            };
            if joined {
                pairs.push((a, b));
            }
        }
    }
    Some(pairs)
}

/// The shape as given, or the usual one for the number of processors.
fn coherent_shape(node: &Node) -> CoherentShape {
    match (node.template.coherent, node.processors()) {
        (_, 1) => CoherentShape::Full,
        (Some(shape), _) => shape.value,
        (None, 4) => CoherentShape::Grid(&[2, 2]),
        (None, 8) => CoherentShape::Grid(&[4, 2]),
        (None, _) => CoherentShape::Full,
    }
}

impl Node {
    /// The processor next on the way from one processor of this node to another.
    pub(crate) fn next_processor(&self, from: u8, to: u8) -> Option<u8> {
        if from == to {
            return None;
        }
        match coherent_shape(self) {
            CoherentShape::Full => Some(to),
            CoherentShape::Grid(sizes) => Grid::mesh(sizes)
                .next_node(usize::from(from), usize::from(to))
                .and_then(|p| u8::try_from(p).ok()),
        }
    }

    /// Coherent links between two processors of this node.
    pub(crate) fn coherent_hops(&self, from: u8, to: u8) -> u32 {
        let (mut at, mut hops) = (from, 0);
        while let Some(next) = self.next_processor(at, to) {
            (at, hops) = (next, hops + 1);
        }
        hops
    }

    /// The coherent link from one processor to a neighbour.
    pub(crate) fn coherent_link(&self, from: u8, to: u8) -> Option<LinkIndex> {
        self.coherent.iter().find_map(|c| match c.ends {
            [(a, link), (b, _)] if (a, b) == (from, to) => Some(link),
            [(b, _), (a, link)] if (a, b) == (from, to) => Some(link),
            _ => None,
        })
    }
}
