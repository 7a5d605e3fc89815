//! Flags: words that announce data.

use hostwire_transport::arrival::{half_changes, word_changes};
use hostwire_transport::operation::apply;
use hostwire_transport::{Operation, Request, Visibility};

use super::{AREA, two, until};

const FLAG: usize = AREA;
const TAKEN: usize = AREA + 64;
const DATA: usize = AREA + 128;

super::on_every_contract! {
    a_word_comes_behind_what_was_put_before_it,
    a_line_is_there_when_its_header_is,
    a_line_with_two_words_is_there_when_its_header_is,
    a_fence_orders_puts,
    a_quiet_lets_puts_go,
    a_get_is_complete_when_it_returns,
    stores_by_another_way_are_made_good,
    neighbours_in_a_line_stay,
}

/// Bytes that differ from round to round and from place to place. They begin and end in
/// the middle of words and lines.
fn bytes(round: u64) -> Vec<u8> {
    (0..150).map(|at| (at * 3 + round * 101) as u8).collect()
}

fn a_word_comes_behind_what_was_put_before_it(visibility: Visibility) {
    two(visibility, |wire| {
        for round in 1..=4 {
            if wire.pe() == 0 {
                wire.store(1, DATA + 3, &bytes(round)).unwrap();
                wire.store_word(1, FLAG, round).unwrap();
                until(&*wire, TAKEN, round);
            } else {
                until(&*wire, FLAG, round);
                let mut got = vec![0; 150];
                wire.segment().get(DATA + 3, &mut got).unwrap();
                assert_eq!(got, bytes(round), "round {round}");
                wire.store_word(0, TAKEN, round).unwrap();
            }
        }
        wire.quiet().unwrap();
    });
}

fn a_line_is_there_when_its_header_is(visibility: Visibility) {
    two(visibility, |wire| {
        for round in 1..=4 {
            if wire.pe() == 0 {
                wire.store_line(1, DATA, round, &bytes(round)[..56])
                    .unwrap();
                until(&*wire, TAKEN, round);
            } else {
                until(&*wire, DATA, round);
                let mut got = vec![0; 56];
                wire.segment().get(DATA + 8, &mut got).unwrap();
                assert_eq!(got, bytes(round)[..56], "round {round}");
                wire.store_word(0, TAKEN, round).unwrap();
            }
        }
        wire.quiet().unwrap();
    });
}

fn a_line_with_two_words_is_there_when_its_header_is(visibility: Visibility) {
    two(visibility, |wire| {
        for round in 1..=4 {
            if wire.pe() == 0 {
                let route = wire.route(1).unwrap();
                let words = [round, round + 100];
                let payload = &bytes(round)[..48];
                let window = route.window().unwrap();
                window.put_two_words(DATA, words, payload).unwrap();
                until(&*wire, TAKEN, round);
            } else {
                until(&*wire, DATA, round);
                let mut got = vec![0; 56];
                wire.segment().get(DATA + 8, &mut got).unwrap();
                assert_eq!(got[..8], u64::to_ne_bytes(round + 100), "round {round}");
                assert_eq!(got[8..], bytes(round)[..48], "round {round}");
                wire.store_word(0, TAKEN, round).unwrap();
            }
        }
        wire.quiet().unwrap();
    });
}

fn a_fence_orders_puts(visibility: Visibility) {
    two(visibility, |wire| {
        for round in 1..=4 {
            let flag = u64::to_ne_bytes(round);
            if wire.pe() == 0 {
                wire.store(1, DATA, &bytes(round)).unwrap();
                wire.fence().unwrap();
                wire.store(1, FLAG, &flag).unwrap();
                // The word may stay in a buffer until something follows it.
                wire.fence().unwrap();
                until(&*wire, TAKEN, round);
            } else {
                until(&*wire, FLAG, round);
                let mut got = vec![0; 150];
                wire.segment().get(DATA, &mut got).unwrap();
                assert_eq!(got, bytes(round), "round {round}");
                wire.store_word(0, TAKEN, round).unwrap();
            }
        }
        wire.quiet().unwrap();
    });
}

fn a_quiet_lets_puts_go(visibility: Visibility) {
    two(visibility, |wire| {
        let (other, round) = (1 - wire.pe(), 1_u64);
        wire.store(other, FLAG, &round.to_ne_bytes()).unwrap();
        wire.quiet().unwrap();
        // Nothing is stored while both wait.
        until(&*wire, FLAG, round);
    });
}

/// What was put before the word that it found is seen by a later one.
fn a_get_is_complete_when_it_returns(visibility: Visibility) {
    two(visibility, |wire| {
        for round in 1..=4_u64 {
            if wire.pe() == 0 {
                wire.store(1, DATA, &bytes(round)).unwrap();
                wire.store_word(1, FLAG, round).unwrap();
                until(&*wire, TAKEN, round);
            } else {
                let (mut word, mut got) = ([0; 8], vec![0; 150]);
                while u64::from_ne_bytes(word) != round {
                    wire.segment().get(FLAG, &mut word).unwrap();
                }
                wire.segment().get(DATA, &mut got).unwrap();
                assert_eq!(got, bytes(round), "round {round}");
                wire.store_word(0, TAKEN, round).unwrap();
            }
        }
        wire.quiet().unwrap();
    });
}

