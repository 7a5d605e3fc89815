//! `hostwire bench` between hosts, with sizes that no frame and no datagram holds.

use crate::hosts::may_make_hosts;
use crate::job::{Job, hostwire};

/// The lines of a benchmark with these options, as JSON.
fn lines(options: &[&str]) -> Vec<serde_json::Value> {
    let ended = Job::start(hostwire(
        &[&["bench"], options, &["--repeats", "1", "--json"]].concat(),
    ))
    .end();
    assert_eq!(ended.status, 0, "{options:?}: {ended:#?}");
    let lines = ended.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const WIRES: [&str; 4] = ["ether", "xdp", "udp", "tcp"];

#[test]
fn every_size_has_a_limit() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for wire in WIRES {
        for (bench, sizes) in [
            ("pingpong", "8,2K,64K,1M"),
            ("latency", "64K,2M"),
            ("bandwidth", "64K"),
            ("put", "8,2K"),
        ] {
            let lines = lines(&[bench, "--wire", wire, "--size", sizes]);
            assert_eq!(lines.len(), sizes.split(',').count(), "{lines:?}");
            for line in lines {
                assert!(line["median"].as_f64().unwrap() > 0.0, "{line}");
                assert!(line["limit"].as_f64().unwrap() > 0.0, "{line}");
                assert!(line["no_limit"].is_null(), "{line}");
            }
        }
    }
}

#[test]
fn a_figure_has_a_limit_or_a_reason() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for wire in WIRES {
        let lines = lines(&["all", "--wire", wire, "--size", "8"]);
        let benches: Vec<&str> = lines
            .iter()
            .map(|line| line["bench"].as_str().unwrap())
            .collect();
        for bench in ["pingpong", "rate", "get", "fetch-add", "barrier"] {
            assert!(benches.contains(&bench), "{bench}: {benches:?}");
        }
        for line in lines {
            assert_ne!(
                line["limit"].is_null(),
                line["no_limit"].is_null(),
                "{line}"
            );
        }
    }
}
