//! Falling asleep and being woken.

use core::time::Duration;

use hostwire_transport::Visibility;

use super::{AREA, two};

const FLAG: usize = AREA;

/// On one host no ring is lost: no sleep ends by its time limit.
#[test]
fn a_store_wakes_a_sleeper() {
    let outcomes = two(Visibility::Coherent, |wire| {
        let other = 1 - wire.pe();
        for round in 1..=3 {
            if wire.pe() == 0 {
                wire.store(other, FLAG, &u64::to_ne_bytes(round)).unwrap();
            }
            loop {
                let seen = || wire.segment().load_word(FLAG).unwrap();
                if seen() >= round {
                    break;
                }
                let limit = wire.arm(Duration::from_secs(1));
                if seen() >= round {
                    break;
                }
                wire.sleep(limit);
            }
            if wire.pe() == 1 {
                wire.store_word(other, FLAG, round).unwrap();
            }
        }
    });
    for (seed, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.overslept, 0, "run {seed}: a ring was lost");
    }
}
