//! A network as it is wired, with the use of both directions of every link.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::fmt::Write as _;

use hostwire_sim::experiments::link_use::LinkUse;

use hostwire_cli::html::escape;

const WIDTH: f64 = 600.0;
const MARGIN: f64 = 40.0;
/// From the middle of a node to the edge of the picture.
const SIDE: f64 = 62.0;
/// A picture of few nodes is not drawn larger than this would be.
const WIDTH_MIN: f64 = 430.0;
/// Distance of the two directions of a link.
const APART: f64 = 5.0;
/// Distance of links between the same two nodes.
const BESIDE: f64 = 24.0;

/// A picture of `links`, whose ends are called `node.port - node.port`. `idle` are links that
/// carried nothing.
pub fn svg(title: &str, links: &[LinkUse], idle: &[(String, String)]) -> String {
    let edges = edges(links, idle);
    let groups = groups(&edges);
    let places = places(&groups, &edges);
    let [left, top, width, height] = bounds(&places);
    let mut out = format!(
        "<svg class=\"network\" viewBox=\"{left:.0} {top:.0} {width:.0} {height:.0}\" role=\"img\">\
         <title>{}</title>",
        escape(title)
    );
    for edge in &edges {
        if let (Some(a), Some(b)) = (places.get(&edge.ends[0]), places.get(&edge.ends[1])) {
            draw_edge(&mut out, edge, *a, *b);
        }
    }
    for (name, (x, y)) in &places {
        let half = half_width(name);
        let _ = write!(
            out,
            "<rect class=\"node\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"24\" rx=\"4\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x - half,
            y - 12.0,
            2.0 * half,
            y + 4.5,
            escape(name)
        );
    }
    out + "</svg>"
}

type Position = (f64, f64);

/// Half of the width of a node.
fn half_width(name: &str) -> f64 {
    (7.0 + 4.0 * name.chars().count() as f64).max(18.0)
}

/// The visible part: all nodes, and room for the texts beside links. Left, top, width and
/// height.
fn bounds(places: &BTreeMap<String, Position>) -> [f64; 4] {
    let empty = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
    let [left, top, right, low] = places.iter().fold(empty, |seen, (name, (x, y))| {
        let half = half_width(name);
        [
            seen[0].min(x - half),
            seen[1].min(y - 12.0),
            seen[2].max(x + half),
            seen[3].max(y + 12.0),
        ]
    });
    if left > right {
        return [0.0, 0.0, WIDTH, MARGIN];
    }
    let width = (right - left + 2.0 * BESIDE).max(WIDTH_MIN);
    let middle = (left + right) / 2.0;
    [
        middle - width / 2.0,
        top - BESIDE,
        width,
        low - top + 2.0 * BESIDE,
    ]
}

/// A link.
struct Edge {
    name: String,
    ends: [String; 2],
    /// Use from the first end, and from the second one.
    used: [Option<(f64, u64)>; 2],
    /// Which one it is of how many between the same nodes.
    beside: (usize, usize),
}

fn edges(links: &[LinkUse], idle: &[(String, String)]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut edge = |a: &str, b: &str| {
        let name = format!("{a} - {b}");
        let known = edges.iter().position(|edge: &Edge| edge.name == name);
        known.unwrap_or_else(|| {
            edges.push(Edge {
                name,
                ends: [node(a), node(b)],
                used: [None, None],
                beside: (0, 1),
            });
            edges.len() - 1
        })
    };
    let mut places = Vec::new();
    for link in links {
        let ends = link.link.split_once(" - ");
        places.push(ends.map(|(a, b)| edge(a, b)));
    }
    for (a, b) in idle {
        let known =
            |link: &LinkUse| link.link == format!("{a} - {b}") || link.link == format!("{b} - {a}");
        if !links.iter().any(known) {
            edge(a, b);
        }
    }
    for (link, place) in links.iter().zip(places) {
        if let Some(edge) = place.and_then(|place| edges.get_mut(place)) {
            let direction = usize::from(link.from == "B");
            if let Some(used) = edge.used.get_mut(direction) {
                *used = Some((link.utilisation, link.payload_bytes));
            }
        }
    }
    let pairs: Vec<_> = edges.iter().map(|edge| edge.ends.clone()).collect();
    for (at, edge) in edges.iter_mut().enumerate() {
        let same = |pair: &&[String; 2]| **pair == edge.ends;
        let before = pairs.iter().take(at).filter(same).count();
        edge.beside = (before, pairs.iter().filter(same).count());
    }
    edges
}

