//! Sleeping, waking, and noticing PEs that have ended.

use std::time::{Duration, Instant};

use super::pe::{AREA, Pe, rounds};
use super::{Testbed, run};

/// Far longer than any store of the test takes.
const LONG: Duration = Duration::from_secs(30);

/// Sleeps until an own word is `value`. If the word was stored meanwhile and the sleep
/// still had to end by itself, the ring was lost.
fn sleep_until(pe: &Pe, offset_bytes: usize, value: u64) {
    loop {
        let limit = pe.wire.arm(LONG);
        pe.wire.poll().unwrap();
        if pe.word(offset_bytes) == value {
            return;
        }
        let begin = Instant::now();
        let rung = pe.wire.sleep(limit);
        let missed = !rung && limit == LONG && begin.elapsed() >= limit;
        assert!(!missed, "nobody woke PE {} for {value}", pe.pe);
    }
}

/// A PE that has armed its doorbell is woken by a word, by bytes and by a line.
pub fn every_kind_of_store_wakes_a_sleeper(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        // A token goes around, and all other PEs sleep.
        for round in 1..=rounds(240) {
            if pe.pe != 0 {
                sleep_until(pe, AREA, round);
            }
            match round % 3 {
                0 => pe.wire.store_word(pe.right(), AREA, round),
                1 => pe.wire.store(pe.right(), AREA, &round.to_ne_bytes()),
                _ => pe.wire.store_line(pe.right(), AREA, round, b"payload"),
            }
            .unwrap();
            pe.push();
            if pe.pe == 0 {
                sleep_until(pe, AREA, round);
            }
        }
        pe.meet();
    });
}

/// All PEs are alive while they run. One that has ended is soon found to be dead, and the
/// others may continue without it.
pub fn who_has_ended_is_not_alive(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        for other in 0..pe.pes {
            assert_eq!(pe.wire.is_alive(other), Ok(true), "PE {other}");
        }
        pe.meet();
        // In the order of their numbers.
        for other in 0..pe.pe {
            pe.until(|| pe.wire.is_alive(other) == Ok(false));
        }
        assert_eq!(pe.wire.is_alive(pe.pe), Ok(true));
        pe.wire.store_word(pe.pe, AREA, 1).unwrap();
        assert_eq!(pe.word(AREA), 1);
    });
}
