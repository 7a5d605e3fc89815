//! `hostwire doctor --on`: from each host to each, which wires work, and what is in the way.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use hostwire::settings::{ATTACH_TIMEOUT, WIRE, WireName};
use hostwire_transport::os::process::ChildSetup;
use hostwire_transport::printable;

use super::survey::{self, OfWire, Survey, Way};
use super::{Finding, Verdict};
use crate::run::{HostNames, OWN_PROGRAM};
use crate::text::{Align, Table};

const HOSTS: &str = "hosts";
const WAYS: &str = "ways";
const AUTO: &str = "wire auto";
/// How long all of it may take on the hosts.
const LIMIT: &str = "120s";
/// How many seconds a host may take to answer, if the user has not said so.
const ANSWER: &str = "20";
/// Clocks that differ by more are worth a line.
const CLOCKS_NS: u64 = 100_000_000;

/// What was found out about some hosts.
pub struct Report {
    pub findings: Vec<Finding>,
    /// From each host to each, for `--json`.
    pub ways: Vec<Finding>,
    /// The same as a table.
    pub table: Option<Table>,
}

impl Report {
    /// Whether a host cannot be used, or a pair of hosts has no wire.
    pub fn is_broken(&self) -> bool {
        let is_bad = |finding: &Finding| {
            finding.state == Verdict::No && [HOSTS.into(), WAYS.into()].contains(&finding.topic)
        };
        self.findings.iter().any(is_bad)
    }
}

/// Asks the hosts.
pub fn report(names: &HostNames, is_copied: bool) -> Report {
    let mut targets: Vec<String> = names.0.iter().map(|host| host.target.clone()).collect();
    let mut findings = Vec::new();
    loop {
        let asked = match targets.is_empty() {
            true => Err(Vec::new()),
            false => ask(&targets, is_copied),
        };
        match asked {
            Ok(survey) => {
                findings.extend(of_survey(&targets, &survey));
                return Report {
                    ways: ways(&targets, &survey),
                    table: (targets.len() > 1).then(|| table(&targets, &survey)),
                    findings,
                };
            }
            Err(lines) => {
                // Without those that cannot take part, what can be said of the others?
                let before = targets.len();
                for line in lines {
                    let named = |target: &&String| line.starts_with(&format!("{target}: "));
                    let host = targets.iter().find(named).cloned();
                    targets.retain(|target| Some(target) != host.as_ref());
                    findings.push(Finding {
                        advice: None,
                        ..Finding::no(HOSTS, "ssh", line, "")
                    });
                }
                if targets.len() == before || targets.is_empty() {
                    return Report {
                        findings,
                        ways: Vec::new(),
                        table: None,
                    };
                }
            }
        }
    }
}

