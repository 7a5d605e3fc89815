//! A few figures as bars, each beside its limit and what others reach on this machine: where hostwire stands, at a glance.

use std::fmt::Write as _;

use super::report::{Line, is_time};
use crate::html::escape;
use crate::text::scale;

/// What is shown of two PEs: benchmark, size, and what that is for a reader who does not know it.
const SHOWN: [(&str, u64, &str); 7] = [
    ("latency", 8, "A message of 8 bytes to another process"),
    ("latency", 4 << 10, "A message of 4 KiB"),
    ("rate", 8, "Messages of 8 bytes in a row"),
    ("bandwidth-staged", 1 << 20, "A stream of messages of 1 MiB"),
    ("put", 64, "Writes of 64 bytes into another process"),
    ("barrier", 0, "Waiting for each other"),
    ("allreduce", 64 << 10, "Combining 64 KiB of numbers of both"),
];
const PEER_HEAD: &str = "peer,bench,size_bytes,unit,value";

/// What another library reaches.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    pub name: String,
    pub bench: String,
    pub size_bytes: u64,
    pub unit: String,
    pub value: f64,
}

/// The figures of others in a file of values separated by commas.
///
/// # Errors
/// A sentence that names the line and its fault.
pub fn parse(text: &str) -> Result<Vec<Peer>, String> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or("nothing");
    if head != PEER_HEAD {
        return Err(format!("line 1: expected \"{PEER_HEAD}\", got \"{head}\""));
    }
    let parsed = lines.enumerate().map(|(at, line)| {
        peer(line).ok_or_else(|| {
            format!(
                "line {}: expected 5 fields of a figure, got \"{line}\"",
                at + 2
            )
        })
    });
    parsed.collect()
}

fn peer(line: &str) -> Option<Peer> {
    let fields: Vec<&str> = line.split(',').collect();
    let [name, bench, size_bytes, unit, value] = fields[..] else {
        return None;
    };
    let value: f64 = value.parse().ok()?;
    (value.is_finite() && value > 0.0).then_some(Peer {
        name: name.to_owned(),
        bench: bench.to_owned(),
        size_bytes: size_bytes.parse().ok()?,
        unit: unit.to_owned(),
        value,
    })
}

/// The bars as a part of a page; nothing if no figure is one of those that are shown.
pub fn section(lines: &[Line], peers: &[Peer]) -> String {
    let groups: String = SHOWN
        .iter()
        .filter_map(|shown| group(*shown, lines, peers))
        .collect();
    if groups.is_empty() {
        return groups;
    }
    let others = match peers {
        [] => "",
        _ => {
            " Others ran once, after hostwire and not in turn with it, maybe on cores nearer or farther."
        }
    };
    format!(
        "<p>Within this machine, between two processes. The limit is what the machine does without any library.{others}</p>\n\
         <div class=\"figures\">\n{groups}</div>\n"
    )
}

fn group(
    (bench, size, title): (&str, u64, &str),
    lines: &[Line],
    peers: &[Peer],
) -> Option<String> {
    let line = lines.iter().find(|line| {
        (&*line.bench, line.size_bytes, line.pes, &*line.wire) == (bench, size, 2, "shm")
    })?;
    let mut bars = vec![("hostwire", line.median, "c0")];
    bars.extend(line.limit.map(|limit| ("limit", limit, "c1")));
    let peers = peers
        .iter()
        .filter(|peer| (&*peer.bench, peer.size_bytes, &*peer.unit) == (bench, size, &*line.unit));
    bars.extend(peers.map(|peer| (&*peer.name, peer.value, "c6")));
    if bars.len() < 2 {
        return None;
    }
    let longest = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    let better = if is_time(line) { "shorter" } else { "longer" };
    let noisy = if line.noisy { ", noisy" } else { "" };
    let mut out = format!(
        "<figure><figcaption>{} <small>{better} is better{noisy}</small></figcaption>\n",
        escape(title)
    );
    for (name, value, colour) in bars {
        let width = (100.0 * value / longest).clamp(0.0, 100.0);
        let (factor, unit) = scale(value, &line.unit);
        let (name, value) = (
            escape(name),
            escape(&format!("{:.1} {unit}", value * factor)),
        );
        let _ = writeln!(
            out,
            "<div class=\"bar\"><span>{name}</span><span class=\"track\"><span class=\"fill {colour}\" \
             style=\"width:{width:.1}%\"></span></span><span class=\"number\">{value}</span></div>"
        );
    }
    out += "</figure>\n";
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(median: f64, limit: Option<f64>) -> Line {
        Line {
            limit,
            ..Line::alone("latency", "shm", 2, 8, "ns", vec![median], 1)
        }
    }

    #[test]
    fn the_longest_bar_is_the_slowest_and_others_are_beside_it() {
        let peers = parse(&format!(
            "{PEER_HEAD}\nUCX <1>,latency,8,ns,200\nUCX,rate,8,M/s,3\n"
        ));
        let bars = section(&[latency(100.0, Some(50.0))], &peers.unwrap());
        for said in [
            "shorter is better<",
            "<span>hostwire</span>",
            "width:50.0%",
            "width:25.0%",
            "<span>UCX &lt;1&gt;</span>",
            "width:100.0%",
            ">100.0 ns<",
        ] {
            assert!(bars.contains(said), "{said}: {bars}");
        }
        assert_eq!(bars.matches("class=\"bar\"").count(), 3, "{bars}");
    }

    #[test]
    fn nothing_is_drawn_without_something_to_compare() {
        assert_eq!(section(&[latency(100.0, None)], &[]), "");
        assert_eq!(section(&[], &[]), "");
    }

    #[test]
    fn files_that_are_none_are_refused_with_the_line() {
        for (text, said) in [
            ("", "line 1"),
            ("peer\n", "line 1"),
            (&format!("{PEER_HEAD}\nUCX,latency,8,ns\n"), "line 2"),
            (&format!("{PEER_HEAD}\nUCX,latency,8,ns,0\n"), "line 2"),
            (&format!("{PEER_HEAD}\nUCX,latency,8,ns,nan\n"), "line 2"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
