//! Texts that come through the launcher or the kernel.

use hostwire_transport::fuzzing::kit::{Target, comes_back, texts};

use crate::Address;
use crate::interface::default_route;

/// Where a PE is reached.
pub(super) const ADDRESS: Target = Target {
    name: "ether_address",
    check: |bytes| {
        comes_back::<Address>(bytes, &["address of a PE"]);
    },
    seeds: || {
        texts(&[
            ("station", "ether=02:00:00:00:ab:01"),
            ("port", "udp=10.9.0.1:4000"),
            ("port_v6", "udp=[fe80::1]:9"),
            ("port_tcp", "tcp=10.9.0.1:4000"),
            ("ports_tcp", "tcp=10.9.0.1:4000+[fe80::1]:9"),
            ("stations", "ether=02:00:00:00:00:01+02:00:00:00:00:02"),
            ("ports", "udp=10.9.0.1:4000+[fe80::1]:9"),
            ("no_second_port", "udp=10.9.0.1:4000+"),
            ("group", "ether=ff:ff:ff:ff:ff:ff"),
            ("no_port", "udp=10.9.0.1"),
        ])
    },
    cost: 1,
};

/// `/proc/net/route`, of this namespace or of one that a container made.
pub(super) const ROUTES: Target = Target {
    name: "routes",
    check: |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Some(name) = default_route(&text) {
            let line = text.lines().skip(1).find(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some(name) && words.next() == Some("00000000")
            });
            assert!(line.is_some(), "{name:?} is not the default");
        }
    },
    seeds: || {
        texts(&[
            (
                "two",
                "Iface\tDestination\tGateway\neth1\t0000090A\t0\neth0\t00000000\t0100090A\n",
            ),
            ("none", "Iface\tDestination\n"),
            ("cut", "Iface\tDestination\neth0"),
        ])
    },
    cost: 1,
};
