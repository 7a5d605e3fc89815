//! Routes that the file gives itself.
//!
//! For each device and destination exactly one rule says the way out. This is checked here, and that
//! no packet circles. Whether the routes fit the registers and are free of deadlock is checked as for
//! all routes, in what the registers say.

mod arrivals;

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::{NextHops, Routes, Scheme, several};
use crate::check;
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::spec::{AdapterKind, ClusterSpec, RouteSpec, clip_name, nearest_name, parse_link_path};
use crate::topology::{Edge, Topology};
use arrivals::Arrivals;

/// Devices named in a finding.
const LISTED_MAX: usize = 8;

/// What rules may name.
pub(crate) struct Devices<'a> {
    /// The first `hosts` can be destinations.
    pub names: Vec<&'a str>,
    pub hosts: usize,
    /// The ways out of each device.
    pub ways: Vec<Vec<Way>>,
    /// The devices with an adapter on each network.
    pub networks: Vec<Vec<usize>>,
    /// A port of a device as the file writes it: processor, or 0, and link.
    pub parse: &'a ParsePort<'a>,
}

/// The port of a device by its name in the file.
pub(crate) type ParsePort<'a> = dyn Fn(usize, &str) -> Option<(u8, u8)> + 'a;

/// A port with a cable or an adapter in it.
pub(crate) struct Way {
    pub port: (u8, u8),
    /// With the name of the device.
    pub name: String,
    pub peer: Peer,
}

/// Where a way leads to.
pub(crate) enum Peer {
    /// To the device at the other end of a cable.
    Device(usize),
    /// Into a network of adapters, to the one that takes packets for their destination.
    Network(usize),
}

/// The way out of each device by destination, and the rule that says so.
pub(crate) struct Table {
    hosts: usize,
    /// For each rule, the position of its way among those of its device, and its place in the file.
    rules: Vec<(usize, Span)>,
    /// The rule for each device and destination, counted from 1. A table of 4,096 nodes has 16 million.
    entries: Vec<Option<NonZeroU32>>,
    arrivals: Arrivals,
}

impl Table {
    /// The way out of `device` towards `to`: its position in the device's ways.
    pub(crate) fn way(&self, device: usize, to: usize) -> Option<usize> {
        Some(self.entry(device, to)?.0)
    }

    /// The place of the rule for this way.
    pub(crate) fn rule(&self, device: usize, to: usize) -> Option<Span> {
        Some(self.entry(device, to)?.1)
    }

    /// The device whose adapter takes packets for `to` from a network.
    pub(crate) fn arrival(&self, network: usize, to: usize) -> Option<usize> {
        Some((*self.arrivals.get(network)?.get(to)?)?.0)
    }

    /// The device that packets for `to` come to from `device`.
    fn next(&self, devices: &Devices<'_>, device: usize, to: usize) -> Option<usize> {
        match devices.ways[device].get(self.way(device, to)?)?.peer {
            Peer::Device(peer) => Some(peer),
            Peer::Network(network) => self.arrival(network, to),
        }
    }

    fn entry(&self, device: usize, to: usize) -> Option<(usize, Span)> {
        let number = (*self.entries.get(device * self.hosts + to)?)?;
        self.rules.get(number.get() as usize - 1).copied()
    }

    /// Makes the table, if the rules name what there is and each pair once, and no packet circles.
    pub(crate) fn new(
        rules: &[RouteSpec],
        devices: &Devices<'_>,
        out: &mut Findings,
    ) -> Option<Self> {
        let numbers: HashMap<&str, usize> = devices.names.iter().copied().zip(0..).collect();
        let mut table = Self {
            hosts: devices.hosts,
            rules: Vec::new(),
            entries: vec![None; devices.names.len() * devices.hosts],
            arrivals: Vec::new(),
        };
        let (resolved, is_sound) = out.step(|out| {
            let resolve = |rule| Some((rule, devices.resolve(rule, &numbers, out)?));
            let resolved: Vec<(&RouteSpec, (usize, usize))> =
                rules.iter().filter_map(resolve).collect();
            let spans = resolved.iter();
            table.rules = spans.map(|(rule, (_, way))| (*way, rule.at.span)).collect();
            let mut rests = HashMap::new();
            for (number, (rule, (device, _))) in (1..).map(NonZeroU32::new).zip(&resolved) {
                if rule.to.is_none()
                    && let Some(first) = rests.insert(*device, rule.at.span)
                {
                    two_rests(devices.names[*device], rule.at.span, first, out);
                }
                for name in rule.to.iter().flatten() {
                    if let Some(to) = devices.number(name, &numbers, out) {
                        table.set(devices, (*device, to), number, name, out);
                    }
                }
            }
            resolved
        });
        for (number, (rule, (device, _))) in (1..).map(NonZeroU32::new).zip(&resolved) {
            if rule.to.is_some() {
                continue;
            }
            let row = device * devices.hosts..(device + 1) * devices.hosts;
            for (to, entry) in table.entries[row].iter_mut().enumerate() {
                if entry.is_none() && to != *device {
                    *entry = number;
                }
            }
        }
        if !is_sound {
            return None;
        }
        let (arrivals, is_clear) = out.step(|out| arrivals::find(&table, rules, devices, out));
        table.arrivals = arrivals;
        let (_, is_whole) = out.step(|out| table.check_whole(rules, devices, out));
        let (_, is_straight) = out.step(|out| {
            if is_clear && is_whole {
                table.check_straight(devices, out);
            }
        });
        (is_clear && is_whole && is_straight).then_some(table)
    }

