//! The desk and its words; whole runs are tested with the simulator.

use core::time::Duration;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use hostwire_transport::chain::{Block, BlockSource, ChainLimits};
use hostwire_transport::shm::{ShmOptions, local};
use hostwire_transport::wire::{Bell, Clock, Lifetime, Wire};
use proptest::prelude::*;

use super::desk::{Desk, PAYLOAD_BYTES, Part, Turn};
use super::request::{Kind, Words, block_bytes};
use super::*;

fn desk() -> Desk {
    Desk::map(&Desk::create().unwrap()).unwrap()
}

#[test]
fn words_of_a_request_are_these() {
    let words = Words {
        kind: Kind::Line,
        pe: 7,
        offset_bytes: 128,
        len_bytes: 56,
        value: u64::MAX,
        arming: Arming::Looked,
    };
    let literal = [4, 7, 128, 56, u64::MAX, 2, 0, 0];
    assert_eq!(words.to_words(), literal);
    assert_eq!(Words::parse(&literal), Some(words));
}

#[test]
fn words_that_no_pe_says_are_refused() {
    let good = Words::new(Kind::Store).to_words();
    for (index, wrong) in [
        (0, 0),
        (0, 14),
        (0, u64::MAX),
        (1, 1 << 32),
        (3, PAYLOAD_BYTES as u64 + 1),
        (3, u64::MAX),
        (5, 3),
    ] {
        let mut words = good;
        words[index] = wrong;
        assert_eq!(Words::parse(&words), None, "{words:?}");
    }
}

#[test]
fn blocks_of_a_chain_are_these_words() {
    let own = Block {
        pe: 3,
        offset_bytes: 64,
        source: BlockSource::Own {
            offset_bytes: 128,
            len_bytes: 12,
        },
    };
    let word = Block {
        source: BlockSource::Word(u64::MAX),
        ..own
    };
    let literal = [3, 64, 128, 12, 1 << 32 | 3, 64, u64::MAX, 8];
    let bytes = literal.map(u64::to_ne_bytes).concat();
    assert_eq!(block_bytes(&[own, word]), bytes);
    let parse = |bytes: &[u8]| Words::new(Kind::Chain).with(bytes.to_vec());
    assert_eq!(parse(&bytes), Some(Request::Chain(vec![own, word])));
    assert_eq!(parse(&[]), Some(Request::Chain(Vec::new())));
    for (index, wrong) in [(0, 2 << 32), (0, u64::MAX), (7, 7), (7, 0)] {
        let mut words = literal;
        words[index] = wrong;
        let bytes = words.map(u64::to_ne_bytes).concat();
        assert_eq!(parse(&bytes), None, "{words:?}");
    }
    assert_eq!(parse(&bytes[..24]), None);
    assert_eq!(parse(&bytes[..63]), None);
}

proptest! {
    #[test]
    fn all_words_are_a_request_or_none(words in prop::array::uniform8(prop_oneof![any::<u64>(), 0..16_u64])) {
        if let Some(parsed) = Words::parse(&words) {
            let mut same = words;
            same[6] = 0;
            same[7] = 0;
            prop_assert_eq!(parsed.to_words(), same);
        }
    }
}

#[test]
fn a_desk_has_turns_times_and_ends() {
    let desk = desk();
    assert_eq!(desk.part(), Part::Before);
    assert!(desk.wait_for(Turn::Model, Duration::ZERO));
    assert!(!desk.wait_for(Turn::Pe, Duration::from_millis(1)));
    desk.hand_to(Turn::Pe);
    assert!(desk.wait_for(Turn::Pe, Duration::ZERO));
    assert_eq!([desk.spend_ps(7), desk.spend_ps(3)], [7, 10]);
    assert_eq!([desk.take_spent_ps(), desk.spent_ps()], [10, 0]);
    assert_eq!(desk.chain_limits(), None);
    let limits = ChainLimits {
        blocks_max: 255,
        block_bytes_max: 262_140,
        bytes_max: 1 << 40,
        align_bytes: 4,
    };
    desk.set_chain_limits(limits);
    assert_eq!(desk.chain_limits(), Some(limits));
    for pe in [0, 63, 64, 4095] {
        assert!(!desk.has_ended(pe));
        desk.set_ended(pe);
        assert!(desk.has_ended(pe));
    }
    // More than a job can have.
    desk.set_ended(1 << 20);
    assert!(!desk.has_ended(1 << 20));
    assert!(!desk.has_ended(1));
}

