//! Regular topologies: nodes and cables from a shape.

use super::rooted::{self, Direct};
use super::wiring::{Taken, wire};
use super::{Cable, Grid, Node, NodeAdapter, Port, Topology, make_cable};
use crate::PROCESSORS_MAX;
use crate::diagnostic::{Diagnostic, Findings};
use crate::id::LinkIndex;
use crate::spec::{
    AdapterKind, CableKind, ClusterSpec, Fabric, ShapeSpec, SouthRole, TopologySpec,
};
use crate::topology::grid::Step;

/// Builds the nodes and cables of a generated topology.
pub(super) fn generate(
    spec: &ClusterSpec,
    shape: TopologySpec,
    out: &mut Findings,
) -> Option<Topology> {
    let of_island = match &shape.shape {
        ShapeSpec::Grid(dims) => Grid::new(dims).nodes(),
        ShapeSpec::Full(count) => *count,
    };
    // The reader admits at most NODES_MAX of either.
    let count = of_island * shape.islands;
    let processors = shape.template.processors.value.saturating_mul(count as u64);
    if processors > PROCESSORS_MAX as u64 {
        out.push(
            Diagnostic::error("size", format!("the topology has {processors} processors"))
                .label(
                    shape.span,
                    format!("expected at most {PROCESSORS_MAX} processors"),
                )
                .help("plan a smaller cluster"),
        );
        return None;
    }
    let adapters = (0..).zip(&shape.adapters);
    let adapters =
        adapters.map(|(index, place)| NodeAdapter::new(AdapterKind::Htea, *place, index));
    let mut model = Node {
        name: shape.prefix.clone(),
        span: shape.template.span,
        base: None,
        template: shape.template.clone(),
        coherent: Vec::new(),
        southbridge: None,
        // Nodes are alike, so that the others keep this link free.
        adapters: adapters.collect(),
    };
    let mut taken = Taken::default();
    wire(&mut model, spec.fabric, &mut taken, out);
    if out.has_errors() {
        return None;
    }
    let ports = match ports(spec.fabric, &shape, &model, &taken) {
        Ok(ports) => ports,
        Err((needed, free)) => {
            out.push(too_few_links(&shape, &model, needed, free));
            return None;
        }
    };
    let nodes: Vec<_> = (0..count)
        .map(|i| node(spec.fabric, &shape, &model, i, of_island))
        .collect();
    let cables = cables(spec, &shape, &nodes, &ports, out);
    Some(Topology {
        fabric: spec.fabric,
        family: spec.family,
        nodes,
        cables,
        shape: Some(shape.shape),
        below: super::Below::default(),
    })
}

/// The cables of all islands.
fn cables(
    spec: &ClusterSpec,
    shape: &TopologySpec,
    nodes: &[Node],
    ports: &Ports,
    out: &mut Findings,
) -> Vec<Cable> {
    let mut cables = Vec::new();
    let of_island = nodes.len() / shape.islands.max(1);
    let islands = (0..shape.islands).flat_map(|island| {
        let first = island * of_island;
        edges(&shape.shape, spec.fabric).map(move |(a, b, x, y)| (first + a, first + b, x, y))
    });
    for (from, to, from_direction, to_direction) in islands {
        let end = |node: usize, direction| {
            let (processor, link) = ports.of(node % of_island, direction)?;
            Some(Port {
                node,
                processor,
                link,
            })
        };
        let (Some(a), Some(b)) = (end(from, from_direction), end(to, to_direction)) else {
            continue;
        };
        // A thousand equal findings, one for each cable, would not help the user.
        if out.has_errors() {
            break;
        }
        let link = &spec.link;
        let cable: Cable = make_cable(
            nodes,
            [a, b],
            CableKind::Fabric,
            link,
            link,
            shape.span,
            out,
        );
        cables.push(cable);
    }
    cables
}

/// The topology needs more links than a node has.
fn too_few_links(shape: &TopologySpec, model: &Node, needed: usize, free: usize) -> Diagnostic {
    Diagnostic::error(
        "link-degree",
        format!(
            "a node needs {needed} links for this topology and has {} free",
            free
        ),
    )
    .label(shape.span, format!("up to {needed} cables per node"))
    .label(
        model.template.span,
        format!(
            "{} processor(s) with {} links each, less coherent links and southbridge",
            model.template.processors.value, model.template.links.value
        ),
    )
    .help("use `links = 8` (sublinks of 8 bit), more processors per node, or a smaller degree")
}

/// Node `i`, after the model of all; islands have `count` nodes.
fn node(fabric: Fabric, shape: &TopologySpec, model: &Node, i: usize, count: usize) -> Node {
    let is_first = i.is_multiple_of(count);
    let mut template = model.template.clone();
    if fabric == Fabric::Peach2 {
        // Port south joins the two rings; a PCI Express link needs one end of each role.
        let second_ring = i >= count / 2;
        let role = if second_ring {
            SouthRole::RootComplex
        } else {
            SouthRole::Endpoint
        };
        template.south = Some(crate::diagnostic::Located {
            value: role,
            span: template.span,
        });
    }
    Node {
        name: format!("{}{i}", shape.prefix),
        template,
        span: model.span,
        base: None,
        coherent: model.coherent.clone(),
        southbridge: model.southbridge,
        adapters: match is_first {
            true => model.adapters.clone(),
            false => Vec::new(),
        },
    }
}