/// Has the hosts try each other.
///
/// # Errors
/// What `hostwire run` says instead, line by line.
fn ask(targets: &[String], is_copied: bool) -> Result<Survey, Vec<String>> {
    let on: Vec<String> = targets.iter().map(|target| bracketed(target)).collect();
    let mut command = Command::new(OWN_PROGRAM);
    command
        .args([
            "run",
            "--on",
            &on.join(","),
            "--timeout",
            LIMIT,
            "--bind",
            "none",
        ])
        .args(is_copied.then_some("--copy"))
        .args(["--", OWN_PROGRAM, survey::COMMAND])
        .stdin(Stdio::null());
    if std::env::var_os(ATTACH_TIMEOUT.variable).is_none() {
        command.env(ATTACH_TIMEOUT.variable, ANSWER);
    }
    // It ends with this one.
    ChildSetup::default().apply(&mut command);
    let failed = |error: std::io::Error| vec![format!("cannot ask the hosts: {error}")];
    let output = command.output().map_err(failed)?;
    if let Ok(survey) = serde_json::from_slice(&output.stdout) {
        return Ok(survey);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said
        .lines()
        .map(|line| line.trim_start_matches("hostwire: "));
    let lines: Vec<String> = lines
        .filter(|line| !line.is_empty())
        .map(printable)
        .collect();
    match lines.is_empty() {
        true => Err(vec!["the hosts found nothing out".to_owned()]),
        false => Err(lines),
    }
}

/// An IPv6 address with brackets, as `--on` wants it.
fn bracketed(target: &str) -> String {
    if target.starts_with("ssh://") || !target.contains(':') {
        return target.to_owned();
    }
    match target.rsplit_once('@') {
        Some((user, address)) => format!("{user}@[{address}]"),
        None => format!("[{target}]"),
    }
}

fn of_survey(names: &[String], survey: &Survey) -> Vec<Finding> {
    let mut findings = machines(names, survey);
    findings.extend(clocks(names, survey));
    if names.len() < 2 {
        return findings;
    }
    for of_wire in &survey.wires {
        findings.extend(refusals(names, of_wire));
        findings.extend(arrivals(names, of_wire));
    }
    findings.extend(without_wire(names, survey));
    findings.push(choice(names, survey));
    findings
}

/// What the hosts are.
fn machines(names: &[String], survey: &Survey) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, facts) in names.iter().zip(&survey.hosts) {
        let system = format!("{name}: Linux {}", facts.kernel);
        findings.push(match &facts.interfaces {
            Ok(found) => {
                let found = found
                    .iter()
                    .map(|(name, mtu)| format!(", {name} with MTU {mtu}"));
                let found: String = found.collect();
                Finding::ok(HOSTS, "host", printable(&format!("{system}{found}")))
            }
            Err(why) => {
                let advice = "name one that is up: HOSTWIRE_IFACE";
                Finding::no(
                    HOSTS,
                    "host",
                    printable(&format!("{system}: {why}")),
                    advice,
                )
            }
        });
    }
    findings
}

/// How the clocks differ from that of the first host.
fn clocks(names: &[String], survey: &Survey) -> Vec<Finding> {
    let Some(first) = names.first() else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (host, name) in names.iter().enumerate().skip(1) {
        let seen = survey
            .wires
            .iter()
            .filter_map(|of_wire| of_wire.way(host, 0)?.clock);
        let Some((ahead_ns, error_ns)) = seen.min_by_key(|(_, error)| *error) else {
            continue;
        };
        if ahead_ns.unsigned_abs().saturating_sub(error_ns) > CLOCKS_NS {
            let seconds = ahead_ns.unsigned_abs() as f64 / 1e9;
            let side = if ahead_ns > 0 { "ahead of" } else { "behind" };
            findings.push(Finding::note(
                HOSTS,
                "clocks",
                format!("the clock of {name} is {seconds:.1} s {side} that of {first}"),
                "jobs run, but times in logs and recordings do not fit; let NTP set the clocks",
            ));
        }
    }
    findings
}

fn wire_of(of_wire: &OfWire) -> Option<WireName> {
    of_wire.wire.parse().ok()
}

/// Hosts that cannot use a wire.
fn refusals(names: &[String], of_wire: &OfWire) -> Vec<Finding> {
    let Some(wire) = wire_of(of_wire) else {
        return Vec::new();
    };
    let mut hosts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, refused) in names.iter().zip(&of_wire.refused) {
        if let Some(why) = refused {
            hosts.entry(why).or_default().push(name);
        }
    }
    let refusal = |(why, names): (&str, Vec<&str>)| Finding {
        advice: None,
        ..Finding::no(
            wire,
            "socket",
            printable(&format!("{}: {why}", names.join(", "))),
            "",
        )
    };
    hosts.into_iter().map(refusal).collect()
}

