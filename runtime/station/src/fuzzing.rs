//! The messages of stations that meet between hosts, and their names.

use hostwire_transport::fuzzing::kit::{Target, mark, named};
use hostwire_transport::printable;

use crate::call::{Answer, Hello};
use crate::{Name, Terms};

/// Every check of this crate.
pub const TARGETS: &[Target] = &[CALL];

/// A name, a hello or an answer: the first byte says which, then its bytes.
pub(super) const CALL: Target = Target {
    name: "station_call",
    check: call,
    seeds: || {
        let name = |text: &[u8]| Name::from_bytes(text).map(|name| name.to_bytes().to_vec());
        let mut bytes = [7; Name::BYTES];
        bytes[..8].copy_from_slice(b"hwst\x02\0\x0f\xa0");
        bytes[48..].copy_from_slice(b"\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x01");
        let mut inside = bytes;
        inside[6..8].fill(0);
        inside[48..].fill(0);
        let mut all = Vec::new();
        for (text, bytes) in [("name", bytes), ("name_inside", inside)] {
            all.extend(name(&bytes).map(|name| (text, [vec![0], name].concat())));
        }
        let address = "udp=10.9.0.1:4000+[fd00::1]:9".parse().ok();
        if let (Some(from), Some(address)) = (Name::from_bytes(&bytes), address) {
            let terms = Terms {
                version: 3,
                segment_bytes: 1 << 20,
            };
            let hello = Hello {
                from,
                number: 5,
                terms,
                is_sealed: true,
                address,
            };
            all.push(("hello", [vec![1], hello.to_bytes()].concat()));
            let number = 7;
            let met = Answer::Met { number, address };
            all.push(("met", [vec![2], met.to_bytes()].concat()));
        }
        let why = "no".into();
        let refused = Answer::Refused { why };
        all.push(("refused", [vec![2], refused.to_bytes()].concat()));
        named(all)
    },
    cost: 1,
};

fn call(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    match kind {
        0 => {
            if let Some(name) = Name::from_bytes(bytes) {
                mark("named");
                let written = name.to_bytes();
                let read = Name::from_bytes(&written).map(|name| name.to_bytes());
                assert_eq!(read, Some(written));
                // IPv4 addresses are written in only one form.
                assert_eq!(written[..48], bytes[..48]);
            }
        }
        1 => {
            if let Some(hello) = Hello::parse(bytes) {
                mark("greeted");
                let written = hello.to_bytes();
                let read = Hello::parse(&written).map(Hello::to_bytes);
                assert_eq!(read, Some(written));
            }
        }
        _ => {
            if let Some(answer) = Answer::parse(bytes) {
                mark("answered");
                match &answer {
                    Answer::Met { .. } => {
                        assert_eq!(Answer::parse(&answer.to_bytes()), Some(answer));
                    }
                    // A reason that is too long is cut.
                    Answer::Refused { why } => assert_eq!(printable(why), **why),
                }
            }
        }
    }
}
