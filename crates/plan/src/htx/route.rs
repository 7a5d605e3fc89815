//! The way of each message: tables by destination.

use std::collections::{HashMap, VecDeque};

use super::build::Net;
use super::{Cable, Device, HtxPlan, LinkPort, Scheme};
use crate::diagnostic::{Diagnostic, Findings, Span};
use crate::route::channels::Channels;
use crate::spec::Policy;

/// Devices, hosts first, and their cables by port.
struct Graph {
    hosts: usize,
    /// For each device: port, and the device and port at the other end.
    edges: Vec<Vec<(u8, usize, u8)>>,
}

/// For each device the link port by destination host.
type Tables = Vec<Vec<u8>>;

/// Channels of a cycle that are printed.
const PRINTED_MAX: usize = 24;

/// Finds routes; shortest paths if these cannot deadlock, else along a spanning tree.
pub(super) fn choose(net: Net, out: &mut Findings) -> Option<HtxPlan> {
    let graph = Graph::new(net.hosts.len(), net.switches.len(), &net.cables);
    check_reached(&graph, &net, out)?;
    let minimal = graph.tables();
    let (scheme, tables) = match (net.policy, graph.cycle(&minimal)) {
        (Policy::Tree, _) => (Scheme::Tree, graph.tree().tables()),
        (_, None) => (Scheme::Minimal, minimal),
        (Policy::Auto, Some(_)) => (Scheme::Tree, graph.tree().tables()),
        (Policy::Minimal, Some(cycle)) => {
            report_cycle(&cycle, &net, out);
            return None;
        }
    };
    warn_unused(&graph, &tables, &net, out);
    let mut tables = tables.into_iter();
    let mut plan = HtxPlan {
        hosts: net.hosts,
        switches: net.switches,
        cables: net.cables,
        scheme,
        warnings: Vec::new(),
    };
    let hosts = plan.hosts.iter_mut().map(|host| &mut host.routes);
    let switches = plan.switches.iter_mut().map(|switch| &mut switch.routes);
    for routes in hosts.chain(switches) {
        *routes = tables.next().unwrap_or_default();
    }
    Some(plan)
}

impl Graph {
    fn new(hosts: usize, switches: usize, cables: &[Cable]) -> Self {
        let mut graph = Self {
            hosts,
            edges: vec![Vec::new(); hosts + switches],
        };
        for cable in cables {
            let [a, b] = cable.ends;
            let [from, to] = [a, b].map(|end| graph.number(end.device));
            graph.edges[from].push((a.port, to, b.port));
            graph.edges[to].push((b.port, from, a.port));
        }
        graph
            .edges
            .iter_mut()
            .for_each(|edges| edges.sort_unstable());
        graph
    }

    fn number(&self, device: Device) -> usize {
        match device {
            Device::Host(host) => host,
            Device::Switch(switch) => self.hosts + switch,
        }
    }

    fn device(&self, number: usize) -> Device {
        match number.checked_sub(self.hosts) {
            None => Device::Host(number),
            Some(switch) => Device::Switch(switch),
        }
    }

    /// Cables from each device to this one; `usize::MAX` where there is no way.
    fn distances(&self, to: usize) -> Vec<usize> {
        let mut distances = vec![usize::MAX; self.edges.len()];
        let mut queue = VecDeque::from([to]);
        if let Some(own) = distances.get_mut(to) {
            *own = 0;
        }
        while let Some(at) = queue.pop_front() {
            for &(_, next, _) in &self.edges[at] {
                if distances[next] == usize::MAX {
                    distances[next] = distances[at] + 1;
                    queue.push_back(next);
                }
            }
        }
        distances
    }

    /// Shortest paths, over the lowest port where there are several.
    fn tables(&self) -> Tables {
        let mut tables = vec![vec![0; self.hosts]; self.edges.len()];
        for to in 0..self.hosts {
            let distances = self.distances(to);
            for (at, table) in tables.iter_mut().enumerate() {
                let nearer = |(_, next, _): &&(u8, usize, u8)| {
                    distances[*next].checked_add(1) == Some(distances[at])
                };
                if let Some((port, ..)) = self.edges[at].iter().find(nearer) {
                    table[to] = *port;
                }
            }
        }
        tables
    }

    /// Only the cables of a spanning tree, breadth first from the device with the most cables.
    fn tree(&self) -> Graph {
        let most = (0..self.edges.len()).max_by_key(|at| (self.edges[*at].len(), usize::MAX - at));
        let distances = self.distances(most.unwrap_or(0));
        let mut tree = Graph {
            hosts: self.hosts,
            edges: vec![Vec::new(); self.edges.len()],
        };
        for (at, edges) in self.edges.iter().enumerate() {
            let up = edges
                .iter()
                .find(|(_, next, _)| distances[*next].checked_add(1) == Some(distances[at]));
            if let Some(&(port, next, there)) = up {
                tree.edges[at].push((port, next, there));
                tree.edges[next].push((there, at, port));
            }
        }
        tree.edges
            .iter_mut()
            .for_each(|edges| edges.sort_unstable());
        tree
    }

