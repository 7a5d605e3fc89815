//! Tests of the model itself: it shows what machines may do to programs with missing fences,
//! and nothing that machines may not do.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use hostwire_transport::model::{Processor, Setting, chosen, run};
use hostwire_transport::sync::{Ordering, fence};
use hostwire_transport::{Visibility, Wire};

use super::{AREA, SEEDS, SEGMENT_BYTES, until};

const X: usize = AREA;
const Y: usize = AREA + 64;

/// The results of the two PEs of a run.
type Pair = (u64, u64);

/// All pairs of results of PEs 0 and 1, on this processor.
fn outcomes(
    visibility: Visibility,
    processor: Processor,
    program: impl Fn(&dyn Wire) -> u64 + Sync,
) -> BTreeSet<Pair> {
    let mut all = BTreeSet::new();
    for seed in 0..SEEDS {
        let setting = Setting::new(visibility, seed);
        if setting.processor() == processor {
            let said = Mutex::new((0, 0));
            let body = |wire: Arc<dyn Wire>| {
                let word = program(&*wire);
                match wire.pe() {
                    0 => said.lock().unwrap().0 = word,
                    _ => said.lock().unwrap().1 = word,
                }
            };
            run(setting, 2, SEGMENT_BYTES, &body);
            all.insert(said.into_inner().unwrap());
        }
    }
    all
}

const PROCESSORS: [Processor; 2] = [Processor::X86, Processor::Arm];

/// The word of a PE as an atomic of this one.
macro_rules! word {
    ($wire:expr, $pe:expr, $at:expr) => {
        super::window(&*$wire, $pe).word($at).unwrap()
    };
}

#[test]
fn a_load_passes_a_store_unless_a_barrier_lies_between() {
    for processor in PROCESSORS {
        let dekker = |barrier: bool| {
            outcomes(Visibility::Coherent, processor, |wire| {
                let (own, other) = if wire.pe() == 0 { (X, Y) } else { (Y, X) };
                word!(wire, 0, own).store(1, Ordering::Release);
                if barrier {
                    fence(Ordering::SeqCst);
                }
                word!(wire, 0, other).load(Ordering::Acquire)
            })
        };
        assert!(dekker(false).contains(&(0, 0)), "{processor:?}");
        let with = dekker(true);
        assert!(!with.contains(&(0, 0)), "{processor:?}");
        assert!(with.len() == 3, "{processor:?}: all others: {with:?}");
    }
}

/// PE 0 stores data and then a flag, PE 1 loads the flag and then data. The result of PE 1:
/// both, 3; data alone, 2; the flag alone, 1.
fn passing(processor: Processor, store: Ordering, load: Ordering) -> BTreeSet<Pair> {
    outcomes(Visibility::Coherent, processor, |wire| {
        let window = super::window(wire, 1);
        let word = |at| window.word(at).unwrap();
        let (data, flag) = (word(X), word(Y));
        if wire.pe() == 0 {
            data.store(1, Ordering::Relaxed);
            flag.store(1, store);
            return 0;
        }
        let flag = flag.load(load);
        flag + 2 * data.load(Ordering::Relaxed)
    })
}

#[test]
fn x86_keeps_stores_in_order_and_loads_in_order() {
    let seen = passing(Processor::X86, Ordering::Relaxed, Ordering::Relaxed);
    assert_eq!(seen, BTreeSet::from([(0, 0), (0, 2), (0, 3)]));
}

#[test]
fn arm_keeps_neither_without_release_and_acquire() {
    use Ordering::{Acquire, Relaxed, Release};
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed)] {
        let seen = passing(Processor::Arm, store, load);
        assert!(seen.contains(&(0, 1)), "{store:?}, {load:?}");
    }
    let seen = passing(Processor::Arm, Release, Acquire);
    assert_eq!(seen, BTreeSet::from([(0, 0), (0, 2), (0, 3)]));
}

#[test]
#[should_panic(expected = "PE 0 loads through a window that takes stores only")]
fn loads_through_a_window_of_stores_fail() {
    let setting = Setting::new(Visibility::WriteCombining, 0);
    run(setting, 2, SEGMENT_BYTES, &|wire| {
        let _ = word!(wire, 1 - wire.pe(), X).load(Ordering::Relaxed);
    });
}

#[test]
#[should_panic(expected = "does an atomic operation through a window that takes stores only")]
fn atomics_through_a_window_of_stores_fail() {
    let setting = Setting::new(Visibility::WriteCombining, 0);
    run(setting, 2, SEGMENT_BYTES, &|wire| {
        word!(wire, 1 - wire.pe(), X).fetch_add(1, Ordering::Relaxed);
    });
}

/// Words that PE 1 sees after the word at `flag` has arrived.
fn combined(processor: Processor, flag: usize, words: &'static [usize]) -> BTreeSet<Pair> {
    outcomes(Visibility::WriteCombining, processor, |wire| {
        if wire.pe() == 0 {
            for at in words {
                word!(wire, 1, *at).store(1, Ordering::Relaxed);
            }
            word!(wire, 1, flag).store(1, Ordering::Release);
            wire.fence().unwrap();
            return 0;
        }
        until(wire, flag, 1);
        let there = |at: &usize| word!(wire, 1, *at).load(Ordering::Acquire);
        words.iter().map(there).sum()
    })
}

