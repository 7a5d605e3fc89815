//! From the tables of a file to devices and cables that exist.

use std::collections::HashMap;

use super::net::Net;
use super::read::{CableSpec, HostSpec, Spec};
use super::region;
use super::{Cable, Device, HOSTS_MAX, Host, LinkPort, PortKind, SENDER_SLOTS_MIN, Switch};
use crate::check::cables::port_taken;
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::spec::units::{display_bytes, display_count};

pub(crate) fn build(spec: &Spec, out: &mut Findings) -> Option<Net> {
    if spec.hosts.len() > HOSTS_MAX {
        out.push(
            Diagnostic::error(
                "size",
                format!("the file describes {} hosts", spec.hosts.len()),
            )
            .note(format!(
                "a cluster of HTX boards has at most {HOSTS_MAX} hosts"
            ))
            .help("plan a smaller cluster"),
        );
        return None;
    }
    let names = names(spec, out);
    let host_spans = spec.hosts.iter().map(|host| host.span).collect();
    let hosts: Vec<Host> = spec.hosts.iter().map(|host| make(host, out)).collect();
    let switches: Vec<Switch> = spec
        .switches
        .iter()
        .map(|switch| Switch {
            name: switch.name.value.clone(),
            port: switch.port,
            ports: switch.ports,
            clock_mhz: switch.clock_mhz,
            routes: Vec::new(),
        })
        .collect();
    let mut net = Net {
        routes: spec.routes.clone(),
        hosts,
        host_spans,
        switches,
        cables: Vec::new(),
        regions: Vec::new(),
        lenders: spec
            .hosts
            .iter()
            .map(|host| (host.node, host.lendable))
            .collect(),
        cable_spans: Vec::new(),
        policy: spec.policy,
    };
    let mut taken = HashMap::new();
    for cable in &spec.cables {
        plug(cable, &names, &mut taken, &mut net, out);
    }
    net.regions = region::place(&spec.regions, &net, out);
    Some(net)
}

fn names(spec: &Spec, out: &mut Findings) -> HashMap<String, Device> {
    let hosts = (0..).map(Device::Host).zip(&spec.hosts);
    let hosts = hosts.map(|(device, host)| (device, &host.name));
    let switches = (0..).map(Device::Switch).zip(&spec.switches);
    let switches = switches.map(|(device, switch)| (device, &switch.name));
    let mut names = HashMap::new();
    let mut spans: HashMap<&str, Span> = HashMap::new();
    for (device, name) in hosts.chain(switches) {
        if let Some(first) = spans.insert(&name.value, name.span) {
            out.push(
                Diagnostic::error("name", format!("two devices are called `{}`", name.value))
                    .label(name.span, "already taken")
                    .label(first, "the first one")
                    .help("give each host and each switch its own name"),
            );
        }
        names.insert(name.value.clone(), device);
    }
    names
}

fn make(spec: &HostSpec, out: &mut Findings) -> Host {
    let board = spec.board;
    let most = board.port.ports_max();
    let ports = board.ports.value.unwrap_or(u64::from(most));
    if ports > u64::from(most) {
        out.push(
            Diagnostic::error(
                "link-degree",
                format!(
                    "a board does not have {ports} ports of kind \"{}\"",
                    board.port.name()
                ),
            )
            .label(board.ports.span, format!("expected at most {most}"))
            .note("a board has six SFPs, or a dual ATOLL connector in the place of three of them")
            .help("use fewer ports, or `port = \"sfp\"`"),
        );
    }
    Host {
        name: spec.name.value.clone(),
        memory_bytes: spec.memory_bytes,
        cores: spec.cores,
        link_width_bits: board.link_width_bits as u8,
        link_mhz: board.link_mhz as u32,
        user_mhz: board.user_mhz as u32,
        device: board.device.value,
        port: board.port,
        ports: ports.min(u64::from(most)) as u8,
        ring_slots: board.ring_bytes.value / super::SLOT_BYTES,
        routes: Vec::new(),
    }
}

