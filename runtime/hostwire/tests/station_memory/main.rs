//! Memory that a station lets its peers use: puts, gets and atomic operations.
#![cfg(target_os = "linux")]

mod long_gets;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hostwire::station::{
    ATOMIC_BYTES_MAX, Atomic, Change, Deed, Event, Finished, KEPT_BYTES_MAX, Label, Lane,
    MemoryRegion, MemoryRegions, Number, Refusal, RegionRange, Rights, Station, Wanted, Witness,
};
use hostwire::{Error, Source, Tag, Ticket};
use hostwire_transport::Memory;
use proptest::prelude::*;

const SOON: Duration = Duration::from_secs(60);
const BOTH: Rights = Rights {
    read: true,
    write: true,
};

fn region(memory: &Memory, rights: Rights) -> MemoryRegion {
    MemoryRegion {
        memory: memory.clone(),
        first: 0,
        rights,
        witness: None,
    }
}

fn place(key: u64, at: u64, len: usize) -> RegionRange {
    let len = len as u64;
    RegionRange { key, at, len }
}

/// A station that asks, and one whose memory with these keys it may use.
struct Pair {
    asks: Station,
    owns: Station,
    regions: Arc<MemoryRegions>,
}

fn pair() -> Pair {
    let regions = Arc::<MemoryRegions>::default();
    let owns = Station::with(Arc::clone(&regions)).unwrap();
    acquainted(Station::open().unwrap(), owns, regions)
}

/// As [`pair`], but they believe to be on two hosts.
fn pair_of_hosts() -> Pair {
    let regions = Arc::<MemoryRegions>::default();
    let owns = Station::open_on_host(1, Arc::clone(&regions)).unwrap();
    let asks = Station::open_on_host(2, Arc::default()).unwrap();
    acquainted(asks, owns, regions)
}

fn acquainted(asks: Station, owns: Station, regions: Arc<MemoryRegions>) -> Pair {
    assert_eq!(asks.number(&owns.name()), Ok(1));
    assert_eq!(owns.number(&asks.name()), Ok(1));
    Pair {
        asks,
        owns,
        regions,
    }
}

impl Pair {
    fn ask(&self, deed: Deed, places: &[RegionRange], buffer: Vec<u8>) -> Ticket {
        let asked = self.asks.ask(1, deed, places.to_vec(), Box::new(buffer));
        asked.unwrap()
    }

    fn next(&self) -> Finished {
        next(&self.asks, &[&self.owns])
    }

    fn is_put(&self, places: &[RegionRange], bytes: Vec<u8>) -> Result<(), Error> {
        self.ask(Deed::Put { data: None }, places, bytes);
        self.next().result.map(|_| ())
    }

    fn got(&self, places: &[RegionRange], len: usize) -> Result<Vec<u8>, Error> {
        self.ask(Deed::Get, places, vec![0; len]);
        let done = self.next();
        done.result.clone().map(|_| bytes(done))
    }
}

fn bytes(done: Finished) -> Vec<u8> {
    *done
        .buffer
        .unwrap()
        .into_any()
        .downcast::<Vec<u8>>()
        .unwrap()
}

fn next(station: &Station, others: &[&Station]) -> Finished {
    let deadline = Instant::now() + SOON;
    loop {
        if let Some(done) = station.poll().unwrap() {
            return done;
        }
        for other in others {
            assert!(other.poll().unwrap().is_none());
            take_uses(other);
        }
        assert!(Instant::now() < deadline, "nothing ended in a minute");
    }
}

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + seed) as u8).collect()
}

