//! The values that PEs publish about their hosts, through the launcher.

use hostwire_transport::fuzzing::kit::{Input, Target, blames, named, shown};

use crate::nodes::{Host, Nodes};

/// A PE's value about its host (if the first byte is 0), or PE 0's table for as many PEs as the
/// first byte says.
pub(super) const NODES: Target = Target {
    name: "nodes",
    check: |bytes| {
        let mut input = Input::new(bytes);
        match input.byte() {
            0 => host(input.rest()),
            pes => table(input.rest(), pes.into()),
        }
    },
    seeds: || {
        let host = |kernel: &str, name: &str| format!("{kernel}\n4:4026531840\n{name}");
        let hosts = |names: &[&str]| -> Vec<Host> {
            let parse = |name: &&str| Host::parse(0, host(name, name).as_bytes());
            names
                .iter()
                .map(|name| parse(name).expect("three lines"))
                .collect()
        };
        let table =
            |pes: u8, names: &[&str]| [&[pes][..], &Nodes::of(&hosts(names)).emit()].concat();
        let with_host = |text: String| [&[0], text.as_bytes()].concat();
        named(vec![
            ("host", with_host(host("0f-1e", "node1"))),
            ("no_name", with_host(host("", ""))),
            ("strange_name", with_host(host("a", "n\u{1b}[2J"))),
            ("two_lines", with_host("a\nb".to_owned())),
            ("one", table(3, &["a", "a", "a"])),
            ("two", table(4, &["a", "b", "b", "a"])),
            ("too_few", table(5, &["a", "b"])),
            ("too_many", table(1, &["a", "b"])),
        ])
    },
    cost: 1,
};

fn host(bytes: &[u8]) {
    match Host::parse(3, bytes) {
        Ok(host) => {
            let again = Host::parse(3, &host.emit()).expect("own words");
            assert_eq!(again.emit(), host.emit());
            let nodes = Nodes::of(&[host]);
            shown(&nodes);
            shown(&nodes.nodes()[0].host);
        }
        Err(error) => blames(error, &["PE 3"]),
    }
}

fn table(bytes: &[u8], pes: u32) {
    let nodes = match Nodes::parse(bytes, pes) {
        Ok(nodes) => nodes,
        Err(error) => return blames(error, &["PE 0"]),
    };
    assert_eq!(Nodes::parse(&nodes.emit(), pes).as_ref(), Ok(&nodes));
    shown(&nodes);
    // Every PE is on one node.
    let mut seen = vec![0; pes as usize];
    for (number, node) in (0..).zip(nodes.nodes()) {
        shown(&node.host);
        assert!(node.pes.is_sorted() && node.pes.first() == Some(&node.first_pe()));
        for pe in &node.pes {
            seen[*pe as usize] += 1;
            assert_eq!(nodes.node_of(*pe), Some(number));
        }
    }
    assert!(seen.iter().all(|times| *times == 1));
    assert_eq!(nodes.node_of(pes), None);
}
