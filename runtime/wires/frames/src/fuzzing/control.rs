//! What two hosts say to each other over their control connection.

use hostwire_transport::fuzzing::kit::{Target, mark, named};

use crate::control::greeting::{GREETING_LEN, Greeting, MAGIC};

/// The bytes that came.
pub(super) const GREETING: Target = Target {
    name: "control_greeting",
    check: greeting,
    seeds: || {
        let greeting = |from: u32, to: u32| {
            let shown = [0x5a; 32];
            Greeting { from, to, shown }.to_bytes().to_vec()
        };
        let mut strange = greeting(1, 0);
        strange[7] = 2;
        named(vec![
            ("greeting", greeting(1, 0)),
            ("largest", greeting(u32::MAX, u32::MAX)),
            ("other_version", strange),
            ("short", greeting(1, 0)[..GREETING_LEN - 1].to_vec()),
            ("long", [greeting(1, 0), vec![0]].concat()),
        ])
    },
    cost: 1,
};

fn greeting(bytes: &[u8]) {
    let is_one = bytes.len() == GREETING_LEN && bytes.starts_with(&MAGIC);
    let parsed = Greeting::parse(bytes);
    assert_eq!(parsed.is_some(), is_one);
    if let Some(greeting) = parsed {
        mark("greeted");
        assert_eq!(greeting.to_bytes(), bytes);
    }
}