/// A reading of the clock includes what was computed before it. Other threads than the one that uses
/// the job see what that thread has counted.
#[test]
fn what_is_computed_is_counted_once_and_at_once() {
    let desk = desk();
    desk.set_compute_ns_per_s(1_000_000_000);
    desk.set_clock_ps(5);
    let compute = |least_ns: u64| {
        let begin = hostwire_transport::os::process::thread_time();
        while hostwire_transport::os::process::thread_time()
            < begin + Duration::from_nanos(least_ns)
        {}
    };
    compute(1000);
    assert_eq!(computing::count(&desk), 0, "it does not take part");
    desk.set_part(Part::During);
    desk.set_thread(hostwire_transport::os::process::thread());
    computing::begin(&desk);
    compute(2_000_000);
    let counted_ps = computing::count(&desk);
    assert!(counted_ps >= 2_000_000_000, "{counted_ps}");
    assert_eq!(desk.time_ps(), 5 + counted_ps);
    assert_eq!(desk.spent_ps(), 0);
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            compute(1000);
            computing::count(&desk)
        });
        assert_eq!(beside.join().unwrap(), 0);
    });
    desk.spend_ps(7);
    assert_eq!(desk.take_spent_ps(), counted_ps + 7);
    assert_eq!(desk.time_ps(), 5);
    // Processor time while another PE had the turn does not count.
    compute(1000);
    computing::begin(&desk);
    let since = computing::count(&desk);
    assert!(since < counted_ps, "{since}");
    desk.set_compute_ns_per_s(0);
    compute(1000);
    assert_eq!(computing::count(&desk), 0);
}

/// A hello that no PE sends: the simulator refuses it and does not fail.
#[test]
fn what_is_no_hello_is_an_error() {
    let say = |bytes: &[u8], fds: &[&OwnedFd]| {
        use std::os::fd::AsFd;
        let (seat, [_, there]) = Seat::new().unwrap();
        let fds: Vec<_> = fds.iter().map(|fd| fd.as_fd()).collect();
        hostwire_transport::shm::handover::send_with(&there, bytes, &fds).unwrap();
        seat.wait_for((0, 1), &|| false)
            .map(|begun| begun.is_some())
    };
    let file = hostwire_transport::shm::create_file("test", 8192).unwrap();
    let words = |words: [u64; 5]| words.map(u64::to_le_bytes).concat();
    let magic = u64::from_le_bytes(*b"hwmodel\x02");
    assert_eq!(say(&words([magic, 0, 1, 4096, 4096]), &[&file]), Ok(true));
    for (wrong, fds) in [
        (words([magic + 1, 0, 1, 4096, 0]), vec![&file]),
        (words([magic, 0, 1, 4096, 0]), vec![]),
        (words([magic, 0, 1, 4096, 0]), vec![&file, &file]),
        (words([magic, 1, 1, 4096, 0]), vec![&file]),
        (words([magic, 0, 2, 4096, 0]), vec![&file]),
        (words([magic, 1 << 40, 1, 4096, 0]), vec![&file]),
        (words([magic, 0, 1, 4096, 8192]), vec![&file]),
        (words([magic, 0, 1, u64::MAX, 0]), vec![&file]),
        (words([magic, 0, 1, 4096, 1]), vec![&file]),
        (b"hello".to_vec(), vec![]),
    ] {
        assert!(say(&wrong, &fds).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_pe_that_ends_before_it_begins_is_nobody() {
    let (seat, there) = Seat::new().unwrap();
    drop(there);
    assert!(seat.wait_for((0, 1), &|| false).unwrap().is_none());
    let (seat, _there) = Seat::new().unwrap();
    assert!(seat.wait_for((0, 1), &|| true).unwrap().is_none());
}

/// Requests as a PE makes them, and a PE whose simulator has ended.
#[test]
fn a_pe_asks_and_is_answered() {
    let (seat, [desk, socket]) = Seat::new().unwrap();
    let [wire, _] = <[_; 2]>::try_from(local(2, 8192, ShmOptions::default()).unwrap()).unwrap();
    std::thread::scope(|scope| {
        let pe = scope.spawn(move || {
            let wire = Modelled::new(Arc::new(wire), (desk, socket)).unwrap();
            assert!(wire.fence().is_err(), "it has not begun");
            wire.begin().unwrap();
            assert_eq!(wire.now(), Duration::from_nanos(5));
            wire.store(1, 64, b"bytes").unwrap();
            wire.arm(Duration::MAX);
            wire.poll().unwrap();
            wire.sleep(Duration::MAX);
            let refused = wire.store_word(1, 64, 9).unwrap_err().to_string();
            assert!(
                refused.starts_with("on the modelled hardware: there is no PE 9"),
                "{refused}"
            );
            wire.quiet().unwrap_err().to_string()
        });
        let begun = seat.wait_for((0, 2), &|| false).unwrap().unwrap();
        assert_eq!(begun.segment.len_bytes() % 8192, 0);
        let end = begun.end;
        let next = |answer| {
            let idle = |_| core::ops::ControlFlow::Continue(());
            match end.next(5_000, answer, &idle).unwrap() {
                Next::Request {
                    request, arming, ..
                } => (request, arming),
                other => panic!("{other:?}"),
            }
        };
        let store = Request::Store {
            pe: 1,
            offset_bytes: 64,
            bytes: b"bytes".to_vec(),
        };
        assert_eq!(next(Ok(())), (store, Arming::No));
        assert_eq!(next(Ok(())), (Request::Sleep, Arming::Looked));
        let word = Request::Word {
            pe: 1,
            offset_bytes: 64,
            value: 9,
        };
        assert_eq!(next(Ok(())), (word, Arming::No));
        let refused = TransportError::NoSuchPe { pe: 9, pes: 2 };
        assert_eq!(next(Err(refused)), (Request::Quiet, Arming::No));
        drop(end);
        let said = pe.join().unwrap();
        assert!(said.ends_with("it has ended"), "{said}");
    });
}
