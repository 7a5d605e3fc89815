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

#[test]
fn every_size_has_a_limit() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for wire in ["ether", "udp"] {
        for (bench, sizes) in [
            ("pingpong", "8,2K,100K"),
            ("latency", "2M"),
            ("put", "8,2K"),
        ] {
            let lines = lines(&[bench, "--wire", wire, "--size", sizes]);
            assert_eq!(lines.len(), sizes.split(',').count(), "{lines:?}");
            for line in lines {
                assert!(line["median"].as_f64().unwrap() > 0.0, "{line}");
                assert!(line["limit"].as_f64().unwrap() > 0.0, "{line}");
            }
        }
    }
}
