//! A cluster of HTX boards as text, JSON or a graph.

use std::fmt::{self, Write as _};

use serde::Serialize;

use super::{BoardKind, Cable, Host, HtxPlan, PortKind, Region, Scheme, Switch};
use crate::spec::units::{display_bytes, display_count};

pub(super) fn text(plan: &HtxPlan) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, plan);
    out
}

fn write(out: &mut String, plan: &HtxPlan) -> fmt::Result {
    writeln!(
        out,
        "HTX boards: {}, {}, {}",
        display_count(plan.hosts.len(), "host"),
        match plan.switches.len() {
            1 => "1 switch".to_owned(),
            count => format!("{count} switches"),
        },
        display_count(plan.cables.len(), "cable")
    )?;
    let (most, mean) = hops(plan);
    let scheme = match plan.scheme {
        Scheme::Minimal => "shortest paths",
        Scheme::Tree => "spanning tree",
        Scheme::File => "routes of the file",
    };
    let most = display_count(most, "hop");
    writeln!(
        out,
        "routing: {scheme}, at most {most}, {mean:.2} on average"
    )?;
    writeln!(out, "\ncables")?;
    for cable in &plan.cables {
        let [a, b] = cable.ends.map(|end| plan.port_name(end));
        write!(out, "  {a} -- {b}")?;
        if let Some(length) = cable.length {
            write!(out, ", {length}")?;
        }
        writeln!(out)?;
    }
    plan.write_regions(out)?;
    for (number, host) in plan.hosts.iter().enumerate() {
        write_host(out, plan, number, host)?;
    }
    for switch in &plan.switches {
        let rate = rate(switch.port, switch.clock_mhz);
        let (name, ports) = (&switch.name, switch.ports);
        writeln!(out, "\nswitch {name}: {ports} ports, {rate}")?;
        write_routes(out, plan, &switch.routes, None)?;
    }
    Ok(())
}

fn write_host(out: &mut String, plan: &HtxPlan, number: usize, host: &Host) -> fmt::Result {
    writeln!(
        out,
        "\n{number} {}: {}, {}",
        host.name,
        display_bytes(host.memory_bytes),
        display_count(host.cores.into(), "core")
    )?;
    let device = match host.device {
        BoardKind::Model => "",
        BoardKind::RtlCore => "; its HT-Core is RTL",
        BoardKind::Rtl => "; it is RTL",
    };
    writeln!(
        out,
        "  board: link {} bit, {} MHz; user logic {} MHz; {}; ring of {} slots{device}",
        host.link_width_bits,
        host.link_mhz,
        host.user_mhz,
        rate(host.port, host.user_mhz),
        host.ring_slots
    )?;
    write_routes(out, plan, &host.routes, Some(number))
}

/// Runs of destinations behind one port on a line.
fn write_routes(
    out: &mut String,
    plan: &HtxPlan,
    routes: &[u8],
    own: Option<usize>,
) -> fmt::Result {
    let mut ports: Vec<u8> = routes.to_vec();
    ports.sort_unstable();
    ports.dedup();
    for port in ports {
        let behind = (0..routes.len()).filter(|to| routes[*to] == port && Some(*to) != own);
        let names: Vec<&str> = behind.map(|to| plan.hosts[to].name.as_str()).collect();
        if !names.is_empty() {
            writeln!(out, "  p{port} to {}", names.join(", "))?;
        }
    }
    Ok(())
}

fn rate(port: PortKind, mhz: u32) -> String {
    match port {
        PortKind::Atoll => format!("ATOLL ports at {mhz} MHz"),
        PortKind::Sfp => "SFPs of 4 Gbit/s".to_owned(),
    }
}

/// The longest route and the mean, in cables.
fn hops(plan: &HtxPlan) -> (usize, f64) {
    let hosts = plan.hosts.len();
    let mut lengths = Vec::new();
    for from in 0..hosts {
        let others = (0..hosts).filter(|to| *to != from);
        lengths.extend(others.map(|to| plan.route(from, to).len()));
    }
    let sum: usize = lengths.iter().sum();
    let mean = sum as f64 / lengths.len().max(1) as f64;
    (lengths.into_iter().max().unwrap_or(0), mean)
}

#[derive(Serialize)]
struct Document<'p> {
    fabric: &'static str,
    scheme: Scheme,
    cables: &'p [Cable],
    hosts: &'p [Host],
    switches: &'p [Switch],
    regions: &'p [Region],
}

pub(super) fn json(plan: &HtxPlan) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&Document {
        fabric: "htx",
        scheme: plan.scheme,
        cables: &plan.cables,
        hosts: &plan.hosts,
        switches: &plan.switches,
        regions: &plan.regions,
    })
}

pub(super) fn dot(plan: &HtxPlan) -> String {
    let mut out = String::from("graph cluster {\n");
    let hosts = plan.hosts.iter().map(|host| (&host.name, "box"));
    let switches = plan.switches.iter().map(|switch| (&switch.name, "diamond"));
    // Writing to a String cannot fail.
    for (name, shape) in hosts.chain(switches) {
        let _ = writeln!(out, "  \"{name}\" [shape={shape}];");
    }
    for cable in &plan.cables {
        let ends = cable.ends.map(|end| plan.port_name(end));
        let [a, b] = ends
            .each_ref()
            .map(|end| end.split_once('.').unwrap_or_default());
        let _ = writeln!(
            out,
            "  \"{}\" -- \"{}\" [taillabel=\"{}\", headlabel=\"{}\"];",
            a.0, b.0, a.1, b.1
        );
    }
    out + "}\n"
}

impl HtxPlan {
    /// The regions, in the order of the file.
    pub(crate) fn write_regions(&self, out: &mut String) -> fmt::Result {
        if !self.regions.is_empty() {
            writeln!(out, "\nregions")?;
        }
        for region in &self.regions {
            let last = region.address + region.bytes - 1;
            writeln!(
                out,
                "  {}: {:#x} to {last:#x} is {} of {}, from {:#x} on",
                self.hosts[region.at].name,
                region.address,
                display_bytes(region.bytes),
                self.hosts[region.of].name,
                region.offset
            )?;
        }
        Ok(())
    }
}
