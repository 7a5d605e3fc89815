//! Texts that come through the launcher, the environment or the kernel.

use core::fmt::Display;
use core::str::FromStr;

use super::kit::{Target, blames, named, shown, texts};
use crate::ether::Address;
use crate::ether::interface::default_route;
use crate::faults::Faults;
use crate::shm::Ticket;

/// The ticket of a job.
pub(super) const TICKET: Target = Target {
    name: "ticket",
    check: |bytes| {
        if let Some(ticket) = comes_back::<Ticket>(bytes, &["launcher"]) {
            // There is only one way to write it, except for capitals.
            let text = String::from_utf8_lossy(bytes);
            assert!(ticket.eq_ignore_ascii_case(&text), "{text:?} is {ticket}");
        }
    },
    seeds: || {
        named(vec![
            ("zero", vec![b'0'; 64]),
            ("digits", b"0123456789abcdef".repeat(4)),
            ("capitals", b"0123456789ABCDEF".repeat(4)),
            ("short", vec![b'1'; 63]),
            ("signs", [&b"+"[..], &[b'1'; 63]].concat()),
        ])
    },
    cost: 1,
};

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

/// Faults on purpose.
pub(super) const FAULTS: Target = Target {
    name: "faults",
    check: |bytes| match String::from_utf8_lossy(bytes).parse::<Faults>() {
        Err(error) => blames(error, &["faults"]),
        Ok(Faults {
            drop,
            dup,
            reorder,
            flip,
            seed,
        }) => {
            for probability in [drop, dup, reorder, flip] {
                assert!((0.0..=1.0).contains(&probability));
            }
            let again = format!("drop={drop},dup={dup},reorder={reorder},flip={flip},seed={seed}");
            let faults = Faults {
                drop,
                dup,
                reorder,
                flip,
                seed,
            };
            assert_eq!(again.parse(), Ok(faults));
        }
    },
    seeds: || {
        texts(&[
            ("all", "drop=0.01,dup=0,reorder=0.1,flip=0,seed=7"),
            ("one", "drop=1"),
            ("twice", "drop=1,drop=0"),
            ("more_than_all", "flip=1.5"),
            ("no_number", "flip=nan"),
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

/// A value that was read is written again, and reads as the same value; an error blames one of
/// `who`. Returns the text.
pub(super) fn comes_back<T>(bytes: &[u8], who: &[&str]) -> Option<String>
where
    T: FromStr<Err: Display> + Display,
{
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<T>() {
        Ok(value) => {
            let again = value.to_string();
            shown(&again);
            // By its text: what holds a key cannot be compared.
            let parsed = again.parse::<T>().ok();
            assert_eq!(parsed.map(|value| value.to_string()), Some(again.clone()));
            Some(again)
        }
        Err(error) => {
            blames(error, who);
            None
        }
    }
}
