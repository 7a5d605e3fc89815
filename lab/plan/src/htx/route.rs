//! The way of each message: tables by destination.

use std::collections::{HashMap, VecDeque};

use super::net::Net;
use super::read::parse_port;
use super::{Cable, Device, HtxPlan, LinkPort, Scheme};
use crate::diagnostic::{Diagnostic, Findings, Span};
use crate::route::channels::Channels;
use crate::route::own::{Devices, Peer, Table, Way};
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
/// Rules of the file that are shown.
const RULES_MAX: usize = 8;

/// Devices and ports that messages leave by, one after the other, round a cycle.
type Cycle = Vec<(usize, u8)>;

/// Routes of devices.
pub(crate) struct Routed {
    /// For each host, then for each switch, the port by destination host.
    pub tables: Tables,
    /// For each host the number of its network: the hosts that cables join have one.
    pub network: Vec<usize>,
}

/// Finds routes between devices with ports. Hosts that no cables join have none.
pub(crate) fn route_cables(
    hosts: usize,
    cables: &[Cable],
    policy: Policy,
) -> Result<Routed, Cycle> {
    let graph = Graph::new(hosts, 0, cables);
    let (_, tables) = graph.pick(policy)?;
    let network = graph.networks();
    Ok(Routed { tables, network })
}

/// Finds routes between all hosts: those of the file, or shortest paths if these cannot deadlock, else
/// along a spanning tree.
pub(super) fn choose(net: Net, out: &mut Findings) -> Option<HtxPlan> {
    let graph = Graph::new(net.hosts.len(), net.switches.len(), &net.cables);
    check_reached(&graph, &net, out)?;
    let (scheme, tables) = match net.routes.is_empty() {
        true => graph.choose(&net, out)?,
        false => (Scheme::File, graph.own(&net, out)?),
    };
    Some(finish(net, &graph, (scheme, tables), out))
}

/// Finds routes between the hosts that cables join; and the network of each host.
pub(crate) fn choose_parts(net: Net, out: &mut Findings) -> Option<(HtxPlan, Vec<usize>)> {
    let graph = Graph::new(net.hosts.len(), net.switches.len(), &net.cables);
    let chosen = graph.choose(&net, out)?;
    let network = graph.networks();
    Some((finish(net, &graph, chosen, out), network))
}