/// The node of a port: `n0` of `n0.east`.
fn node(end: &str) -> String {
    end.rsplit_once('.')
        .map_or(end, |(node, _)| node)
        .to_owned()
}

/// The nodes that are drawn next to a node: processors of one board, a chip and its
/// host.
fn group(node: &str) -> &str {
    let board = node.split_once('.').map_or(node, |(board, _)| board);
    board.strip_suffix(" host").unwrap_or(board)
}

/// Names in an order in which neighbours follow each other where that is possible.
fn walk(names: Vec<String>, near: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut left = names;
    let mut order: Vec<String> = Vec::new();
    while !left.is_empty() {
        let last = order.last();
        let next = last.and_then(|last| left.iter().position(|name| near(last, name)));
        order.push(left.remove(next.unwrap_or(0)));
    }
    order
}

fn groups(edges: &[Edge]) -> Vec<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in edges.iter().flat_map(|edge| &edge.ends) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let near = |a: &str, b: &str| {
        let joins =
            |edge: &&Edge| edge.ends.iter().any(|e| e == a) && edge.ends.iter().any(|e| e == b);
        edges.iter().any(|edge| joins(&edge))
    };
    let mut boards: Vec<String> = Vec::new();
    for name in &names {
        if !boards.iter().any(|board| board == group(name)) {
            boards.push(group(name).to_owned());
        }
    }
    let joined = |a: &str, b: &str| {
        let on = |edge: &Edge, board: &str| edge.ends.iter().any(|end| group(end) == board);
        edges.iter().any(|edge| on(edge, a) && on(edge, b))
    };
    let members = |board: &String| {
        let own = names.iter().filter(|name| group(name) == board);
        walk(own.cloned().collect(), near)
    };
    walk(boards, joined).iter().map(members).collect()
}

fn on_circle(centre: Position, radius: f64, angle: f64) -> Position {
    (
        centre.0 + radius * angle.cos(),
        centre.1 + radius * angle.sin(),
    )
}

/// Where nodes are.
fn places(groups: &[Vec<String>], edges: &[Edge]) -> BTreeMap<String, Position> {
    let largest = groups.iter().map(Vec::len).max().unwrap_or(1);
    let hosts = groups.iter().flatten().any(|name| name.ends_with(" host"));
    let own = if hosts || largest < 2 { 0.0 } else { 66.0 };
    // A node that is joined to all others is in the middle.
    let degree = |group: &Vec<String>| {
        let has = |edge: &&Edge| edge.ends.iter().any(|end| group.contains(end));
        edges.iter().filter(has).count()
    };
    let hub = groups
        .iter()
        .position(|group| groups.len() > 3 && degree(group) == edges.len());
    let around: Vec<&Vec<String>> = groups
        .iter()
        .enumerate()
        .filter(|(at, _)| Some(*at) != hub)
        .map(|(_, group)| group)
        .collect();
    let count = around.len().max(1) as f64;
    let radius = if count < 3.0 { 150.0 } else { 190.0 };
    let outside = if hosts { 78.0 } else { own };
    let height = match around.len() {
        0..3 => 2.0 * (own + MARGIN),
        _ => 2.0 * (radius + outside + MARGIN),
    };
    let centre = (WIDTH / 2.0, height / 2.0);
    let mut places = BTreeMap::new();
    if let Some(name) = hub
        .and_then(|hub| groups.get(hub))
        .and_then(|group| group.first())
    {
        places.insert(name.clone(), centre);
    }
    for (at, members) in around.into_iter().enumerate() {
        let angle = match count {
            2.0 => PI + PI * at as f64,
            _ => -PI / 2.0 - PI / count + 2.0 * PI * at as f64 / count,
        };
        // As wide as there is room, since names are.
        let stretch = ((WIDTH / 2.0 - SIDE) / (radius + outside)).min(1.35);
        let wide = |(x, y): Position| (centre.0 + (x - centre.0) * stretch, y);
        let middle = wide(on_circle(centre, radius, angle));
        if hosts {
            for name in members {
                let out = if name.ends_with(" host") {
                    outside
                } else {
                    0.0
                };
                places.insert(name.clone(), wide(on_circle(centre, radius + out, angle)));
            }
            continue;
        }
        let size = members.len() as f64;
        for (place, name) in members.iter().enumerate() {
            let angle = -PI * 0.75 + 2.0 * PI * place as f64 / size;
            let at = match members.len() {
                1 => middle,
                _ => on_circle(middle, own, angle),
            };
            places.insert(name.clone(), at);
        }
    }
    places
}

