//! The keys of a cluster file.

use toml::Spanned;
use toml::de::DeValue;

use super::below::{is_below, read_below, read_below_cable};
use super::ethernet::{read_network, read_places};
use super::link::{FREQUENCIES_MHZ, parse_link, parse_link_path};
use super::section::{Section, as_u64, clip, nearest, span_of, wrong_type};
use super::units::{FREQUENCY, SIZE, WIDTH};
use super::whole::{check_described, read_fabric, read_family, read_policy};
use super::*;
use crate::NODES_MAX;
use crate::diagnostic::{Diagnostic, Findings};

const KIB: u64 = 1 << 10;
const DEFAULT_RING_BYTES: u64 = 4 * KIB;
/// Family 10h links reach 2600 MHz: 5.2 Gbit/s per lane (tccluster, section VI).
const DEFAULT_FREQUENCY_MHZ: u64 = 2600;
/// Longest node name; names are repeated in every report.
const NAME_CHARS_MAX: usize = 64;

/// Reads the table of a cluster file. Faults go to `out`.
///
/// There is also a result after an error if the nodes are without fault: then later steps can
/// check more of the file.
pub(crate) fn read(mut file: Section<'_>, out: &mut Findings) -> Option<ClusterSpec> {
    let whole = file.span();
    let fabric = read_fabric(&mut file, out);
    let family = read_family(&mut file, fabric, out);
    let is_known = !out.has_errors();
    let map = file
        .table("map", "[map]", out)
        .map(|s| read_map(s, fabric, out))
        .unwrap_or_default();
    let (ring_bytes, ring_region) = read_rings(file.table("rings", "[rings]", out), out);
    let policy = file
        .table("routing", "[routing]", out)
        .and_then(|section| read_policy(section, out));
    let routes = read_routes(&mut file, policy, out);
    let link = match fabric {
        Fabric::TcCluster => read_links(&mut file, out),
        Fabric::Peach2 => None,
    };
    let (ethernet, htea) = match fabric {
        Fabric::TcCluster => read_network(&mut file, out),
        Fabric::Peach2 => (None, None),
    };
    let mut below = match fabric {
        Fabric::TcCluster => read_below(&mut file, out),
        Fabric::Peach2 => BelowSpec::default(),
    };
    let before = out.count();
    let mut nodes = Vec::new();
    for section in file.tables("node", "[[node]]", out) {
        nodes.extend(read_node(section, fabric, false, out));
    }
    if fabric == Fabric::TcCluster {
        for section in file.tables("supernode", "[[supernode]]", out) {
            nodes.extend(read_node(section, fabric, true, out));
        }
    }
    // Supernodes and nodes take their place in the map in the order of the file.
    nodes.sort_by_key(|n| n.template.span);
    let mut are_nodes_sound = is_known && out.count() == before;
    let mut cables = Vec::new();
    for section in file.tables("cable", "[[cable]]", out) {
        match fabric == Fabric::TcCluster && is_below(&section) {
            true => read_below_cable(section, &mut below, out),
            false => cables.extend(read_cable(section, fabric, out)),
        }
    }
    let before = out.count();
    let topology = file
        .table("topology", "[topology]", out)
        .and_then(|section| read_topology(section, fabric, out));
    let described = file.has("node") || file.has("supernode") || file.has("cable");
    let span = nodes
        .first()
        .map(|n| n.template.span)
        .or(cables.first().map(|c| c.span));
    check_described(file.has("topology"), described, span.unwrap_or(whole), out);
    // A table with a mistyped name may be one of the nodes.
    file.finish(out);
    are_nodes_sound &= out.count() == before;
    are_nodes_sound.then(|| ClusterSpec {
        fabric,
        family,
        map,
        ring_bytes,
        ring_region,
        policy: policy.map_or(Policy::Auto, |p| p.value),
        routes,
        link: link.unwrap_or_default(),
        nodes,
        cables,
        topology,
        ethernet,
        htea,
        below,
    })
}

fn read_links(file: &mut Section<'_>, out: &mut Findings) -> Option<LinkSpec> {
    let mut section = file.table("link", "[link]", out)?;
    let before = out.count();
    let mut link = read_link(&mut section, out);
    section.finish(out);
    link.wrong = out.count() > before;
    Some(link)
}