/// A board writes over messages that nobody has taken, so each sender needs slots of its own.
pub(super) fn check_rings(hosts: &[HostSpec], out: &mut Findings) {
    let senders = (hosts.len() as u64).saturating_sub(1);
    for host in hosts {
        let ring = host.board.ring_bytes;
        let slots = ring.value / super::SLOT_BYTES;
        let needed = senders * SENDER_SLOTS_MIN;
        if slots < needed {
            let span = match ring.span == Span::default() {
                true => host.span,
                false => ring.span,
            };
            let bytes = (needed * super::SLOT_BYTES).next_power_of_two();
            out.push(
                Diagnostic::error(
                    "ring-size",
                    format!(
                        "the ring of `{}` is too small for {}",
                        host.name.value,
                        display_count(senders as usize, "sender")
                    ),
                )
                .label(span, format!("{slots} slots, expected at least {needed}"))
                .note(format!(
                    "a board writes over slots that were not read, so each sender gets \
                     {SENDER_SLOTS_MIN} slots"
                ))
                .help(format!("use `ring = \"{}\"`", display_bytes(bytes))),
            );
        }
    }
}

/// Ports that have a cable, with its place in the file.
type Taken = HashMap<LinkPort, Span>;

fn plug(
    cable: &CableSpec,
    names: &HashMap<String, Device>,
    taken: &mut Taken,
    net: &mut Net,
    out: &mut Findings,
) {
    let [from, to] = &cable.ends;
    let ends = [from, to].map(|end| resolve(end, names, net, out));
    let [Some(a), Some(b)] = ends else {
        return;
    };
    if a.device == b.device {
        out.push(
            Diagnostic::error(
                "self-link",
                format!("the cable joins `{}` to itself", from.value.0),
            )
            .label(to.span, "the same device as `from`")
            .help("plug one end into another device"),
        );
        return;
    }
    for (port, end) in [(a, from), (b, to)] {
        if let Some(other) = taken.insert(port, cable.span) {
            out.push(port_taken(end.span, other));
            return;
        }
    }
    check_rates(cable, [a, b], net, out);
    net.cables.push(Cable {
        ends: [a, b],
        length: cable.length.map(|length| length.value),
    });
    net.cable_spans.push(cable.span);
}

fn resolve(
    end: &Located<(String, u8)>,
    names: &HashMap<String, Device>,
    net: &Net,
    out: &mut Findings,
) -> Option<LinkPort> {
    let (name, port) = &end.value;
    let Some(&device) = names.get(name) else {
        let mut known: Vec<&str> = names.keys().map(String::as_str).collect();
        known.sort_unstable();
        let near = crate::spec::nearest_name(name, &known);
        let help = near.map_or(
            "name a [[node]] or [[switch]] of this file".into(),
            |near| format!("did you mean `{near}`?"),
        );
        let name = crate::spec::clip_name(name);
        out.push(
            Diagnostic::error(
                "unknown-node",
                format!("there is no host or switch `{name}`"),
            )
            .label(end.span, "not the name of a device")
            .help(help),
        );
        return None;
    };
    let ports = match device {
        Device::Host(host) => net.hosts.get(host).map_or(0, |host| host.ports),
        Device::Switch(switch) => net.switches.get(switch).map_or(0, |switch| switch.ports),
    };
    if *port >= ports {
        out.push(
            Diagnostic::error(
                "link-degree",
                "the cable is plugged into a port that does not exist",
            )
            .label(
                end.span,
                format!("`{name}` has {ports} ports, p0 to p{}", ports.max(1) - 1),
            )
            .help("use a port that exists, or give the device more `ports`"),
        );
        return None;
    }
    Some(LinkPort {
        device,
        port: *port,
    })
}

/// Both ends of a cable send at one rate.
fn check_rates(cable: &CableSpec, ends: [LinkPort; 2], net: &Net, out: &mut Findings) {
    let rates = ends.map(|end| {
        let (port, mhz) = match end.device {
            Device::Host(host) => (net.hosts[host].port, net.hosts[host].user_mhz),
            Device::Switch(at) => (net.switches[at].port, net.switches[at].clock_mhz),
        };
        match port {
            PortKind::Atoll => format!("an ATOLL port at {mhz} MHz"),
            PortKind::Sfp => "an SFP".to_owned(),
        }
    });
    let [a, b] = &rates;
    if a != b {
        out.push(
            Diagnostic::error("port-rate", "the ends of the cable do not fit each other")
                .label(cable.ends[0].span, a.clone())
                .label(cable.ends[1].span, b.clone())
                .help("give both devices the same `port` and the same clock"),
        );
    }
}