/// What arrives between hosts that can use a wire.
fn arrivals(names: &[String], of_wire: &OfWire) -> Vec<Finding> {
    let Some(wire) = wire_of(of_wire) else {
        return Vec::new();
    };
    let (mut open, mut silent, mut short) = (0, Vec::new(), Vec::new());
    for (from, to) in pairs(names.len()) {
        let Some(way) = of_wire.way(from, to) else {
            continue;
        };
        let arrow = arrow(names, from, to);
        match way {
            way if way.is_open() => open += 1,
            Way {
                longest_bytes: 0, ..
            } => silent.push(arrow),
            Way { full_bytes, .. } => short.push(format!("{arrow} (of {full_bytes} bytes)")),
        }
    }
    let mut findings = Vec::new();
    if open > 0 {
        let ways = if open == 1 { "way" } else { "ways" };
        let found = format!("full ones arrive, on {open} {ways}");
        findings.push(Finding::ok(wire, "frames", found));
    }
    if !silent.is_empty() {
        let found = format!("nothing arrives {}", silent.join(", "));
        findings.push(Finding::no(wire, "frames", found, why_silent(wire)));
    }
    if !short.is_empty() {
        let found = format!(
            "short frames arrive, and full ones do not: {}",
            short.join(", ")
        );
        let advice = "something between the hosts takes only shorter packets than their interfaces: \
                      give these its MTU (ip link set NAME mtu BYTES), or raise that of the switch or tunnel";
        findings.push(Finding::no(wire, "MTU", found, advice));
    }
    findings
}

fn why_silent(wire: WireName) -> String {
    match wire {
        WireName::Ether | WireName::Xdp => format!(
            "are both at one switch, without a router between? Some clouds and switches pass IP only: use {WIRE}=udp; \
             HOSTWIRE_IFACE names another interface"
        ),
        _ => format!(
            "a firewall? Let {wire} pass between the hosts, for the ports of sysctl net.ipv4.ip_local_port_range; \
             HOSTWIRE_IFACE names another interface"
        ),
    }
}

fn pairs(hosts: usize) -> impl Iterator<Item = (usize, usize)> {
    let all = (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (from, to)));
    all.filter(|(from, to)| from != to)
}

fn arrow(names: &[String], from: usize, to: usize) -> String {
    let name = |host: usize| names.get(host).map_or("?", String::as_str);
    format!("{} -> {}", name(from), name(to))
}

/// The wires that work from a host to another.
fn open_wires(survey: &Survey, from: usize, to: usize) -> Vec<&str> {
    let open = survey.wires.iter().filter(|of_wire| {
        let way = of_wire.way(from, to);
        way.is_some_and(Way::is_open)
    });
    open.map(|of_wire| of_wire.wire.as_str()).collect()
}

/// The wires that work in both directions.
fn common_wires(survey: &Survey, a: usize, b: usize) -> Vec<&str> {
    let back = open_wires(survey, b, a);
    let mut there = open_wires(survey, a, b);
    there.retain(|wire| back.contains(wire));
    there
}

/// Pairs that cannot be in one job.
fn without_wire(names: &[String], survey: &Survey) -> Vec<Finding> {
    let pairs = pairs(names.len()).filter(|(a, b)| a < b);
    let silent = pairs.filter(|(a, b)| common_wires(survey, *a, *b).is_empty());
    let silent: Vec<String> = silent
        .filter_map(|(a, b)| Some(format!("{} and {}", names.get(a)?, names.get(b)?)))
        .collect();
    if silent.is_empty() {
        return Vec::new();
    }
    let found = format!("no wire works between {}", silent.join(", "));
    vec![Finding::no(
        WAYS,
        "pairs",
        found,
        "what is said of each wire above",
    )]
}

/// What a job on all of these hosts takes.
fn choice(names: &[String], survey: &Survey) -> Finding {
    let works = |wire: &WireName| {
        let mut pairs = pairs(names.len()).filter(|(a, b)| a < b);
        pairs.all(|(a, b)| common_wires(survey, a, b).contains(&wire.name()))
    };
    let name = "between hosts";
    match WireName::fastest_first().into_iter().find(works) {
        Some(wire) => Finding::ok(AUTO, name, format!("{wire}, for a job on all of them")),
        None => {
            let advice =
                format!("the table says which hosts can be in one job; {WIRE} names a wire");
            Finding::note(
                AUTO,
                name,
                "no wire that it takes works between all",
                advice,
            )
        }
    }
}

