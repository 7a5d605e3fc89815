//! Which stores leave in which frame and when, with real sockets and agents. `hostwire-link` tests
//! the rules themselves in virtual time.

use std::sync::Arc;
use std::time::Duration;

use hostwire_transport::wire::{Batches, Line, Wire};

use super::{Ether, LocalOptions, LocalWire, local};

/// A store that waits leaves within this time.
const LAST_STORE_NS: u64 = 20_000;
/// A test has to succeed in one of so many rounds: a machine that does not run a thread for a while
/// hides the effect.
const ROUNDS: u64 = 10_000;

fn pair() -> [Arc<Ether>; 2] {
    let made = local(2, 2, 1 << 20, &LocalWire::Udp, &LocalOptions::default());
    let made = made.unwrap().into_iter();
    let wires: Vec<_> = made.map(|pe| pe.ether.unwrap()).collect();
    wires.try_into().unwrap()
}

/// The frames with numbers that `from` sends meanwhile.
fn frames_of(from: &Ether, store: impl FnOnce()) -> u64 {
    let before = from.counters().frames_sent;
    store();
    from.counters().frames_sent - before
}

#[test]
fn the_lines_of_a_message_are_one_frame() {
    let [from, to] = pair();
    let frames = (0..20).map(|round| {
        from.quiet().unwrap();
        from.poll().unwrap();
        let lines = [(64, 2), (0, 1)].map(|(at, line)| Line {
            offset_bytes: 4096 + at,
            header: round * 2 + line,
            payload: &[7; 56],
        });
        frames_of(&from, || {
            from.store_lines(1, &mut lines.into_iter()).unwrap();
        })
    });
    // Sometimes a frame of the link itself is sent between them.
    assert_eq!(frames.min(), Some(1));
    from.quiet().unwrap();
    assert_eq!(to.segment().load_word(4096), Ok(39));
    assert_eq!(to.segment().load_word(4096 + 64), Ok(40));
}

/// Only checks that the system was asked in time, without a call of the PE.
#[test]
fn the_agent_asks_to_be_woken_in_time_for_the_last_stores() {
    let [from, _to] = pair();
    let asked_in_time = |round| {
        // The agent goes to sleep.
        std::thread::sleep(Duration::from_millis(5));
        for number in 0..3 {
            from.store_word(1, 4096 + number * 8, round).unwrap();
        }
        let core = from.shared.lock();
        let Some(wakes) = core.agent_wakes().filter(|_| core.stores_wait()) else {
            return false;
        };
        let plan_ns = wakes.since(core.now());
        assert!(plan_ns <= LAST_STORE_NS, "{plan_ns} ns");
        let remaining = core.alarm().remaining();
        assert!(
            remaining <= Duration::from_nanos(LAST_STORE_NS),
            "{remaining:?}"
        );
        true
    };
    let slept = (1..=ROUNDS).any(asked_in_time);
    assert!(slept, "the agent never slept while stores waited");
}

/// Without a look, a quiet or another store.
#[test]
fn the_last_stores_arrive_without_another_call() {
    let [from, to] = pair();
    for round in 1..=20 {
        for number in 0..50 {
            from.store_word(1, 4096 + number * 8, round).unwrap();
        }
        while to.segment().load_word(4096 + 49 * 8) != Ok(round) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_quiet_waits_for_stores_and_not_for_the_signals_behind_them() {
    let [from, to] = pair();
    let link = from.link(1).unwrap();
    for round in 1..=100 {
        from.store_word(1, 4096, round).unwrap();
        from.signal_word(1, 4104, round).unwrap();
        from.signal_word(1, 4112, round).unwrap();
        from.quiet().unwrap();
        assert_eq!(to.segment().load_word(4096), Ok(round));
        from.signal_word(1, 4104, round + 1).unwrap();
        assert_eq!(from.shared.lock().pending(link), None);
        while to.segment().load_word(4104) != Ok(round + 1) {
            std::thread::yield_now();
        }
    }
}