fn read_map(mut section: Section<'_>, fabric: Fabric, out: &mut Findings) -> MapSpec {
    let before = out.count();
    let base = section.address("base", out);
    let mut map = MapSpec {
        base,
        ..MapSpec::default()
    };
    match fabric {
        Fabric::TcCluster => {
            map.low_memory = section.quantity("low_memory", &SIZE, out);
            map.address_bits = section.integer("address_bits", &[40, 48], out);
        }
        Fabric::Peach2 => map.window = section.quantity("window", &SIZE, out),
    }
    section.finish(out);
    map.wrong = out.count() > before;
    map
}

fn read_rings(
    section: Option<Section<'_>>,
    out: &mut Findings,
) -> (Located<u64>, Option<Located<u64>>) {
    let default = Located {
        value: DEFAULT_RING_BYTES,
        span: Span::default(),
    };
    let Some(mut section) = section else {
        return (default, None);
    };
    let size = section.quantity("size", &SIZE, out).unwrap_or(default);
    if size.value == 0 || size.value % 64 != 0 {
        out.push(
            Diagnostic::error(
                "ring-size",
                "a ring is a whole number of 64-byte slots, at least one",
            )
            .label(size.span, format!("got {} bytes", size.value))
            .help("use a multiple of 64B; 4KiB is usual"),
        );
    }
    let region = section.quantity("region", &SIZE, out);
    section.finish(out);
    (size, region)
}

fn read_link(section: &mut Section<'_>, out: &mut Findings) -> LinkSpec {
    let media = [
        ("backplane", Medium::Backplane),
        ("board", Medium::Board),
        ("coax", Medium::Coax),
    ];
    LinkSpec {
        wrong: false,
        width_bits: read_width(section, "width", out),
        frequency_mhz: read_frequency(section, "frequency", out),
        length: section.length("length", out),
        medium: section.choice("medium", &media, out),
    }
}

fn read_width(
    section: &mut Section<'_>,
    key: &'static str,
    out: &mut Findings,
) -> Option<Located<u64>> {
    let width = section.quantity(key, &WIDTH, out)?;
    if [2, 4, 8, 16].contains(&width.value) {
        return Some(width);
    }
    out.push(
        Diagnostic::error(
            "link-width",
            format!("no Opteron link is {} bit wide", width.value),
        )
        .label(width.span, "expected 2bit, 4bit, 8bit or 16bit")
        .help("use 16bit, or 8bit for a sublink"),
    );
    None
}

fn read_frequency(
    section: &mut Section<'_>,
    key: &'static str,
    out: &mut Findings,
) -> Option<Located<u64>> {
    let frequency = section.quantity(key, &FREQUENCY, out)?;
    if FREQUENCIES_MHZ.contains(&frequency.value) {
        return Some(frequency);
    }
    let nearest = FREQUENCIES_MHZ
        .iter()
        .min_by_key(|f| f.abs_diff(frequency.value));
    out.push(
        Diagnostic::error(
            "link-frequency",
            format!("{} MHz is not a HyperTransport link clock", frequency.value),
        )
        .label(frequency.span, "not in the table of clocks")
        .note(format!("the clocks are {FREQUENCIES_MHZ:?} MHz"))
        .help(format!(
            "the nearest is \"{}MHz\"",
            nearest.copied().unwrap_or(200)
        )),
    );
    None
}

fn read_node(
    mut section: Section<'_>,
    fabric: Fabric,
    supernode: bool,
    out: &mut Findings,
) -> Option<NodeSpec> {
    let name = section.text("name", "\"left\"", out).map(|n| Located {
        value: n.value.to_owned(),
        span: n.span,
    });
    match &name {
        None if !section.has("name") => section.missing("name", "\"left\"", out),
        Some(name) => check_name(&name.value, name.span, out),
        None => {}
    }
    let base = match fabric {
        Fabric::TcCluster => section.address("base", out),
        Fabric::Peach2 => None,
    };
    let mut adapters = Vec::new();
    for kind in AdapterKind::ALL {
        let places = read_places(&mut section, kind.key(), fabric, out);
        adapters.extend(places.into_iter().map(|place| (kind, place)));
    }
    let template = read_template(section, fabric, supernode, out);
    Some(NodeSpec {
        name: name?,
        base,
        adapters,
        template: template?,
    })
}

pub(crate) fn check_name(name: &str, span: Span, out: &mut Findings) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(allowed) {
        out.push(
            Diagnostic::error(
                "name",
                format!("`{}` cannot be the name of a node", clip(name)),
            )
            .label(span, "expected letters, digits, `-` and `_`")
            .help(format!(
                "use 1 to {NAME_CHARS_MAX} letters, digits, `-` or `_`"
            )),
        );
    }
}