fn ways(names: &[String], survey: &Survey) -> Vec<Finding> {
    let way = |(from, to)| {
        let wires = open_wires(survey, from, to);
        let found = format!("{}: {}", arrow(names, from, to), wires.join(" "));
        match wires.is_empty() {
            false => Finding::ok(WAYS, "way", found),
            true => Finding::no(WAYS, "way", found, "what is said of each wire"),
        }
    };
    pairs(names.len()).map(way).collect()
}

fn table(names: &[String], survey: &Survey) -> Table {
    let columns = names.iter().map(|name| (name.clone(), Align::Left));
    let head = [("from, to".to_owned(), Align::Left)];
    let mut table = Table::new(head.into_iter().chain(columns));
    for (from, name) in names.iter().enumerate() {
        let cells = (0..names.len()).map(|to| match open_wires(survey, from, to) {
            _ if from == to => String::new(),
            wires if wires.is_empty() => "none".to_owned(),
            wires => wires.join(" "),
        });
        table.row([name.clone()].into_iter().chain(cells));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::survey::Facts;
    use super::*;

    const FULL: usize = 1500;

    /// Two hosts and one wire, which carries frames of these lengths from a to b and back.
    fn survey(there: usize, back: usize, ahead_ns: i64) -> Survey {
        let facts = Facts {
            kernel: "6.1".to_owned(),
            interfaces: Ok(vec![("eth0".to_owned(), FULL)]),
        };
        let way = |longest_bytes| Way {
            longest_bytes,
            full_bytes: FULL,
            clock: Some((ahead_ns, 1000)),
        };
        let udp = OfWire {
            wire: "udp".to_owned(),
            refused: vec![None, None],
            ways: vec![
                vec![Way::default(), way(back)],
                vec![way(there), Way::default()],
            ],
        };
        Survey {
            hosts: vec![facts.clone(), facts],
            wires: vec![udp],
        }
    }

    fn found(survey: &Survey, name: &str) -> Vec<String> {
        let names = ["a".to_owned(), "b".to_owned()];
        let findings = of_survey(&names, survey).into_iter();
        let named = findings.filter(|finding| finding.name == name);
        named.map(|finding| finding.found).collect()
    }

    #[test]
    fn what_arrives_is_said_of_each_way() {
        let open = survey(FULL, FULL, 0);
        assert_eq!(found(&open, "frames"), ["full ones arrive, on 2 ways"]);
        assert_eq!(
            found(&open, "between hosts"),
            ["udp, for a job on all of them"]
        );
        assert!(found(&open, "pairs").is_empty() && found(&open, "MTU").is_empty());
        let cut = survey(84, 0, 0);
        assert_eq!(found(&cut, "frames"), ["nothing arrives b -> a"]);
        let short = "short frames arrive, and full ones do not: a -> b (of 1500 bytes)";
        assert_eq!(found(&cut, "MTU"), [short]);
        assert_eq!(found(&cut, "pairs"), ["no wire works between a and b"]);
        let one_way = survey(FULL, 0, 0);
        assert_eq!(found(&one_way, "pairs"), ["no wire works between a and b"]);
    }

    #[test]
    fn clocks_that_differ_are_named() {
        assert!(found(&survey(FULL, FULL, 90_000_000), "clocks").is_empty());
        let ahead = found(&survey(FULL, FULL, 3_200_000_000), "clocks");
        assert_eq!(ahead, ["the clock of b is 3.2 s ahead of that of a"]);
        let behind = found(&survey(FULL, FULL, i64::MIN), "clocks");
        assert!(behind[0].ends_with(" s behind that of a"), "{behind:?}");
    }

    #[test]
    fn addresses_get_their_brackets_back() {
        for (target, text) in [
            ("a", "a"),
            ("fd09::2", "[fd09::2]"),
            ("me@fd09::2", "me@[fd09::2]"),
            ("ssh://me@a:22", "ssh://me@a:22"),
        ] {
            assert_eq!(bracketed(target), text);
        }
    }
}