    fn set(
        &mut self,
        devices: &Devices<'_>,
        (device, to): (usize, usize),
        rule: Option<NonZeroU32>,
        name: &Located<String>,
        out: &mut Findings,
    ) {
        let at = devices.names[device];
        if device == to {
            out.push(
                Diagnostic::error("route", format!("`{at}` has a route to itself"))
                    .label(name.span, "the device that the route is of")
                    .help("remove this name"),
            );
            return;
        }
        if let Some(first) = self.rule(device, to) {
            out.push(
                Diagnostic::error(
                    "route",
                    format!("`{at}` has two routes to `{}`", name.value),
                )
                .label(name.span, "named again")
                .label(first, "the first route")
                .help("remove one of them"),
            );
            return;
        }
        self.entries[device * devices.hosts + to] = rule;
    }

    /// Every device that packets can come to has a route to every destination.
    fn check_whole(&self, rules: &[RouteSpec], devices: &Devices<'_>, out: &mut Findings) {
        for (device, name) in devices.names.iter().enumerate() {
            let lacks = |to: &usize| *to != device && self.way(device, *to).is_none();
            let missing: Vec<usize> = (0..devices.hosts).filter(lacks).collect();
            if missing.is_empty() {
                continue;
            }
            let listed = missing.iter().take(LISTED_MAX).map(|to| devices.names[*to]);
            let listed: Vec<&str> = listed.collect();
            let more = if missing.len() > LISTED_MAX {
                ", ..."
            } else {
                ""
            };
            let own = rules.iter().find(|rule| rule.at.value == *name);
            let span = own.or(rules.first()).map(|rule| rule.span);
            out.push(
                Diagnostic::error(
                    "route",
                    format!("`{name}` has no route to {}{more}", listed.join(", ")),
                )
                .label(
                    span.unwrap_or_default(),
                    match own {
                        Some(_) => "its first route",
                        None => "routes are given, so each device needs some",
                    },
                )
                .note("a file that gives routes gives all of them")
                .help(format!(
                    "add a [[route]] with `at = \"{name}\"`; `to = \"*\"` is for all that is left"
                )),
            );
        }
    }

    /// No packet comes back to a device where it was before.
    fn check_straight(&self, devices: &Devices<'_>, out: &mut Findings) {
        for to in 0..devices.hosts {
            let mut is_known = vec![false; devices.names.len()];
            is_known[to] = true;
            for from in 0..devices.names.len() {
                let mut path: Vec<usize> = Vec::new();
                let mut at = from;
                while !is_known[at] {
                    is_known[at] = true;
                    path.push(at);
                    let Some(next) = self.next(devices, at, to) else {
                        break;
                    };
                    at = next;
                }
                if let Some(first) = path.iter().position(|device| *device == at) {
                    return self.report_circle(&path[first..], to, devices, out);
                }
            }
        }
    }

    fn report_circle(
        &self,
        circle: &[usize],
        to: usize,
        devices: &Devices<'_>,
        out: &mut Findings,
    ) {
        let name = |device: &usize| {
            let way = self.way(*device, to)?;
            Some(devices.ways[*device].get(way)?.name.as_str())
        };
        let mut names: Vec<&str> = circle.iter().filter_map(name).collect();
        names.extend(names.first().copied());
        let mut finding = Diagnostic::error(
            "route",
            format!("packets for `{}` circle", devices.names[to]),
        );
        for device in circle.iter().take(LISTED_MAX) {
            let by = name(device).unwrap_or_default();
            finding = finding.label(
                self.rule(*device, to).unwrap_or_default(),
                format!("sends them by {by}"),
            );
        }
        out.push(
            finding
                .note(format!("the circle: {}", names.join(" -> ")))
                .help("let one of these routes lead out of the circle"),
        );
    }
}