/// The processor and link of each direction.
enum Ports {
    /// The same at all nodes.
    Alike(Vec<(u8, LinkIndex)>),
    /// By node.
    Rooted(rooted::Ports),
}

impl Ports {
    fn of(&self, node: usize, direction: usize) -> Option<(u8, LinkIndex)> {
        match self {
            Ports::Alike(ports) => ports.get(direction).copied(),
            Ports::Rooted(ports) => *ports.get(node)?.get(direction)?,
        }
    }
}

/// Where the cables are plugged in, or the links that a node needs and those that it has.
///
/// As few processors as possible have all cables of a node: where one has them all, packets on their way
/// cross no coherent link, and dimension order is free of deadlock. Where one has all but one,
/// this one is of the longest dimension. Otherwise see [`rooted`].
fn ports(
    fabric: Fabric,
    shape: &TopologySpec,
    model: &Node,
    taken: &Taken,
) -> Result<Ports, (usize, usize)> {
    let directions = directions(&shape.shape, fabric);
    let needed = directions.iter().copied().max().map_or(0, |d| d + 1);
    if fabric == Fabric::Peach2 {
        let ports = (0..3).map(|link| (0, LinkIndex::from_bits(link)));
        return Ok(Ports::Alike(ports.collect()));
    }
    let free = |processor| taken.count_free(processor, model.links());
    let of_all = (0..model.processors()).map(free).sum();
    if of_all < needed {
        return Err((needed, of_all));
    }
    let most = (0..model.processors()).map(free).max().unwrap_or(0);
    if most + 1 >= needed || shape.islands > 1 {
        return Ok(Ports::Alike(plug(
            model,
            taken.clone(),
            &shape.shape,
            needed,
        )));
    }
    let edges: Vec<Direct> = edges(&shape.shape, fabric).collect();
    Ok(Ports::Rooted(rooted::plug(
        model,
        taken,
        &shape.shape,
        &edges,
    )))
}

/// The same link of each direction for all nodes, on as few processors as possible.
fn plug(model: &Node, mut taken: Taken, shape: &ShapeSpec, needed: usize) -> Vec<(u8, LinkIndex)> {
    let mut processors: Vec<u8> = (0..model.processors()).collect();
    processors.sort_by_key(|&p| std::cmp::Reverse(taken.count_free(p, model.links())));
    let fits = |&first: &u8| taken.count_free(first, model.links()) >= needed;
    let order = match processors.first().is_some_and(fits) {
        true => (0..needed).collect(),
        false => split_last(shape, needed),
    };
    let mut ports = vec![None; needed];
    for direction in order {
        ports[direction] = processors
            .iter()
            .find_map(|&processor| Some((processor, taken.take_free(processor, model.links())?)));
    }
    ports.into_iter().flatten().collect()
}

/// All directions, those of the longest dimension last: where one direction has to be on another
/// processor than the rest, routes in that dimension cannot wrap around, and the longest has the fewest
/// cables that would.
fn split_last(shape: &ShapeSpec, needed: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needed).collect();
    if let ShapeSpec::Grid(dims) = shape {
        let longest = dims.iter().map(|d| d.size).max();
        let split = dims.iter().position(|d| Some(d.size) == longest);
        let grid = Grid::new(dims);
        let of_split = [true, false].map(|forward| {
            let dimension = split.unwrap_or(0);
            direction(&grid, Step { dimension, forward }, Fabric::TcCluster)
        });
        order.sort_by_key(|number| of_split.contains(number));
    }
    order
}

/// The number of a grid direction. Dimensions of size 2 have one direction; so does PEACH2's
/// port south, whereas its ring ports are numbered as the ports are.
fn direction(grid: &Grid, step: Step, fabric: Fabric) -> usize {
    let dims = grid.dims();
    if fabric == Fabric::Peach2 {
        let ring = dims.len() - 1;
        return match (step.dimension == ring, step.forward) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        };
    }
    let before: usize = dims
        .iter()
        .take(step.dimension)
        .map(|d| d.size.min(3) - 1)
        .sum();
    before + usize::from(dims[step.dimension].size > 2 && !step.forward)
}

fn directions(shape: &ShapeSpec, fabric: Fabric) -> Vec<usize> {
    edges(shape, fabric)
        .flat_map(|(_, _, a, b)| [a, b])
        .collect()
}

/// Every cable once: two nodes and the direction of the cable at each.
fn edges(shape: &ShapeSpec, fabric: Fabric) -> Box<dyn Iterator<Item = Direct> + '_> {
    match shape {
        ShapeSpec::Full(count) => {
            Box::new((0..*count).flat_map(move |a| (a + 1..*count).map(move |b| (a, b, b - 1, a))))
        }
        ShapeSpec::Grid(dims) => {
            let grid = Grid::new(dims);
            let dimensions = dims.len();
            let nodes = grid.nodes();
            Box::new((0..nodes).flat_map(move |node| {
                let mut found = Vec::new();
                for dimension in 0..dimensions {
                    let forward = Step {
                        dimension,
                        forward: true,
                    };
                    let backward = Step {
                        dimension,
                        forward: false,
                    };
                    if let Some(peer) = grid.neighbour(node, forward) {
                        found.push((
                            node,
                            peer,
                            direction(&grid, forward, fabric),
                            direction(&grid, backward, fabric),
                        ));
                    }
                }
                found
            }))
        }
    }
}