fn whole(memory: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; memory.len_bytes()];
    memory.copy_out(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn puts_and_gets_of_all_lengths_arrive_whole() {
    for pair in [pair(), pair_of_hosts()] {
        let memory = Memory::anonymous(4 << 20);
        pair.regions.add(Some(5), region(&memory, BOTH));
        for len in [0, 1, 8, 56, 4096, 4097, 7000, 7168, 9000, 300_000, 3 << 20] {
            let sent = pattern(len, len);
            assert_eq!(pair.is_put(&[place(5, 3, len)], sent.clone()), Ok(()));
            assert!(whole(&memory)[3..3 + len] == sent, "{len} bytes");
            assert!(
                pair.got(&[place(5, 3, len)], len) == Ok(sent),
                "{len} bytes"
            );
        }
        // Several places, the second of another region.
        let other = Memory::anonymous(64);
        pair.regions.add(Some(6), region(&other, BOTH));
        let places = [place(5, 100, 10_000), place(6, 60, 4), place(5, 0, 1)];
        let sent = pattern(10_005, 1);
        assert_eq!(pair.is_put(&places, sent.clone()), Ok(()));
        assert_eq!(whole(&other)[60..], sent[10_000..10_004]);
        assert_eq!(pair.got(&places, 10_005), Ok(sent));
    }
}

/// A put in pieces takes a turn of both for each 64 KiB.
#[test]
fn a_long_put_is_copied_by_its_owner_in_one_turn() {
    let pair = pair();
    let (memory, other) = (Memory::anonymous(1 << 20), Memory::anonymous(1 << 20));
    pair.regions.add(Some(5), region(&memory, BOTH));
    pair.regions.add(Some(6), region(&other, BOTH));
    // The answer says that the owner can copy.
    assert_eq!(pair.is_put(&[place(5, 0, 1)], vec![1]), Ok(()));
    let places = [
        place(5, 1, 500_000),
        place(6, 9, 400_000),
        place(5, 600_000, 1),
    ];
    let sent = pattern(900_001, 3);
    let put = pair.ask(Deed::Put { data: Some(7) }, &places, sent.clone());
    assert!(pair.owns.poll().unwrap().is_none());
    let event = Event {
        from: 1,
        data: 7,
        len_bytes: 900_001,
    };
    assert_eq!(pair.owns.take_event(), Some(event));
    assert!(whole(&memory)[1..500_001] == sent[..500_000]);
    assert!(whole(&other)[9..400_009] == sent[500_000..900_000]);
    assert_eq!(whole(&memory)[600_000], sent[900_000]);
    assert_eq!(whole(&memory)[0], 1);
    let done = pair.asks.poll().unwrap().unwrap();
    assert_eq!((done.ticket, done.result.is_ok()), (put, true));
    assert!(bytes(done) == sent);
}

#[test]
fn memory_that_goes_in_the_middle_of_a_long_put_is_left_alone() {
    let pair = pair();
    let memory = Memory::anonymous(4 << 20);
    pair.regions.add(Some(5), region(&memory, BOTH));
    assert_eq!(pair.is_put(&[place(5, 0, 1)], vec![0]), Ok(()));
    let places = [place(5, 0, 3 << 20)];
    pair.ask(Deed::Put { data: None }, &places, vec![9; 3 << 20]);
    assert!(pair.owns.poll().unwrap().is_none());
    assert!(pair.regions.remove(5));
    let refused = pair.next().result.unwrap_err();
    assert!(matches!(
        refused,
        Error::MemoryRefused {
            why: Refusal::NoKey,
            ..
        }
    ));
    let come = whole(&memory);
    assert!(come[..1 << 20].iter().all(|byte| *byte == 9));
    assert!(come[1 << 20..].iter().all(|byte| *byte == 0));
    // What follows is not held up.
    pair.regions.add(Some(5), region(&memory, BOTH));
    assert_eq!(pair.is_put(&places, vec![8; 3 << 20]), Ok(()));
    assert!(whole(&memory)[..3 << 20].iter().all(|byte| *byte == 8));
}

#[test]
fn the_owner_refuses_what_is_not_there_and_goes_on() {
    for pair in [pair(), pair_of_hosts()] {
        let memory = Memory::anonymous(20_000);
        pair.regions.add(Some(1), region(&memory, Rights::READ));
        pair.regions.add(Some(2), region(&memory, Rights::WRITE));
        let why = |result: Result<(), Error>| match result {
            Err(Error::MemoryRefused { pe: 1, why, .. }) => why,
            other => panic!("{other:?}"),
        };
        for (key, at, len, refusal) in [
            (3, 0, 8, Refusal::NoKey),
            (1, 0, 8, Refusal::NoRight),
            (2, 19_999, 2, Refusal::Outside),
            (2, u64::MAX, 2, Refusal::Outside),
            // Nothing of it is stored.
            (2, 10_000, 10_001, Refusal::Outside),
        ] {
            let put = pair.is_put(&[place(key, at, len)], vec![1; len]);
            assert_eq!(why(put), refusal);
        }
        let both = [place(2, 0, 4), place(1, 0, 4)];
        assert_eq!(why(pair.is_put(&both, vec![1; 8])), Refusal::NoRight);
        assert!(whole(&memory).iter().all(|byte| *byte == 0));
        for (key, len) in [(2, 8), (2, 19_000)] {
            let got = pair.got(&[place(key, 0, len)], len);
            assert_eq!(why(got.map(|_| ())), Refusal::NoRight);
        }
        let add = Atomic::new(Number::U64, Change::Sum).unwrap();
        let sum = |wants_old| Deed::Atomic {
            atomic: add,
            operands: vec![1; 8],
            compares: Vec::new(),
            wants_old,
        };
        for (key, wants_old, is_refused) in [(1, false, true), (2, true, true), (2, false, false)] {
            pair.ask(sum(wants_old), &[place(key, 0, 8)], vec![0; 8]);
            assert_eq!(pair.next().result.is_err(), is_refused, "{key} {wants_old}");
        }
        assert!(pair.regions.remove(2));
        let gone = pair.is_put(&[place(2, 0, 1)], vec![1]);
        assert_eq!(why(gone), Refusal::NoKey);
        assert_eq!(pair.got(&[place(1, 0, 1)], 1), Ok(vec![1]));
    }
}

#[test]
fn what_does_not_fit_is_the_callers_fault() {
    let Pair { asks, .. } = pair();
    let put = Deed::Put { data: None };
    let atomic = |operands: usize| Deed::Atomic {
        atomic: Atomic::new(Number::U32, Change::Sum).unwrap(),
        operands: vec![0; operands],
        compares: Vec::new(),
        wants_old: false,
    };
    let most = ATOMIC_BYTES_MAX + 4;
    for (deed, places, buffer) in [
        (put.clone(), vec![place(1, 0, 3)], 2),
        (Deed::Get, vec![place(1, 0, 3)], 4),
        (put.clone(), vec![place(1, 0, 1); 5], 5),
        (put, vec![place(1, 0, usize::MAX), place(1, 0, 2)], 1),
        (atomic(6), vec![place(1, 0, 6)], 0),
        (atomic(8), vec![place(1, 0, 4)], 0),
        (atomic(most), vec![place(1, 0, most)], 0),
    ] {
        let buffer = Box::new(vec![0_u8; buffer]);
        let asked = asks.ask(1, deed, places, buffer);
        assert!(matches!(asked, Err(Error::Length { .. })), "{asked:?}");
    }
}

#[test]
fn a_message_that_follows_a_put_finds_what_was_put() {
    let pair = pair();
    let memory = Memory::anonymous(1 << 20);
    pair.regions.add(Some(1), region(&memory, BOTH));
    let wanted = Wanted {
        lane: Lane::Plain,
        from: Source::Any,
        tag: Tag::ANY,
    };
    let label = Label {
        lane: Lane::Plain,
        tag: 0,
        data: None,
    };
    for round in 0..10_usize {
        // Longer than the ring: the message behind it has to wait for all pieces.
        pair.ask(
            Deed::Put { data: None },
            &[place(1, 0, 1 << 20)],
            vec![round as u8; 1 << 20],
        );
        // The short way is closed until then, except where the owner copies the bytes. The owner says
        // with its first answer that it can.
        let is_first = round == 0;
        let at_once = !is_first && pair.asks.send_at_once(1, label, b"put").unwrap();
        assert!(!is_first || !pair.asks.send_at_once(1, label, b"put").unwrap());
        if !at_once {
            pair.asks.send(1, label, Box::new(b"put".to_vec())).unwrap();
        }
        let ends = if at_once { 1 } else { 2 };
        pair.owns.receive(wanted, Box::new(vec![0_u8; 8])).unwrap();
        let deadline = Instant::now() + SOON;
        let (mut ended, mut has_come) = (0, false);
        while ended < ends || !has_come {
            ended += usize::from(pair.asks.poll().unwrap().is_some());
            if pair.owns.poll().unwrap().is_some() {
                has_come = true;
                assert!(whole(&memory).iter().all(|byte| *byte == round as u8));
            }
            assert!(Instant::now() < deadline, "{ended} {has_come}");
        }
    }
}

#[derive(Default)]
struct Counts([AtomicUsize; 2]);

impl Witness for Counts {
    fn ended(&self, did: Rights) {
        self.0[0].fetch_add(did.read.into(), Ordering::Relaxed);
        self.0[1].fetch_add(did.write.into(), Ordering::Relaxed);
    }
}

#[test]
fn data_come_as_events_and_witnesses_count() {
    for pair in [pair(), pair_of_hosts()] {
        let memory = Memory::anonymous(64 << 10);
        pair.regions.add(Some(1), region(&memory, BOTH));
        let counts = Arc::<Counts>::default();
        assert!(
            pair.regions
                .watch(1, Arc::clone(&counts) as Arc<dyn Witness>)
        );
        for (data, len) in [(u64::MAX, 0), (0, 5), (7, 40_000)] {
            let put = Deed::Put { data: Some(data) };
            pair.ask(put, &[place(1, 0, len)], vec![1; len]);
            pair.next().result.unwrap();
            let event = Event {
                from: 1,
                data,
                len_bytes: len,
            };
            assert_eq!(pair.owns.take_event(), Some(event));
        }
        assert_eq!(pair.owns.take_event(), None);
        for len in [1, KEPT_BYTES_MAX, 50_000] {
            pair.got(&[place(1, 0, len)], len).unwrap();
        }
        let [read, written] = &counts.0;
        assert_eq!(
            (
                read.load(Ordering::Relaxed),
                written.load(Ordering::Relaxed)
            ),
            (3, 3)
        );
        // A put that is refused is no event.
        pair.ask(Deed::Put { data: Some(1) }, &[place(2, 0, 1)], vec![1]);
        assert!(pair.next().result.is_err());
        assert_eq!(pair.owns.take_event(), None);
    }
}

/// If nobody takes the events of many puts with data, only some of the puts end. The rest end when the
/// events are taken.
#[test]
fn events_that_nobody_takes_hold_puts_back() {
    const PUTS: usize = 3000;
    let pair = pair();
    for data in 0..PUTS as u64 {
        pair.ask(Deed::Put { data: Some(data) }, &[], Vec::new());
    }
    let mut ended = 0;
    for _ in 0..20_000 {
        ended += usize::from(pair.asks.poll().unwrap().is_some());
        assert!(pair.owns.poll().unwrap().is_none());
    }
    assert!((1..2000).contains(&ended), "{ended} have ended");
    let mut taken = 0;
    let deadline = Instant::now() + SOON;
    while taken < PUTS as u64 || ended < PUTS {
        take_uses(&pair.owns);
        if let Some(event) = pair.owns.take_event() {
            assert_eq!(event.data, taken);
            taken += 1;
        }
        ended += usize::from(pair.asks.poll().unwrap().is_some());
        assert!(pair.owns.poll().unwrap().is_none());
        assert!(Instant::now() < deadline);
    }
}

#[test]
fn events_that_are_left_end_no_wait() {
    let pair = pair();
    pair.ask(Deed::Put { data: Some(1) }, &[], Vec::new());
    pair.next().result.unwrap();
    take_uses(&pair.owns);
    assert_eq!(pair.owns.events(), 1);
    let begin = Instant::now();
    let limit = Duration::from_millis(20);
    let done = pair.owns.wait_unless(limit, 1, || false);
    assert!(done.unwrap().is_none() && begin.elapsed() >= limit);
    let begin = Instant::now();
    let done = pair.owns.wait_unless(SOON, 0, || false);
    assert!(done.unwrap().is_none() && begin.elapsed() < SOON);
}

#[test]
fn a_station_uses_its_own_memory() {
    let regions = Arc::<MemoryRegions>::default();
    let station = Station::with(Arc::clone(&regions)).unwrap();
    let memory = Memory::anonymous(100);
    regions.add(Some(1), region(&memory, BOTH));
    let ask = |deed, len| {
        let buffer = Box::new(vec![9_u8; len]);
        station
            .ask(0, deed, vec![place(1, 96, len)], buffer)
            .unwrap();
        next(&station, &[])
    };
    ask(Deed::Put { data: Some(3) }, 4).result.unwrap();
    assert_eq!(station.take_event().map(|event| event.data), Some(3));
    assert_eq!(bytes(ask(Deed::Get, 4)), [9; 4]);
    assert!(ask(Deed::Get, 5).result.is_err());
}

#[test]
fn an_owner_that_ends_fails_what_waits_for_it() {
    for pair in [pair(), pair_of_hosts()] {
        let memory = Memory::anonymous(1 << 20);
        pair.regions.add(Some(1), region(&memory, BOTH));
        pair.is_put(&[place(1, 0, 1)], vec![1]).unwrap();
        pair.ask(Deed::Get, &[place(1, 0, 1 << 20)], vec![0; 1 << 20]);
        pair.ask(Deed::Put { data: None }, &[place(1, 0, 8)], vec![0; 8]);
        drop(pair.owns);
        for _ in 0..2 {
            let done = next(&pair.asks, &[]);
            assert!(matches!(done.result, Err(Error::PeerLost { pe: 1, .. })));
        }
        let after = pair
            .asks
            .ask(1, Deed::Get, Vec::new(), Box::new(Vec::<u8>::new()));
        assert!(matches!(after, Err(Error::PeerLost { pe: 1, .. })));
    }
}

/// Both ask for more than the rings take, and neither looks before it has asked.
#[test]
fn two_that_ask_each_other_do_not_block() {
    const LEN: usize = 100_000;
    let both = [
        Arc::<MemoryRegions>::default(),
        Arc::<MemoryRegions>::default(),
    ];
    let stations = both.clone().map(|regions| Station::with(regions).unwrap());
    let memory = Memory::anonymous(2 * LEN);
    for (at, regions) in both.iter().enumerate() {
        regions.add(Some(1), region(&memory, BOTH));
        assert_eq!(stations[at].number(&stations[1 - at].name()), Ok(1));
    }
    const EACH: usize = 100;
    for station in &stations {
        for at in 0..EACH {
            let deed = match at % 2 {
                0 => Deed::Get,
                _ => Deed::Put { data: None },
            };
            let places = vec![place(1, at as u64, LEN)];
            station
                .ask(1, deed, places, Box::new(vec![0_u8; LEN]))
                .unwrap();
        }
    }
    let mut ended = [0, 0];
    let deadline = Instant::now() + SOON;
    while ended != [EACH, EACH] {
        for (ended, station) in ended.iter_mut().zip(&stations) {
            if let Some(done) = station.poll().unwrap() {
                done.result.unwrap();
                *ended += 1;
            }
        }
        assert!(Instant::now() < deadline, "{ended:?}");
    }
}

/// Stations of two processes add to the same numbers: nothing is lost.
#[test]
fn additions_of_several_peers_all_count() {
    const EACH: u64 = 500;
    let regions = Arc::<MemoryRegions>::default();
    let owns = Station::with(Arc::clone(&regions)).unwrap();
    let memory = Memory::anonymous(64);
    regions.add(Some(1), region(&memory, BOTH));
    let name = owns.name();
    let atomic = Atomic::new(Number::U64, Change::Sum).unwrap();
    let add = move |station: &Station, owner| {
        let deed = Deed::Atomic {
            atomic,
            operands: 1_u64.to_ne_bytes().to_vec(),
            compares: Vec::new(),
            wants_old: true,
        };
        let buffer = Box::new(vec![0_u8; 8]);
        station
            .ask(owner, deed, vec![place(1, 8, 8)], buffer)
            .unwrap();
    };
    let others: Vec<_> = (0..2)
        .map(|_| {
            std::thread::spawn(move || {
                let station = Station::open().unwrap();
                assert_eq!(station.number(&name), Ok(1));
                let mut last = None;
                for _ in 0..EACH {
                    add(&station, 1);
                }
                for _ in 0..EACH {
                    let old = bytes(next(&station, &[]));
                    let old = u64::from_ne_bytes(old.try_into().unwrap());
                    assert!(Some(old) > last || last.is_none());
                    last = Some(old);
                }
            })
        })
        .collect();
    for _ in 0..EACH {
        add(&owns, 0);
        assert!(next(&owns, &[]).result.is_ok());
    }
    while !others.iter().all(std::thread::JoinHandle::is_finished) {
        assert!(owns.wait(Duration::from_millis(1)).unwrap().is_none());
        take_uses(&owns);
    }
    for other in others {
        other.join().unwrap();
    }
    let sum = memory.word(8).unwrap().load(Ordering::Relaxed);
    assert_eq!(sum, 3 * EACH);
}

/// Takes the events of a station's memory.
fn take_uses(station: &Station) {
    while let Some(used) = station.take_use() {
        for witness in used.witnesses {
            witness.ended(used.did);
        }
    }
}

/// What a peer does, as the model sees it.
#[derive(Debug, Clone)]
enum Step {
    Put(usize, Vec<u8>),
    Get(usize, usize),
    Add(usize, u32),
    Swap(usize, u32, u32),
}

const BYTES: usize = 30_000;

fn step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![0..100_usize, 4000..10_000_usize];
    let at = 0..BYTES + 20;
    prop_oneof![
        (at.clone(), len.clone(), any::<u8>())
            .prop_map(|(at, len, seed)| Step::Put(at, pattern(len, seed.into()))),
        (at.clone(), len).prop_map(|(at, len)| Step::Get(at, len)),
        (at, any::<u32>()).prop_map(|(at, by)| Step::Add(at, by)),
        (0..8_usize, 0..3_u32, 0..3_u32).prop_map(|(at, old, new)| Step::Swap(at * 4, old, new)),
    ]
}