    fn across(&self, at: usize, port: u8) -> Option<usize> {
        let mut edges = self.edges[at].iter();
        edges.find(|edge| edge.0 == port).map(|edge| edge.1)
    }

    /// The channels that messages of this pair cross: device and port that they leave.
    fn way(&self, tables: &Tables, from: usize, to: usize) -> Vec<(usize, u8)> {
        let mut way = Vec::new();
        let mut at = from;
        while at != to && way.len() < self.edges.len() {
            let port = tables[at][to];
            way.push((at, port));
            match self.across(at, port) {
                Some(next) => at = next,
                None => break,
            }
        }
        way
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let hosts = self.hosts;
        (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (from, to)))
    }

    /// A cycle of channels that wait for each other.
    fn cycle(&self, tables: &Tables) -> Option<Vec<(usize, u8)>> {
        let mut channels: Vec<(usize, u8)> = Vec::new();
        let mut numbers: HashMap<(usize, u8), u32> = HashMap::new();
        let mut next: Vec<Vec<u32>> = Vec::new();
        for (from, to) in self.pairs() {
            let mut before: Option<u32> = None;
            for channel in self.way(tables, from, to) {
                let number = *numbers.entry(channel).or_insert_with(|| {
                    channels.push(channel);
                    next.push(Vec::new());
                    (channels.len() - 1) as u32
                });
                if let Some(before) = before {
                    let after = &mut next[before as usize];
                    if !after.contains(&number) {
                        after.push(number);
                    }
                }
                before = Some(number);
            }
        }
        let cycle = Channels::new(next).cycle()?;
        Some(cycle.into_iter().map(|channel| channels[channel]).collect())
    }
}

fn check_reached(graph: &Graph, net: &Net, out: &mut Findings) -> Option<()> {
    let distances = graph.distances(0);
    let hosts = distances.get(..graph.hosts).unwrap_or_default();
    let Some(lost) = hosts.iter().position(|far| *far == usize::MAX) else {
        return Some(());
    };
    let count = hosts.iter().filter(|far| **far == usize::MAX).count();
    out.push(
        Diagnostic::error(
            "unreachable",
            format!(
                "{count} of {} hosts cannot be reached from `{}`",
                hosts.len(),
                net.hosts[0].name
            ),
        )
        .label(
            net.host_spans[lost],
            "no cable leads here, even over others",
        )
        .help("add a [[cable]] that joins the parts"),
    );
    None
}

fn report_cycle(cycle: &[(usize, u8)], net: &Net, out: &mut Findings) {
    let name = |&(device, port): &(usize, u8)| {
        let name = match device.checked_sub(net.hosts.len()) {
            None => &net.hosts[device].name,
            Some(switch) => &net.switches[switch].name,
        };
        format!("{name}.p{port}")
    };
    let mut names: Vec<_> = cycle.iter().take(PRINTED_MAX).map(name).collect();
    if cycle.len() > PRINTED_MAX {
        names.push(format!("{} more", cycle.len() - PRINTED_MAX));
    }
    names.extend(names.first().cloned());
    let span = net.cable_spans.first().copied().unwrap_or_default();
    out.push(
        Diagnostic::error(
            "deadlock",
            format!("{} channels wait for each other in a cycle", cycle.len()),
        )
        .label(span, "routes over these cables can deadlock")
        .note(format!("the cycle: {}", names.join(" -> ")))
        .note("a frame keeps its place until the next device has room for it")
        .help("use [routing] policy = \"auto\" or \"tree\""),
    );
}

fn warn_unused(graph: &Graph, tables: &Tables, net: &Net, out: &mut Findings) {
    let mut used: HashMap<LinkPort, ()> = HashMap::new();
    for (from, to) in graph.pairs() {
        for (device, port) in graph.way(tables, from, to) {
            let device = graph.device(device);
            used.insert(LinkPort { device, port }, ());
        }
    }
    let spans: Vec<Span> = net.cable_spans.clone();
    for (cable, span) in net.cables.iter().zip(spans) {
        if !cable.ends.iter().any(|end| used.contains_key(end)) {
            out.push(
                Diagnostic::warning("unused-cable", "no route uses this cable")
                    .label(span, "carries nothing")
                    .help("remove it, or plug it in elsewhere"),
            );
        }
    }
}