fn finish(
    net: Net,
    graph: &Graph,
    (scheme, tables): (Scheme, Tables),
    out: &mut Findings,
) -> HtxPlan {
    warn_unused(graph, &tables, &net, out);
    let mut tables = tables.into_iter();
    let mut plan = HtxPlan {
        hosts: net.hosts,
        switches: net.switches,
        cables: net.cables,
        regions: net.regions,
        scheme,
        warnings: Vec::new(),
    };
    let hosts = plan.hosts.iter_mut().map(|host| &mut host.routes);
    let switches = plan.switches.iter_mut().map(|switch| &mut switch.routes);
    for routes in hosts.chain(switches) {
        *routes = tables.next().unwrap_or_default();
    }
    plan
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

    fn pick(&self, policy: Policy) -> Result<(Scheme, Tables), Cycle> {
        let minimal = self.tables();
        match (policy, self.cycle(&minimal)) {
            (Policy::Tree, _) => Ok((Scheme::Tree, self.tree().tables())),
            (_, None) => Ok((Scheme::Minimal, minimal)),
            (Policy::Auto, Some(_)) => Ok((Scheme::Tree, self.tree().tables())),
            (Policy::Minimal, Some(cycle)) => Err(cycle),
        }
    }

    fn choose(&self, net: &Net, out: &mut Findings) -> Option<(Scheme, Tables)> {
        let report = |cycle: Cycle| {
            let span = net.cable_spans.first().copied().unwrap_or_default();
            let place = vec![(span, "routes over these cables can deadlock".to_owned())];
            let help = "use [routing] policy = \"auto\" or \"tree\"";
            report_cycle(&cycle, net, place, help, out);
        };
        self.pick(net.policy).map_err(report).ok()
    }

    /// The routes of the file, if they are whole and free of cycles.
    fn own(&self, net: &Net, out: &mut Findings) -> Option<Tables> {
        let hosts = net.hosts.iter().map(|host| host.name.as_str());
        let switches = net.switches.iter().map(|switch| switch.name.as_str());
        let names: Vec<&str> = hosts.chain(switches).collect();
        let way = |at: usize, &(port, peer, _): &(u8, usize, u8)| Way {
            port: (0, port),
            name: format!("{}.p{port}", names[at]),
            peer: Peer::Device(peer),
        };
        let ways = self.edges.iter().enumerate();
        let ways = ways.map(|(at, edges)| edges.iter().map(|edge| way(at, edge)).collect());
        let devices = Devices {
            hosts: self.hosts,
            ways: ways.collect(),
            names,
            networks: Vec::new(),
            parse: &|_, text| Some((0, parse_port(text)?)),
        };
        let own = Table::new(&net.routes, &devices, out)?;
        let port = |at: usize, to| Some(self.edges[at].get(own.way(at, to)?)?.0);
        let row = |at| {
            (0..self.hosts)
                .map(|to| port(at, to).unwrap_or(0))
                .collect()
        };
        let tables: Tables = (0..self.edges.len()).map(row).collect();
        let Some(cycle) = self.cycle(&tables) else {
            return Some(tables);
        };
        let places = self.blame(&tables, &own, &cycle, net);
        let help = "let one of these routes take another way: one up a tree of cables and then \
                    down closes no cycle";
        report_cycle(&cycle, net, places, help, out);
        None
    }

    /// The rules that let messages of a channel of the cycle wait for the next one.
    fn blame(
        &self,
        tables: &Tables,
        own: &Table,
        cycle: &[(usize, u8)],
        net: &Net,
    ) -> Vec<(Span, String)> {
        let next = cycle.iter().cycle().skip(1);
        let places = cycle.iter().zip(next).filter_map(|(held, wanted)| {
            let comes = |to: &usize| tables[held.0][*to] == held.1 && held.0 != *to;
            let leaves = |to: &usize| tables[wanted.0][*to] == wanted.1 && wanted.0 != *to;
            let to = (0..self.hosts).find(|to| comes(to) && leaves(to))?;
            let [held, on] = [held, wanted].map(|channel| channel_name(channel, net));
            let host = &net.hosts[to].name;
            let text = format!("messages for {host} that came by {held} leave by {on}");
            Some((own.rule(wanted.0, to)?, text))
        });
        places.take(RULES_MAX).collect()
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

    /// For each host the number of its network.
    fn networks(&self) -> Vec<usize> {
        let mut networks = vec![usize::MAX; self.hosts];
        let mut count = 0;
        for first in 0..self.hosts {
            if networks[first] == usize::MAX {
                let far = self.distances(first);
                for (host, network) in networks.iter_mut().enumerate() {
                    if far[host] != usize::MAX {
                        *network = count;
                    }
                }
                count += 1;
            }
        }
        networks
    }

    /// Only the cables of a spanning tree of each network, breadth first from the device with the
    /// most cables.
    fn tree(&self) -> Graph {
        let mut roots: Vec<usize> = (0..self.edges.len()).collect();
        roots.sort_by_key(|at| std::cmp::Reverse(self.edges[*at].len()));
        let mut distances = vec![usize::MAX; self.edges.len()];
        for root in roots {
            if distances[root] == usize::MAX {
                for (distance, far) in distances.iter_mut().zip(self.distances(root)) {
                    *distance = far.min(*distance);
                }
            }
        }
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

    /// Pairs of hosts that reach each other.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let (hosts, networks) = (self.hosts, self.networks());
        let pairs = (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (from, to)));
        pairs.filter(move |(from, to)| networks[*from] == networks[*to])
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

/// A channel by the names in the file.
fn channel_name(&(device, port): &(usize, u8), net: &Net) -> String {
    let name = match device.checked_sub(net.hosts.len()) {
        None => &net.hosts[device].name,
        Some(switch) => &net.switches[switch].name,
    };
    format!("{name}.p{port}")
}

fn report_cycle(
    cycle: &[(usize, u8)],
    net: &Net,
    places: Vec<(Span, String)>,
    help: &str,
    out: &mut Findings,
) {
    let name = |channel| channel_name(channel, net);
    let mut names: Vec<_> = cycle.iter().take(PRINTED_MAX).map(name).collect();
    if cycle.len() > PRINTED_MAX {
        names.push(format!("{} more", cycle.len() - PRINTED_MAX));
    }
    names.extend(names.first().cloned());
    let mut finding = Diagnostic::error(
        "deadlock",
        format!("{} channels wait for each other in a cycle", cycle.len()),
    );
    for (span, text) in places {
        finding = finding.label(span, text);
    }
    out.push(
        finding
            .note(format!("the cycle: {}", names.join(" -> ")))
            .note("a frame keeps its place until the next device has room for it")
            .help(help),
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
