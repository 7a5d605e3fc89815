//! The values that PEs publish about their hosts and themselves, through the launcher.

use hostwire_transport::fuzzing::kit::{Input, Target, blames, named, shown, texts};
use hostwire_transport::terms::Terms;

use crate::attach::over_hosts::{Card, read_cards};
use crate::launch::nodes::{Host, Nodes};

/// A PE's words about its host (the first byte is 0), or the table of PE 0 for as many PEs as the
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

/// The values that a PE publishes for PEs of other hosts.
pub(super) const CARD: Target = Target {
    name: "ether_card",
    check: card,
    seeds: || {
        const LIFE: &str = "000102030405060708090a0b0c0d0e0f";
        let key = "77".repeat(32);
        texts(&[
            ("bare", "1 8192 4096 0 7 bare - udp:udp=10.9.0.1:4000 - -"),
            (
                "other_size",
                "1 8193 4096 0 7 bare - udp:udp=10.9.0.1:4000 - -",
            ),
            ("other_version", "2 something else"),
            (
                "other_setting",
                "1 8192 4096 1 7 bare - udp:udp=10.9.0.1:4000 - -",
            ),
            (
                "all_wires",
                "1 8192 4096 0 7 bare - xdp!pes-2,ether!rights,udp:udp=10.9.0.1:4 - 10.9.0.1:5",
            ),
            (
                "strange_refusal",
                "1 8192 4096 0 7 bare - xdp!because,udp!queues-4 - -",
            ),
            (
                "sealed",
                &format!("1 8192 4096 0 7 {LIFE} - ether:ether=02:00:00:00:00:01 - -"),
            ),
            (
                "first",
                &format!("1 8192 4096 0 7 {LIFE} {key} udp:udp=[fe80::1]:9 {key} [::1]:7"),
            ),
            (
                "more",
                &format!("1 8192 4096 0 7 {LIFE} {key} udp:udp=10.9.0.1:4 - - -"),
            ),
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

fn card(bytes: &[u8]) {
    if let Ok(card) = String::from_utf8_lossy(bytes).parse::<Card>() {
        let again = card
            .to_string()
            .parse::<Card>()
            .map(|card| card.to_string());
        assert_eq!(again, Ok(card.to_string()));
    }
    let terms = Terms {
        version: 1,
        segment_bytes: 8192,
        ring_bytes: 4096,
        settings: &["HOSTWIRE_RECORD"],
        set: 0,
    };
    for own in [
        "1 8192 4096 0 7 bare - udp:udp=10.9.0.1:4000 - -",
        "1 8192 4096 0 7 ffffffffffffffffffffffffffffffff - udp:udp=10.9.0.1:4000 - -",
    ] {
        let own: Card = own.parse().expect("a card");
        let texts = [own.to_string().into_bytes(), bytes.to_vec()];
        match read_cards(&texts, 0, (&own, &terms)) {
            Ok(cards) => {
                let first = cards.first().map(Card::to_string);
                assert_eq!(first, Some(own.to_string()));
            }
            Err(error) => {
                let text = error.to_string();
                blames(&text, &["PE 1"]);
                // The key of the job may be in it.
                let words = String::from_utf8_lossy(bytes).into_owned();
                let secret = words.split(' ').find(|word| word.len() > 30);
                assert!(secret.is_none_or(|secret| !text.contains(secret)), "{text}");
            }
        }
    }
}
