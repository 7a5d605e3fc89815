//! The environment: settings.

use hostwire_transport::fuzzing::kit::{Target, blames, shown, texts};

use crate::layout::Layout;
use crate::settings::{Settings, parse_bytes};

/// Settings, as `NAME=value`, one to a line.
pub(super) const SETTINGS: Target = Target {
    name: "settings",
    check: settings,
    seeds: || {
        texts(&[
            ("sizes", "HOSTWIRE_HEAP=64M\nHOSTWIRE_RING=4K"),
            (
                "ether",
                "HOSTWIRE_WIRE=ether\nHOSTWIRE_IFACE=eth1\nHOSTWIRE_ETHERTYPE=0x88b6",
            ),
            (
                "faults",
                "HOSTWIRE_WIRE=udp\nHOSTWIRE_FAULTS=drop=0.1,seed=7\nHOSTWIRE_STATS=1",
            ),
            (
                "times",
                "HOSTWIRE_LOST_AFTER=3\nHOSTWIRE_ATTACH_TIMEOUT=86400",
            ),
            ("bare", "HOSTWIRE_INSECURE_WIRE=1\nHOSTWIRE_WIRE=xdp"),
            ("units", "HOSTWIRE_HEAP=64MB"),
            ("tag", "HOSTWIRE_ETHERTYPE=0x8100"),
        ])
    },
    cost: 1,
};

fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let value = |wanted: &str| {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs
            .filter(|(name, _)| *name == wanted)
            .map(|(_, value)| value.to_owned())
            .next_back()
    };
    match Settings::checked(value) {
        Ok(settings) => {
            assert!((1..=86_400).contains(&settings.attach_timeout_s));
            assert!((1..=86_400).contains(&settings.lost_after_s));
            match Layout::new(2, settings.sizes()) {
                Ok(layout) => assert!(layout.segment_bytes() > layout.heap_bytes()),
                Err(error) => blames(error, &["HOSTWIRE_HEAP"]),
            }
        }
        Err(error) => blames(error, &["HOSTWIRE_"]),
    }
    let size = value("HOSTWIRE_HEAP").unwrap_or_default();
    match parse_bytes(&size) {
        Ok(bytes) => assert_eq!(parse_bytes(&bytes.to_string()), Ok(bytes)),
        Err(error) => shown(error),
    }
}