#[test]
fn combined_stores_overtake_each_other_whatever_the_order_of_the_language() {
    for processor in PROCESSORS {
        let seen = combined(processor, X, &[Y]);
        assert_eq!(seen, BTreeSet::from([(0, 0), (0, 1)]), "{processor:?}");
    }
}

/// All eight words of a line are stored, the header last. Still the header may come first:
/// the buffer need not wait until it is full.
#[test]
fn a_header_overtakes_the_payload_of_its_line() {
    const LINE: [usize; 7] = [X + 8, X + 16, X + 24, X + 32, X + 40, X + 48, X + 56];
    for processor in PROCESSORS {
        let seen = combined(processor, X, &LINE);
        assert!(seen.contains(&(0, 7)), "{processor:?}: {seen:?}");
        assert!(seen.iter().any(|(_, words)| *words < 7), "{processor:?}");
    }
}

/// Posted packets are only under way when a quiet returns: see `docs/memory-model.md`.
#[test]
fn a_quiet_through_write_combining_windows_does_not_wait_for_packets() {
    for processor in PROCESSORS {
        let seen = outcomes(Visibility::WriteCombining, processor, |wire| {
            wire.store(1 - wire.pe(), X, &1_u64.to_ne_bytes()).unwrap();
            wire.quiet().unwrap();
            wire.segment().load_word(X).unwrap()
        });
        assert!(seen.contains(&(0, 0)), "{processor:?}");
    }
}

#[test]
fn a_line_that_is_held_stays_as_it_was_until_it_is_invalidated() {
    for processor in PROCESSORS {
        let seen = outcomes(Visibility::Flushed, processor, |wire| {
            if wire.pe() == 0 {
                wire.store(1, X, &1_u64.to_ne_bytes()).unwrap();
                wire.store_word(1, Y, 1).unwrap();
                return 0;
            }
            word!(wire, 1, X).load(Ordering::Acquire);
            until(wire, Y, 1);
            word!(wire, 1, X).load(Ordering::Acquire)
        });
        assert_eq!(seen, BTreeSet::from([(0, 0), (0, 1)]), "{processor:?}");
    }
}

/// Lines are written back whole, so hosts that write the same line lose each other's words,
/// however they flush.
#[test]
fn a_line_has_one_writing_host() {
    for processor in PROCESSORS {
        let seen = outcomes(Visibility::Flushed, processor, |wire| {
            // Neighbours in a line of PE 0.
            wire.store_word(0, X + 8 * wire.pe() as usize, 1).unwrap();
            wire.quiet().unwrap();
            wire.store_word(0, Y + 64 * wire.pe() as usize, 1).unwrap();
            if wire.pe() == 1 {
                return 0;
            }
            until(wire, Y, 1);
            until(wire, Y + 64, 1);
            let word = |at| wire.segment().load_word(at).unwrap();
            word(X) + word(X + 8)
        });
        assert!(seen.contains(&(2, 0)), "{processor:?}");
        assert!(seen.contains(&(1, 0)), "{processor:?}");
    }
}

/// If caches write back clean lines, no flush helps: a line that was only read overwrites
/// what its writer has stored meanwhile.
#[test]
fn flushed_memory_needs_hosts_that_write_back_no_clean_lines() {
    let passes = |seed, clean_write_backs| {
        let setting = Setting {
            clean_write_backs,
            steps_max: 20_000,
            ..Setting::new(Visibility::Flushed, seed)
        };
        let program = |wire: Arc<dyn Wire>| {
            for round in 1..=20_u64 {
                let (at, other) = (X + 64 * wire.pe() as usize, 1 - wire.pe());
                wire.store_word(other, at, round).unwrap();
                until(&*wire, X + 64 * other as usize, round);
            }
        };
        let run = || run(setting, 2, SEGMENT_BYTES, &program);
        catch_unwind(AssertUnwindSafe(run)).is_ok()
    };
    assert!(chosen(60).all(|seed| passes(seed, false)));
    assert!(!(0..60).all(|seed| passes(seed, true)));
}

#[test]
#[should_panic(expected = "this run has no end")]
fn a_wait_for_what_nobody_stores_is_told() {
    let setting = Setting {
        steps_max: 1000,
        ..Setting::new(Visibility::Coherent, 0)
    };
    run(setting, 2, SEGMENT_BYTES, &|wire| {
        until(&*wire, X, 1);
    });
}

/// The same seed gives the same run, to the step.
#[test]
fn a_seed_is_a_run() {
    let program = |wire: Arc<dyn Wire>| {
        wire.store_word(1 - wire.pe(), X, 1).unwrap();
        until(&*wire, X, 1);
    };
    let steps = |seed| {
        let setting = Setting::new(Visibility::Flushed, seed);
        run(setting, 2, SEGMENT_BYTES, &program).steps
    };
    let all: BTreeSet<u64> = (0..50).map(steps).collect();
    assert!(all.len() > 5, "{all:?}");
    assert!((0..50).all(|seed| steps(seed) == steps(seed)));
}