/// Code that stores to the memory of a window directly calls `stored`.
fn stores_by_another_way_are_made_good(visibility: Visibility) {
    two(visibility, |wire| {
        if wire.pe() == 0 {
            let window = super::window(&*wire, 1);
            window.memory().copy_in(DATA, &bytes(1)).unwrap();
            window.stored(DATA, 150);
            window.put_word(FLAG, 1).unwrap();
        } else {
            until(&*wire, FLAG, 1);
            let mut got = vec![0; 150];
            wire.segment().get(DATA, &mut got).unwrap();
            assert_eq!(got, bytes(1));
        }
    });
}

/// PEs that store to a line in turn do not overwrite each other's words, although their hosts
/// may hold old copies of the line.
fn neighbours_in_a_line_stay(visibility: Visibility) {
    two(visibility, |wire| {
        // Two lines, with a word of each PE: one of puts, one of words.
        let own = DATA + 8 * wire.pe() as usize;
        for round in 1..=4 {
            let turn = |from: u64| 2 * round - 1 + from;
            let pe = u64::from(wire.pe());
            // Each flag is in the segment of its reader.
            if turn(pe) > 1 {
                until(&*wire, FLAG, turn(pe) - 1);
            }
            wire.store(1, own, &u64::to_ne_bytes(round)).unwrap();
            wire.store_word(1, own + 64, round).unwrap();
            if pe == 1 {
                let word = |at| wire.segment().load_word(DATA + at).unwrap();
                assert_eq!([0, 8, 64, 72].map(word), [round; 4]);
            }
            wire.store_word(1 - wire.pe(), FLAG, turn(pe)).unwrap();
        }
    });
}

/// An atomic that the owner of a word does for others sees their puts, and their gets see the
/// change.
fn atomics_of_the_owner_are_between_puts_and_gets(visibility: Visibility) {
    two(visibility, |wire| {
        for round in 1..=3 {
            if wire.pe() == 0 {
                wire.store(1, DATA, &u64::to_ne_bytes(10 * round)).unwrap();
                wire.store_word(1, FLAG, round).unwrap();
                until(&*wire, TAKEN, round);
                let mut got = [0; 8];
                super::window(&*wire, 1).get(DATA, &mut got).unwrap();
                assert_eq!(u64::from_ne_bytes(got), 10 * round + 1);
            } else {
                // The owner has an old copy of the line.
                let add = Request {
                    operation: Operation::Add,
                    offset_bytes: DATA,
                    operand_bytes: 8,
                    operand: 1,
                    compare: 0,
                };
                until(&*wire, FLAG, round);
                assert_eq!(apply(wire.segment(), &add).unwrap(), 10 * round);
                wire.store_word(0, TAKEN, round).unwrap();
            }
        }
    });
}

#[test]
fn atomics_of_the_owner_on_coherent_memory() {
    atomics_of_the_owner_are_between_puts_and_gets(Visibility::Coherent);
}

#[test]
fn atomics_of_the_owner_on_flushed_memory() {
    atomics_of_the_owner_are_between_puts_and_gets(Visibility::Flushed);
}

/// A poll that has seen a change is an acquire.
#[test]
fn a_change_brings_what_was_stored_before_it() {
    two(Visibility::Coherent, |wire| {
        for whole in [true, false] {
            let at = if whole { FLAG } else { TAKEN };
            let data = DATA + 2 * (at - AREA);
            if wire.pe() == 0 {
                wire.store(1, data, &1_u64.to_ne_bytes()).unwrap();
                wire.store_word(1, at, 1).unwrap();
                continue;
            }
            let segment = wire.segment();
            let came = || match whole {
                true => word_changes(segment.word(at).unwrap(), 0, 3),
                false => half_changes(segment.half(at).unwrap(), 0, 3),
            };
            while !came() {}
            let mut got = [0; 8];
            segment.get(data, &mut got).unwrap();
            assert_eq!(u64::from_ne_bytes(got), 1);
        }
    });
}

/// Both put and then load: at least one of them sees the other's put. Only for the two contracts
/// where quiet stores have arrived; see `docs/memory-model.md` about write-combining windows.
fn loads_behind_a_quiet_see_what_others_made_quiet(visibility: Visibility) {
    use std::sync::atomic::{AtomicU64, Ordering};
    let seen = AtomicU64::new(0);
    let program = |wire: std::sync::Arc<dyn hostwire_transport::Wire>| {
        let (other, one) = (1 - wire.pe(), 1_u64);
        wire.store(other, FLAG, &one.to_ne_bytes()).unwrap();
        wire.quiet().unwrap();
        let own = wire.segment().load_word(FLAG).unwrap();
        seen.fetch_add(own, Ordering::Relaxed);
    };
    for seed in hostwire_transport::model::chosen(super::SEEDS) {
        seen.store(0, Ordering::Relaxed);
        let setting = hostwire_transport::model::Setting::new(visibility, seed);
        hostwire_transport::model::run(setting, 2, super::SEGMENT_BYTES, &program);
        assert!(seen.load(Ordering::Relaxed) > 0, "seed {seed}");
    }
}

#[test]
fn loads_behind_a_quiet_on_coherent_memory() {
    loads_behind_a_quiet_see_what_others_made_quiet(Visibility::Coherent);
}

#[test]
fn loads_behind_a_quiet_on_flushed_memory() {
    loads_behind_a_quiet_see_what_others_made_quiet(Visibility::Flushed);
}