impl Devices<'_> {
    /// The device of a rule, and the way out of it.
    fn resolve(
        &self,
        rule: &RouteSpec,
        numbers: &HashMap<&str, usize>,
        out: &mut Findings,
    ) -> Option<(usize, usize)> {
        let Some(&device) = numbers.get(rule.at.value.as_str()) else {
            out.push(self.unknown(&rule.at, &self.names));
            return None;
        };
        let port = (self.parse)(device, &rule.by.value);
        let ways = &self.ways[device];
        let way = ways.iter().position(|way| Some(way.port) == port);
        if way.is_none() {
            let names = ways.iter().map(|way| way.name.as_str());
            let names: Vec<&str> = names.take(LISTED_MAX).collect();
            let name = &rule.at.value;
            let problem = match port {
                None => format!("`{}` is not a port", clip_name(&rule.by.value)),
                Some(_) => format!("nothing is in `{}` of `{name}`", clip_name(&rule.by.value)),
            };
            out.push(
                Diagnostic::error("route", problem)
                    .label(rule.by.span, "packets cannot leave by this")
                    .help(format!("the ways out are {}", names.join(", "))),
            );
        }
        Some((device, way?))
    }

    /// The number of a destination.
    fn number(
        &self,
        name: &Located<String>,
        numbers: &HashMap<&str, usize>,
        out: &mut Findings,
    ) -> Option<usize> {
        let number = numbers.get(name.value.as_str()).copied();
        let number = number.filter(|number| *number < self.hosts);
        if number.is_none() {
            out.push(self.unknown(name, &self.names[..self.hosts]));
        }
        number
    }

    fn unknown(&self, name: &Located<String>, known: &[&str]) -> Diagnostic {
        let known = &known[..known.len().min(1000)];
        let help = nearest_name(&name.value, known)
            .map_or("name a node of this file".to_owned(), |near| {
                format!("did you mean `{near}`?")
            });
        let text = format!("there is no node `{}`", clip_name(&name.value));
        Diagnostic::error("unknown-node", text)
            .label(name.span, "not the name of a node")
            .help(help)
    }
}

/// The routes of the file as they are; nodes keep their numbers.
pub(crate) fn choose(
    topology: &Topology,
    spec: &ClusterSpec,
    out: &mut Findings,
) -> Option<(Routes, Table)> {
    let gates = topology.gates();
    let ways = topology.ways();
    let count = gates.iter().map(|gate| gate.network + 1).max();
    let mut networks = vec![Vec::new(); count.unwrap_or(0)];
    for gate in &gates {
        let nodes: &mut Vec<usize> = &mut networks[gate.network];
        if !nodes.contains(&gate.port.node) {
            nodes.push(gate.port.node);
        }
    }
    let way = |node: usize, (number, edge): (usize, &Edge)| {
        let mut gates = gates.iter();
        let gate = gates.find(|gate| gate.port.node == node && gate.way == number);
        Way {
            port: (edge.port.processor, edge.port.link.get()),
            name: topology.port_name(edge.port),
            peer: gate.map_or(Peer::Device(edge.peer), |gate| Peer::Network(gate.network)),
        }
    };
    let ways_of = |(node, edges): (usize, &Vec<Edge>)| {
        let edges = edges.iter().enumerate();
        edges.map(|edge| way(node, edge)).collect()
    };
    let devices = Devices {
        names: topology.nodes.iter().map(|n| n.name.as_str()).collect(),
        hosts: topology.nodes.len(),
        ways: ways.iter().enumerate().map(ways_of).collect(),
        networks,
        parse: &|node, text| parse_way(topology, node, text),
    };
    let table = Table::new(&spec.routes, &devices, out)?;
    let map = check::map::lay_out(topology, &spec.map, out)?;
    let mut next = NextHops::build(devices.hosts, |from, to| table.way(from, to));
    let arrival = |network: usize, to: usize| {
        let node = table.arrival(network, to)?;
        let entries = gates.iter().enumerate();
        let entries = entries.filter(|(_, gate)| gate.network == network && gate.port.node == node);
        let entries: Vec<usize> = entries.map(|(number, _)| number).collect();
        let way = table.way(node, to).and_then(|way| ways[node].get(way));
        let exit = way.map(|way| way.port.processor);
        let first = (*entries.first()?, to);
        Some(several::arrivals(topology, &gates, &entries, first, exit))
    };
    let of_network = |network| {
        let arrivals = (0..devices.hosts).map(|to| arrival(network, to));
        arrivals.map(Option::unwrap_or_default).collect()
    };
    next.arrivals = (0..devices.networks.len()).map(of_network).collect();
    let scheme = Scheme::File;
    Some((Routes { scheme, next, map }, table))
}

/// A link, or the kind of an adapter of the node.
fn parse_way(topology: &Topology, node: usize, text: &str) -> Option<(u8, u8)> {
    let mut kinds = AdapterKind::ALL.into_iter();
    let (processor, link) = match kinds.find_map(|kind| Some((kind, kind.index_of(text)?))) {
        Some(of) => {
            let mut adapters = topology.nodes[node].adapters.iter();
            adapters
                .find(|adapter| (adapter.kind, adapter.index) == of)?
                .port?
        }
        None => parse_link_path(text, topology.fabric)?,
    };
    Some((processor, link.get()))
}

/// Two rules of a device are for all destinations that no other rule names.
fn two_rests(at: &str, again: Span, first: Span, out: &mut Findings) {
    out.push(
        Diagnostic::error("route", format!("`{at}` has two routes to `*`"))
            .label(again, "named again")
            .label(first, "the first route")
            .help("remove one of them"),
    );
}