/// Reads the keys that [[node]], [[supernode]] and [topology.node] share, and finishes the section.
fn read_template(
    mut section: Section<'_>,
    fabric: Fabric,
    many: bool,
    out: &mut Findings,
) -> Option<NodeTemplate> {
    let span = section.span();
    let at = |value| Located { value, span };
    let memory = section.quantity("memory", &SIZE, out);
    if memory.is_none() && !section.has("memory") {
        section.missing("memory", "\"8GiB\"", out);
    }
    let mut template = NodeTemplate {
        span,
        memory: memory.unwrap_or(at(1 << 30)),
        processors: at(1),
        cores: at(4),
        links: at(4),
        southbridge: Located {
            value: Southbridge::Auto,
            span,
        },
        coherent: None,
        width_bits: at(16),
        frequency_mhz: at(DEFAULT_FREQUENCY_MHZ),
        overrides: Vec::new(),
        gpus: 0,
        gpu_memory: None,
        south: None,
    };
    match fabric {
        Fabric::TcCluster => read_opteron(&mut template, &mut section, many, out),
        Fabric::Peach2 => read_peach2(&mut template, &mut section, out),
    }
    section.finish(out);
    memory.map(|_| template)
}

fn read_opteron(
    template: &mut NodeTemplate,
    section: &mut Section<'_>,
    many: bool,
    out: &mut Findings,
) {
    const CORES: [u64; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    if many {
        if let Some(processors) = section.integer("processors", &[1, 2, 4, 8], out) {
            template.processors = processors;
        }
        let shapes = [
            ("pair", CoherentShape::Grid(&[2])),
            ("square", CoherentShape::Grid(&[2, 2])),
            ("ladder", CoherentShape::Grid(&[4, 2])),
            ("cube", CoherentShape::Grid(&[2, 2, 2])),
            ("full", CoherentShape::Full),
        ];
        template.coherent = section.choice("coherent", &shapes, out);
    }
    if let Some(cores) = section.integer("cores", &CORES, out) {
        template.cores = cores;
    }
    if let Some(links) = section.integer("links", &[1, 2, 3, 4, 8], out) {
        template.links = links;
    }
    if let Some(value) = section.value("southbridge") {
        template.southbridge = Located {
            value: read_southbridge(value, out),
            span: span_of(value),
        };
    }
    if let Some(width) = read_width(section, "link_width", out) {
        template.width_bits = width;
    }
    if let Some(frequency) = read_frequency(section, "link_frequency", out) {
        template.frequency_mhz = frequency;
    }
    let Some(links) = section.table("link", "the `link` table of a node", out) else {
        return;
    };
    for (key, value) in links.entries() {
        let DeValue::Table(table) = value.get_ref() else {
            wrong_type("link", "a table such as `[node.link.l2]`", value, out);
            continue;
        };
        let mut one = Section::new("a link", table, key.span);
        let width_bits = read_width(&mut one, "width", out);
        let frequency_mhz = read_frequency(&mut one, "frequency", out);
        one.finish(out);
        match parse_link_path(key.value, Fabric::TcCluster) {
            Some((processor, link)) => template.overrides.push(LinkOverride {
                processor,
                link,
                span: key.span,
                width_bits,
                frequency_mhz,
            }),
            None => out.push(
                Diagnostic::error("port", format!("`{}` is not a link", clip(key.value)))
                    .label(key.span, "expected `l0` to `l7`, or `p1.l0` in quotes")
                    .help("name the link as `l2`, or as `\"p1.l2\"` on processor 1"),
            ),
        }
    }
}

fn read_southbridge(value: &Spanned<DeValue<'_>>, out: &mut Findings) -> Southbridge {
    match value.get_ref() {
        DeValue::Boolean(false) => Southbridge::None,
        DeValue::Boolean(true) => Southbridge::Auto,
        DeValue::String(text) => match parse_link(text, Fabric::TcCluster) {
            Some(link) => Southbridge::On(link),
            None => {
                out.push(
                    Diagnostic::error("port", format!("`{}` is not a link", clip(text)))
                        .label(
                            span_of(value),
                            "expected a link of processor 0, `l0` to `l7`",
                        )
                        .help("name the link as \"l0\", or write true or false"),
                );
                Southbridge::Auto
            }
        },
        _ => {
            wrong_type(
                "southbridge",
                "true, false or a link such as \"l0\"",
                value,
                out,
            );
            Southbridge::Auto
        }
    }
}

fn read_peach2(template: &mut NodeTemplate, section: &mut Section<'_>, out: &mut Findings) {
    template.gpus = section
        .integer("gpus", &[0, 1, 2], out)
        .map_or(0, |g| g.value);
    template.gpu_memory = section.quantity("gpu_memory", &SIZE, out);
    let roles = [("rc", SouthRole::RootComplex), ("ep", SouthRole::Endpoint)];
    template.south = section.choice("south", &roles, out);
    // Four PCI Express ports; north goes to the host and the GPUs.
    template.southbridge.value = Southbridge::None;
    template.links.value = 4;
}

fn read_cable(mut section: Section<'_>, fabric: Fabric, out: &mut Findings) -> Option<CableSpec> {
    let before = out.count();
    let from = read_port(&mut section, "from", fabric, out);
    let to = read_port(&mut section, "to", fabric, out);
    let mut kind = CableKind::Fabric;
    let mut link = LinkSpec::default();
    if fabric == Fabric::TcCluster {
        let kinds = [
            ("tccluster", CableKind::Fabric),
            ("coherent", CableKind::Coherent),
        ];
        kind = section
            .choice("kind", &kinds, out)
            .map_or(kind, |k| k.value);
        link = read_link(&mut section, out);
    }
    let span = section.span();
    section.finish(out);
    link.wrong = out.count() > before;
    Some(CableSpec {
        span,
        from: from?,
        to: to?,
        kind,
        link,
    })
}

fn read_port(
    section: &mut Section<'_>,
    key: &'static str,
    fabric: Fabric,
    out: &mut Findings,
) -> Option<Located<PortRef>> {
    let example = match fabric {
        Fabric::TcCluster => "\"left.l2\"",
        Fabric::Peach2 => "\"left.east\"",
    };
    let Some(text) = section.text(key, example, out) else {
        if !section.has(key) {
            section.missing(key, example, out);
        }
        return None;
    };
    let parsed = text.value.split_once('.').and_then(|(node, path)| {
        let (processor, link) = parse_link_path(path, fabric)?;
        Some(PortRef {
            node: node.to_owned(),
            processor,
            link,
        })
    });
    if parsed.is_none() {
        let form = match fabric {
            Fabric::TcCluster => "`node.l2` or `node.p1.l2` with links l0 to l7",
            Fabric::Peach2 => "`node.east`, `node.west` or `node.south`",
        };
        out.push(
            Diagnostic::error("port", format!("`{}` is not a port", clip(text.value)))
                .label(text.span, format!("expected {form}"))
                .help(format!("write it as {example}")),
        );
    }
    Some(Located {
        value: parsed?,
        span: text.span,
    })
}

fn read_topology(
    mut section: Section<'_>,
    fabric: Fabric,
    out: &mut Findings,
) -> Option<TopologySpec> {
    let kinds: &[&str] = match fabric {
        Fabric::TcCluster => &["ring", "mesh", "torus", "hypercube", "full"],
        Fabric::Peach2 => &["ring", "double-ring"],
    };
    let Some(kind) = section.text("kind", "\"mesh\"", out) else {
        if !section.has("kind") {
            section.missing("kind", "\"ring\"", out);
        }
        return None;
    };
    if !kinds.contains(&kind.value) {
        let help = nearest(kind.value, kinds)
            .map_or(format!("use one of {}", kinds.join(", ")), |k| {
                format!("did you mean \"{k}\"?")
            });
        out.push(
            Diagnostic::error(
                "value",
                format!("there is no topology \"{}\" here", clip(kind.value)),
            )
            .label(kind.span, format!("expected one of {}", kinds.join(", ")))
            .help(help),
        );
        return None;
    }
    let shape = match kind.value {
        "mesh" => read_sizes(&mut section, out).map(|s| grid(&s, false)),
        "torus" => read_sizes(&mut section, out).map(|s| grid(&s, true)),
        kind_name => read_count(&mut section, out)
            .and_then(|(count, span)| shape_of_count(kind_name, count, span, out)),
    };
    let prefix = section.text("prefix", "\"n\"", out);
    if let Some(prefix) = prefix {
        check_name(prefix.value, prefix.span, out);
    }
    let islands = match fabric {
        Fabric::TcCluster => section.count("islands", 1, NODES_MAX as u64, out),
        Fabric::Peach2 => None,
    };
    let (mut template, mut adapters) = (None, Vec::new());
    match section.table("node", "[topology.node]", out) {
        Some(mut node) => {
            adapters = read_places(&mut node, AdapterKind::Htea.key(), fabric, out);
            template = read_template(node, fabric, true, out);
        }
        None => section.missing("node", "{ memory = \"8GiB\" }", out),
    }
    section.finish(out);
    if let (Some(islands), true) = (islands.filter(|count| count.value > 1), adapters.is_empty()) {
        out.push(
            Diagnostic::error("adapter", "nothing joins the islands")
                .label(islands.span, "islands without an adapter")
                .help("add `adapter = true` to [topology.node]"),
        );
    }
    Some(TopologySpec {
        span: kind.span,
        shape: shape?,
        islands: islands.map_or(1, |count| count.value as usize),
        adapters,
        prefix: prefix.map_or("n", |p| p.value).to_owned(),
        template: template?,
    })
}

fn grid(sizes: &[usize], wraps: bool) -> ShapeSpec {
    ShapeSpec::Grid(
        sizes
            .iter()
            .map(|&size| Dimension { size, wraps })
            .collect(),
    )
}

fn shape_of_count(kind: &str, count: usize, span: Span, out: &mut Findings) -> Option<ShapeSpec> {
    let ring = |size| Dimension { size, wraps: true };
    match kind {
        "ring" => Some(ShapeSpec::Grid(vec![ring(count)])),
        "full" => Some(ShapeSpec::Full(count)),
        "hypercube" if count.is_power_of_two() && count > 1 => {
            let line = Dimension {
                size: 2,
                wraps: false,
            };
            Some(ShapeSpec::Grid(vec![line; count.trailing_zeros() as usize]))
        }
        "double-ring" if count.is_multiple_of(2) && count >= 4 => Some(ShapeSpec::Grid(vec![
            Dimension {
                size: 2,
                wraps: false,
            },
            ring(count / 2),
        ])),
        _ => {
            let (rule, help) = if kind == "hypercube" {
                (
                    "a power of two, at least 2",
                    count.next_power_of_two().max(2),
                )
            } else {
                ("even, at least 4", (count + 1).max(4) / 2 * 2)
            };
            out.push(
                Diagnostic::error("value", format!("a {kind} cannot have {count} nodes"))
                    .label(span, format!("expected a number that is {rule}"))
                    .help(format!("use nodes = {help}")),
            );
            None
        }
    }
}

fn read_count(section: &mut Section<'_>, out: &mut Findings) -> Option<(usize, Span)> {
    let Some(value) = section.value("nodes") else {
        section.missing("nodes", "16", out);
        return None;
    };
    Some((checked_count("nodes", value, out)?, span_of(value)))
}

fn checked_count(key: &str, value: &Spanned<DeValue<'_>>, out: &mut Findings) -> Option<usize> {
    let count = as_u64(value).and_then(|n| usize::try_from(n).ok());
    if !matches!(value.get_ref(), DeValue::Integer(_)) {
        wrong_type(key, "a number of nodes", value, out);
        return None;
    }
    let count = count.filter(|n| (1..=NODES_MAX).contains(n));
    if count.is_none() {
        out.push(
            Diagnostic::error("value", format!("`{key}` is out of range"))
                .label(span_of(value), format!("expected 1 to {NODES_MAX}"))
                .help(format!("a plan has at most {NODES_MAX} nodes")),
        );
    }
    count
}

/// The sizes of two or three dimensions.
fn read_sizes(section: &mut Section<'_>, out: &mut Findings) -> Option<Vec<usize>> {
    let example = "[4, 4]";
    let Some(value) = section.value("size") else {
        section.missing("size", example, out);
        return None;
    };
    let array = value.get_ref().as_array();
    let Some(array) = array.filter(|array| (2..=3).contains(&array.len())) else {
        out.push(
            Diagnostic::error("value", "`size` needs two or three numbers")
                .label(
                    span_of(value),
                    format!("expected two or three numbers such as {example}"),
                )
                .help(format!("write `size = {example}` or `size = [4, 4, 4]`")),
        );
        return None;
    };
    let mut sizes = Vec::new();
    for item in array.iter() {
        sizes.push(checked_count("size", item, out)?);
    }
    // Each factor is at most NODES_MAX = 2^12 and there are at most three: no overflow.
    let nodes: u64 = sizes.iter().map(|&size| size as u64).product();
    if nodes > NODES_MAX as u64 {
        out.push(
            Diagnostic::error("value", format!("the topology has {nodes} nodes"))
                .label(
                    span_of(value),
                    format!("expected at most {NODES_MAX} nodes"),
                )
                .help("plan a smaller cluster"),
        );
        return None;
    }
    Some(sizes)
}