/// Does the step on plain bytes. Returns its result, or nothing if it is refused.
fn model(memory: &mut [u8], step: &Step) -> Option<Vec<u8>> {
    let mut change = |at: usize, new: &dyn Fn(u32) -> u32| {
        let bytes = memory.get_mut(at..at + 4)?;
        let old: [u8; 4] = (&*bytes).try_into().unwrap();
        bytes.copy_from_slice(&new(u32::from_ne_bytes(old)).to_ne_bytes());
        Some(old.to_vec())
    };
    match step {
        Step::Put(_, bytes) if bytes.is_empty() => Some(Vec::new()),
        Step::Get(_, 0) => Some(Vec::new()),
        Step::Put(at, bytes) => {
            let room = memory.get_mut(*at..at + bytes.len())?;
            room.copy_from_slice(bytes);
            Some(Vec::new())
        }
        Step::Get(at, len) => memory.get(*at..at + len).map(<[u8]>::to_vec),
        Step::Add(at, by) => change(*at, &|old| old.wrapping_add(*by)),
        Step::Swap(at, from, to) => change(*at, &|old| if old == *from { *to } else { old }),
    }
}

fn deed(step: &Step) -> (Deed, usize, usize, Vec<u8>) {
    let atomic = |change, operand: u32, compares| Deed::Atomic {
        atomic: Atomic::new(Number::U32, change).unwrap(),
        operands: operand.to_ne_bytes().to_vec(),
        compares,
        wants_old: true,
    };
    match step {
        Step::Put(at, bytes) => (Deed::Put { data: None }, *at, bytes.len(), bytes.clone()),
        Step::Get(at, len) => (Deed::Get, *at, *len, vec![0; *len]),
        Step::Add(at, by) => (atomic(Change::Sum, *by, Vec::new()), *at, 4, vec![0; 4]),
        Step::Swap(at, from, to) => {
            let compare = from.to_ne_bytes().to_vec();
            (
                atomic(Change::CompareEqual, *to, compare),
                *at,
                4,
                vec![0; 4],
            )
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// All operations of a peer are done in their order, whatever they are. Gets of more than the owner
    /// keeps are waited for, because their order with later puts is not promised.
    #[test]
    fn operations_are_done_in_order(
        all in prop::collection::vec((0..2_usize, step()), 1..60),
        hosts in prop::option::of([1..4_u64, 1..4, 1..4]),
    ) {
        let regions = Arc::<MemoryRegions>::default();
        let open = |host: usize, regions| match hosts {
            None => Station::with(regions).unwrap(),
            Some(hosts) => Station::open_on_host(hosts[host], regions).unwrap(),
        };
        let owns = open(0, Arc::clone(&regions));
        let stations = [1, 2].map(|host| open(host, Arc::default()));
        let memories = [Memory::anonymous(BYTES), Memory::anonymous(BYTES)];
        let mut models = [vec![0; BYTES], vec![0; BYTES]];
        let mut expected = [HashMap::new(), HashMap::new()];
        for (key, memory) in memories.iter().enumerate() {
            regions.add(Some(key as u64), region(memory, BOTH));
            assert_eq!(stations[key].number(&owns.name()), Ok(1));
        }
        let check = |who: usize, done: Finished, expected: &mut HashMap<Ticket, Option<Vec<u8>>>| {
            let model = expected.remove(&done.ticket).unwrap();
            let is_put = model.as_ref().is_some_and(Vec::is_empty);
            let got = done.result.clone().ok().map(|_| bytes(done));
            assert!(if is_put { got.is_some() } else { got == model }, "station {who}");
        };
        for (who, step) in &all {
            let (deed, at, len, buffer) = deed(step);
            let waits = matches!(step, Step::Get(..)) && len > KEPT_BYTES_MAX;
            let places = vec![place(*who as u64, at as u64, len)];
            let ticket = stations[*who].ask(1, deed, places, Box::new(buffer)).unwrap();
            expected[*who].insert(ticket, model(&mut models[*who], step));
            while waits && expected[*who].contains_key(&ticket) {
                let done = next(&stations[*who], &[&owns]);
                check(*who, done, &mut expected[*who]);
            }
        }
        for (who, expected) in expected.iter_mut().enumerate() {
            while !expected.is_empty() {
                check(who, next(&stations[who], &[&owns]), expected);
            }
        }
        for (memory, model) in memories.iter().zip(&models) {
            prop_assert!(whole(memory) == *model);
        }
    }
}
