//! Where packets come out of a network of adapters.
//!
//! A rule whose way out is an adapter may say so (`over`). Otherwise it is the adapter of the destination
//! itself, the only one of its island, or the only other one of the network.

use std::collections::HashMap;

use super::{Devices, Peer, Table};
use crate::diagnostic::{Diagnostic, Findings, Span};
use crate::spec::RouteSpec;

/// Devices named in a finding.
const LISTED_MAX: usize = 8;

/// For each network and destination the device whose adapter takes its packets, and the rule that says so.
pub(super) type Arrivals = Vec<Vec<Option<(usize, Span)>>>;

/// Finds the arrivals of all rules that lead into a network.
pub(super) fn find(
    table: &Table,
    rules: &[RouteSpec],
    devices: &Devices<'_>,
    out: &mut Findings,
) -> Arrivals {
    if devices.networks.is_empty() && rules.iter().all(|rule| rule.over.is_none()) {
        return Arrivals::new();
    }
    let islands = islands(devices);
    let numbers: HashMap<&str, usize> = devices.names.iter().copied().zip(0..).collect();
    let by_span: HashMap<Span, &RouteSpec> = rules.iter().map(|r| (r.at.span, r)).collect();
    let mut arrivals = vec![vec![None; devices.hosts]; devices.networks.len()];
    // Each rule is reported once.
    let mut wrong = std::collections::HashSet::new();
    let of = |device| (0..devices.hosts).map(move |to| (device, to));
    for (device, to) in (0..devices.names.len()).flat_map(of) {
        let Some((way, span)) = table.entry(device, to) else {
            continue;
        };
        let Some(rule) = by_span.get(&span).filter(|_| !wrong.contains(&span)) else {
            continue;
        };
        let found = match devices.ways[device][way].peer {
            Peer::Device(_) => over_cable(rule, device, way, devices).map_or(Ok(()), Err),
            Peer::Network(network) => {
                let others = devices.networks[network].iter().copied();
                let others: Vec<usize> = others.filter(|other| *other != device).collect();
                let arrival = match &rule.over {
                    Some(name) => {
                        let over = numbers.get(name.value.as_str()).copied();
                        let over = over.filter(|over| others.contains(over));
                        over.ok_or_else(|| not_there(rule, &others, devices))
                    }
                    None => guess(&others, &islands, to)
                        .ok_or_else(|| several(rule, to, &others, devices)),
                };
                arrival.and_then(|arrival| {
                    let known = &mut arrivals[network][to];
                    let (first, rule_of_first) = *known.get_or_insert((arrival, span));
                    match first == arrival {
                        true => Ok(()),
                        false => Err(two(devices, to, (first, rule_of_first), (arrival, span))),
                    }
                })
            }
        };
        if let Err(finding) = found {
            wrong.insert(span);
            out.push(*finding);
        }
    }
    arrivals
}

/// For each device the number of its island: the devices that cables join.
fn islands(devices: &Devices<'_>) -> Vec<usize> {
    let mut islands = vec![usize::MAX; devices.names.len()];
    for first in 0..islands.len() {
        if islands[first] != usize::MAX {
            continue;
        }
        let mut stack = vec![first];
        while let Some(at) = stack.pop() {
            islands[at] = first;
            for way in &devices.ways[at] {
                if let Peer::Device(peer) = way.peer
                    && islands[peer] == usize::MAX
                {
                    stack.push(peer);
                }
            }
        }
    }
    islands
}

/// The adapter that is meant, if only one can be.
fn guess(others: &[usize], islands: &[usize], to: usize) -> Option<usize> {
    if others.contains(&to) {
        return Some(to);
    }
    let beside = others
        .iter()
        .filter(|other| islands[**other] == islands[to]);
    let beside: Vec<usize> = beside.copied().collect();
    match (beside.as_slice(), others) {
        ([one], _) | ([], [one]) => Some(*one),
        _ => None,
    }
}

fn list(devices: &Devices<'_>, numbers: &[usize]) -> String {
    let names = numbers.iter().take(LISTED_MAX);
    let names: Vec<String> = names
        .map(|number| format!("`{}`", devices.names[*number]))
        .collect();
    let more = if numbers.len() > LISTED_MAX {
        ", ..."
    } else {
        ""
    };
    format!("{}{more}", names.join(", "))
}

fn over_cable(
    rule: &RouteSpec,
    device: usize,
    way: usize,
    devices: &Devices<'_>,
) -> Option<Box<Diagnostic>> {
    let over = rule.over.as_ref()?;
    let name = &devices.ways[device][way].name;
    let finding = Diagnostic::error("route", format!("a cable is in {name}, and no adapter"))
        .label(over.span, "only networks of adapters have several ends")
        .label(rule.by.span, "the way out")
        .help("remove `over`");
    Some(Box::new(finding))
}

fn not_there(rule: &RouteSpec, others: &[usize], devices: &Devices<'_>) -> Box<Diagnostic> {
    let (at, over) = (&rule.at.value, rule.over.as_ref());
    let name = over.map_or("", |over| &over.value);
    let name = crate::spec::clip_name(name);
    let text = format!("no adapter of `{name}` takes packets that `{at}` sends by this way");
    let span = over.map_or(rule.by.span, |over| over.span);
    Box::new(
        Diagnostic::error("route", text)
            .label(span, "not another node on this network")
            .help(format!("the others are {}", list(devices, others))),
    )
}

fn several(
    rule: &RouteSpec,
    to: usize,
    others: &[usize],
    devices: &Devices<'_>,
) -> Box<Diagnostic> {
    let (at, to) = (&rule.at.value, devices.names[to]);
    Box::new(
        Diagnostic::error(
            "route",
            format!("packets for `{to}` that leave `{at}` could come out at several adapters"),
        )
        .label(rule.by.span, "leads to a network of adapters")
        .help(format!(
            "add `over = \"NAME\"` with one of {}",
            list(devices, others)
        )),
    )
}

fn two(
    devices: &Devices<'_>,
    to: usize,
    (first, rule_of_first): (usize, Span),
    (second, rule): (usize, Span),
) -> Box<Diagnostic> {
    let name = |device: usize| devices.names[device];
    let text = format!(
        "packets for `{}` come out of one network at `{}` and at `{}`",
        name(to),
        name(first),
        name(second)
    );
    Box::new(
        Diagnostic::error("route", text)
            .label(rule, format!("at `{}`", name(second)))
            .label(rule_of_first, format!("at `{}`", name(first)))
            .note("who takes a packet from a network depends on its address alone")
            .help(
                "let both rules lead to the same adapter: say `over`, or divide the destinations",
            ),
    )
}
