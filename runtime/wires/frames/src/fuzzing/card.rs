//! The values that PEs publish about themselves, through the launcher.

use hostwire_transport::fuzzing::kit::{Target, blames, texts};
use hostwire_transport::terms::Terms;

use crate::join::card::{Card, read_cards};

/// The values that a PE publishes for PEs of other hosts.
pub(super) const CARD: Target = Target {
    name: "ether_card",
    check: card,
    seeds: || {
        const LIFE: &str = "000102030405060708090a0b0c0d0e0f";
        let key = "77".repeat(32);
        texts(&[
            (
                "bare",
                "1,8192,0,4096,0,0,0,0,0,0 7 bare - udp:udp=10.9.0.1:4000 - -",
            ),
            (
                "other_size",
                "1,8193,0,4096,0,0,0,0,0,0 7 bare - udp:udp=10.9.0.1:4000 - -",
            ),
            ("other_version", "2 something else"),
            (
                "other_setting",
                "1,8192,1,4096,0,0,0,0,0,0 7 bare - udp:udp=10.9.0.1:4000 - -",
            ),
            (
                "all_wires",
                "1,8192,0,4096,0,0,0,0,0,0 7 bare - xdp!pes-2,ether!rights,udp:udp=10.9.0.1:4 - 10.9.0.1:5",
            ),
            (
                "strange_refusal",
                "1,8192,0,4096,0,0,0,0,0,0 7 bare - xdp!because,udp!queues-4 - -",
            ),
            (
                "sealed",
                &format!("1,8192,0,4096,0,0,0,0,0,0 7 {LIFE} - ether:ether=02:00:00:00:00:01 - -"),
            ),
            (
                "first",
                &format!(
                    "1,8192,0,4096,0,0,0,0,0,0 7 {LIFE} {key} udp:udp=[fe80::1]:9 {key} [::1]:7"
                ),
            ),
            (
                "more",
                &format!("1,8192,0,4096,0,0,0,0,0,0 7 {LIFE} {key} udp:udp=10.9.0.1:4 - - -"),
            ),
        ])
    },
    cost: 1,
};

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
        size_names: &["rings", "b", "c", "d", "e", "f", "g"],
        sizes: [4096, 0, 0, 0, 0, 0, 0],
        segment_bytes: 8192,
        settings: &["HOSTWIRE_RECORD"],
        set: 0,
    };
    for own in [
        "1,8192,0,4096,0,0,0,0,0,0 7 bare - udp:udp=10.9.0.1:4000 - -",
        "1,8192,0,4096,0,0,0,0,0,0 7 ffffffffffffffffffffffffffffffff - udp:udp=10.9.0.1:4000 - -",
    ] {
        let own: Card = own.parse().expect("a card");
        let texts = [(0, own.to_string().into_bytes()), (1, bytes.to_vec())];
        match read_cards(texts, 0, (&own, &terms)) {
            Ok(cards) => {
                let first = cards.get(&0).map(Card::to_string);
                assert_eq!(first, Some(own.to_string()));
            }
            Err(error) => {
                let text = error.to_string();
                blames(&text, &["PE 1"]);
                // The text may contain the key of the job.
                let words = String::from_utf8_lossy(bytes).into_owned();
                let secret = words.split(' ').find(|word| word.len() > 30);
                assert!(secret.is_none_or(|secret| !text.contains(secret)), "{text}");
            }
        }
    }
}
