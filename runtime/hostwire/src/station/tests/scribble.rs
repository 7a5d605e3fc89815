//! A peer that writes anything over the memory by which stations talk, while they talk.

use hostwire_transport::conformance::Random;

use super::super::*;
use super::{BAD, Bad, GOOD, label, wanted};
use crate::layout::{Count, Mail};

/// Short, of several lines, longer than a ring, and longer than all of staging memory.
const LENGTHS: [usize; 5] = [0, 8, 700, 20_000, 400_000];

/// The words that this peer and the good one have in the memory of a station, but for those of the rings.
fn words(layout: &Layout) -> Vec<usize> {
    let peers = BAD..=GOOD;
    let of = |pe: PeId| {
        let mail = layout.mail(pe, Mail::Credit) / 64 * 64;
        let counts = layout.count(pe, Count::Freed) / 64 * 64;
        (mail..mail + 64).chain(counts..counts + 128).step_by(8)
    };
    peers.flat_map(of).collect()
}

/// Overwrites one word: of a ring near its beginning, or another one.
fn scribble(bad: &Bad, layout: &Layout, random: &mut Random) {
    let at = if random.one_in(3) {
        random.pick(&words(layout))
    } else {
        layout.ring(random.pick(&[BAD, GOOD])) + random.below(64) * 8
    };
    let value = match random.below(4) {
        0 => 0,
        1 => random.below(70) as u64,
        2 => u64::MAX - random.below(70) as u64,
        _ => random.word(),
    };
    let _ = bad.wire.store(1, at, &value.to_le_bytes());
}

/// Whatever comes of it: a result, or an error that names one of the two.
fn heard<T>(result: Result<T>) {
    match result {
        Ok(_) | Err(Error::PeerMisbehaved { .. } | Error::PeerLost { .. }) => {}
        Err(other) => panic!("{other}"),
    }
}

fn step(here: &Station, good: &Station, bad: &mut Bad, random: &mut Random) {
    let bytes = |random: &mut Random| Box::new(vec![7_u8; random.pick(&LENGTHS)]);
    match random.below(8) {
        0 | 1 => heard(good.send(1, label(3), bytes(random))),
        2 => heard(here.send(GOOD, label(3), bytes(random))),
        3 => heard(here.receive(wanted(Source::Any), bytes(random))),
        4 => heard(here.receive(wanted(Source::Pe(GOOD)), bytes(random))),
        5 => heard(good.receive(wanted(Source::Any), bytes(random))),
        6 => heard(here.peek(wanted(Source::Any))),
        _ => {
            // Of all that a ring takes.
            let kind = random.below(7) as u8 + 1;
            let len = random.below(56);
            let said = random.bytes(len);
            heard(bad.ring.try_send(kind, 3, &said).map_err(Error::from));
        }
    }
    for station in [here, good] {
        while let Ok(Some(done)) = station.poll() {
            heard(done.result);
        }
    }
}

/// Nothing here waits, so nothing can wait for ever; and what is under way at the end is let go.
#[test]
fn stations_whose_memory_is_overwritten_go_on_or_blame_a_peer() {
    let layout = Layout::new(PEERS_MAX, SIZES).unwrap();
    for seed in 1..=40 {
        let mut random = Random::new(seed);
        let (here, good) = (Station::open().unwrap(), Station::open().unwrap());
        let mut bad = Bad::beside(&here);
        assert_eq!(here.number(&good.name()), Ok(GOOD));
        assert_eq!(good.number(&here.name()), Ok(1));
        for _ in 0..120 {
            step(&here, &good, &mut bad, &mut random);
            (0..random.below(3)).for_each(|_| scribble(&bad, &layout, &mut random));
        }
    }
}