fn draw_edge(out: &mut String, edge: &Edge, a: Position, b: Position) {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy).max(1.0);
    let (nx, ny) = (-dy / length, dx / length);
    let (place, of) = edge.beside;
    let shift = (place as f64 - (of as f64 - 1.0) / 2.0) * BESIDE;
    for (used, sign) in edge.used.iter().zip([-1.0, 1.0]) {
        let off = shift + sign * APART;
        let (from, to) = if sign < 0.0 { (a, b) } else { (b, a) };
        let (from, to) = (
            (from.0 + nx * off, from.1 + ny * off),
            (to.0 + nx * off, to.1 + ny * off),
        );
        let along = |share: f64| {
            (
                from.0 + (to.0 - from.0) * share,
                from.1 + (to.1 - from.1) * share,
            )
        };
        let share = used.map_or(0.0, |(share, _)| share);
        let (stroke, colour) = (1.5 + 5.0 * share.min(1.0), colour(share));
        let bytes = used.map_or(0, |(_, bytes)| bytes);
        let arrow = if sign < 0.0 {
            "to the second"
        } else {
            "to the first"
        };
        let tip = format!(
            "{}, {arrow}: {} used, {bytes} B of data",
            edge.name,
            percent(share)
        );
        let _ = write!(
            out,
            "<g class=\"point\" data-tip=\"{0}\"><title>{0}</title>\
             <line x1=\"{1:.1}\" y1=\"{2:.1}\" x2=\"{3:.1}\" y2=\"{4:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{stroke:.1}\"/>",
            escape(&tip),
            from.0,
            from.1,
            to.0,
            to.1
        );
        if used.is_some() {
            let (tip_x, tip_y) = along(0.66);
            let (base_x, base_y) = along(0.66 - 9.0 / length);
            let wing = 3.0 + stroke / 2.0;
            let _ = write!(
                out,
                "<polygon fill=\"{colour}\" points=\"{tip_x:.1},{tip_y:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
                base_x + nx * wing,
                base_y + ny * wing,
                base_x - nx * wing,
                base_y - ny * wing
            );
            let (x, y) = along(0.42);
            let beside = sign * (9.0 + stroke / 2.0 + 9.0 * nx.abs());
            let _ = write!(
                out,
                "<text class=\"share\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x + nx * beside,
                y + ny * beside + 4.0,
                percent(share)
            );
        }
        out.push_str("</g>");
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        value if value >= 9.95 => format!("{value:.0} %"),
        value => format!("{value:.1} %"),
    }
}

/// From blue (idle) to red (busy).
fn colour(share: f64) -> String {
    if share < 0.001 {
        return "#aab2ba".to_owned();
    }
    let share = share.clamp(0.0, 1.0);
    let mix = |from: f64, to: f64| (from + (to - from) * share).round() as u8;
    format!(
        "#{:02x}{:02x}{:02x}",
        mix(60.0, 190.0),
        mix(120.0, 0.0),
        mix(180.0, 30.0)
    )
}
