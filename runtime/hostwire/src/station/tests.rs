//! Peers that break the protocol.

mod rooms;
mod scribble;

use std::time::Instant;

use hostwire_station::News;
use hostwire_transport::ring::{CreditInlet, Outlet, RingSender};
use hostwire_transport::{EnvironmentFault, TransportError};

use super::*;
use crate::layout::Mail;

const SOON: Duration = Duration::from_secs(60);
/// What the one that breaks the protocol is called.
const BAD: PeId = 1;
const GOOD: PeId = 2;

/// A station without what keeps to the protocol, and its way into the ring of another.
struct Bad {
    wire: Arc<Stations>,
    ring: RingSender<Outlet, CreditInlet>,
}

impl Bad {
    /// One that has met `other`, which calls it [`BAD`].
    fn beside(other: &Station) -> Self {
        let layout = Layout::new(PEERS_MAX, SIZES).unwrap();
        let terms = Terms {
            version: layout::VERSION,
            segment_bytes: layout.segment_bytes() as u64,
        };
        let wire = Arc::new(Stations::open(terms, Options::within_host()).unwrap());
        assert_eq!(other.number(&wire.name()), Ok(BAD));
        let pe = wire.number(&other.name()).unwrap();
        wire.meet(pe).unwrap();
        let slots = layout.slots();
        let shared = Arc::clone(&wire) as Arc<dyn Wire>;
        let outlet = Outlet::new(&shared, pe, layout.ring(BAD), slots).unwrap();
        let credit = CreditInlet::new(wire.segment(), layout.mail(pe, Mail::Credit)).unwrap();
        let ring = RingSender::new(outlet, credit, pe, slots);
        Self { wire, ring }
    }

    fn says(&mut self, kind: u8, bytes: &[u8]) {
        assert!(self.ring.try_send(kind, 0, bytes).unwrap());
    }

    fn sees_it_go(&self) {
        let deadline = Instant::now() + SOON;
        while !self.wire.take_news().contains(&News::Ended(1)) {
            assert!(Instant::now() < deadline, "the connection stays");
            std::thread::yield_now();
        }
    }
}

fn label(tag: u64) -> Label {
    Label {
        lane: Lane::Tagged,
        tag,
        data: None,
    }
}

fn wanted(from: Source) -> Wanted {
    Wanted {
        lane: Lane::Tagged,
        from,
        tag: Tag::ANY,
    }
}

fn room() -> Box<dyn Buffer> {
    Box::new(vec![0_u8; 16])
}

fn next(station: &Station) -> Finished {
    let done = station.wait(SOON).unwrap();
    done.expect("something ends within a minute")
}

fn is_misbehaviour<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::PeerMisbehaved { pe: BAD, .. }))
}

/// What no correct peer says: a message without its beginning, the announcement of one before that which
/// has to come, one that is too short, and an answer that nobody asked for.
fn all() -> [(u8, Vec<u8>); 4] {
    let mut early = vec![0; 40];
    early[0] = 7;
    early[16..24].fill(0xff);
    [(5, vec![1]), (3, early), (3, vec![0; 8]), (6, vec![1; 8])]
}

#[test]
fn who_breaks_the_protocol_costs_what_needs_it_and_nothing_else() {
    for (kind, bytes) in all() {
        let (here, good) = (Station::open().unwrap(), Station::open().unwrap());
        let mut bad = Bad::beside(&here);
        assert_eq!(here.number(&good.name()), Ok(GOOD));
        assert_eq!(good.number(&here.name()), Ok(1));
        let anybody = here.receive(wanted(Source::Any), room()).unwrap();
        let from_bad = here.receive(wanted(Source::Pe(BAD)), room()).unwrap();
        bad.says(kind, &bytes);
        let done = next(&here);
        assert_eq!(done.ticket, from_bad, "{kind}");
        assert!(is_misbehaviour(done.result), "{kind}");
        assert!(done.buffer.is_some());
        assert!(good.send_at_once(1, label(3), b"well").unwrap());
        let done = next(&here);
        assert_eq!(done.ticket, anybody);
        assert_eq!(done.result.unwrap().from, GOOD);
        assert!(is_misbehaviour(here.send_at_once(BAD, label(3), b"x")));
        assert!(here.send_at_once(GOOD, label(3), b"x").unwrap());
        bad.sees_it_go();
    }
}

#[test]
fn who_looks_for_messages_finds_those_of_others() {
    for (kind, bytes) in all() {
        let (here, good) = (Station::open().unwrap(), Station::open().unwrap());
        let mut bad = Bad::beside(&here);
        assert_eq!(here.number(&good.name()), Ok(GOOD));
        assert_eq!(good.number(&here.name()), Ok(1));
        assert!(good.send_at_once(1, label(3), b"first").unwrap());
        assert!(good.send_at_once(1, label(4), b"second").unwrap());
        bad.says(kind, &bytes);
        // That the two have met is heard of a moment later.
        let (claim, envelope) = loop {
            if let Some(claimed) = here.claim(wanted(Source::Any)).unwrap() {
                break claimed;
            }
        };
        assert_eq!(envelope.from, GOOD);
        here.receive_claimed(claim, Some(room())).unwrap();
        assert_eq!(next(&here).result.unwrap().tag, 3);
        here.receive(wanted(Source::Any), room()).unwrap();
        assert_eq!(next(&here).result.unwrap().tag, 4);
        assert_eq!(here.peek(wanted(Source::Any)), Ok(None));
        assert!(is_misbehaviour(here.send(BAD, label(3), room())), "{kind}");
        bad.sees_it_go();
    }
}

/// The receive was there before, and nobody else would end it.
#[test]
fn what_waits_for_a_station_that_cannot_be_met_fails() {
    let (here, good) = (Station::open().unwrap(), Station::open().unwrap());
    let other = Terms {
        version: layout::VERSION + 1,
        ..terms().unwrap()
    };
    let other = Stations::open(other, Options::within_host()).unwrap();
    assert_eq!(here.number(&other.name()), Ok(BAD));
    assert_eq!(here.number(&good.name()), Ok(GOOD));
    let from_good = here.receive(wanted(Source::Pe(GOOD)), room()).unwrap();
    // Twice: that it was tried is no end.
    for _ in 0..2 {
        let waits = here.receive(wanted(Source::Pe(BAD)), room()).unwrap();
        let error = here.send_at_once(BAD, label(3), b"x").unwrap_err();
        assert!(matches!(error, Error::Environment { .. }), "{error}");
        let done = next(&here);
        assert_eq!((done.ticket, done.result), (waits, Err(error)));
        assert!(done.buffer.is_some());
    }
    assert_eq!(good.number(&here.name()), Ok(1));
    assert!(good.send_at_once(1, label(3), b"well").unwrap());
    assert_eq!(next(&here).ticket, from_good);
}

/// It has come by itself while it was called in vain.
#[test]
fn what_waits_for_a_station_that_was_met_meanwhile_goes_on() {
    let (here, good) = (Station::open().unwrap(), Station::open().unwrap());
    assert_eq!(here.number(&good.name()), Ok(1));
    assert_eq!(good.number(&here.name()), Ok(1));
    here.meet(1).unwrap();
    let waits = here.receive(wanted(Source::Pe(1)), room()).unwrap();
    let fault = EnvironmentFault::unexpected("an answer", "none");
    let error = TransportError::environment("meeting station 1", fault);
    assert_eq!(here.not_met(1, error.into()), Ok(()));
    assert!(good.send_at_once(1, label(3), b"well").unwrap());
    let done = next(&here);
    assert_eq!((done.ticket, done.result.is_ok()), (waits, true));
}

/// Until it has heard of a station, nothing is taken out of the ring of that one, which begins anew then: it would come twice.
#[test]
fn what_comes_before_the_news_of_its_sender_stays_in_the_ring() {
    let (here, other) = (Station::open().unwrap(), Station::open().unwrap());
    let from = here.number(&other.name()).unwrap();
    let to = other.number(&here.name()).unwrap();
    // The two meet by a thread, and what makes progress here has not looked for news.
    while !other.send_at_once(to, label(7), b"x").unwrap() {}
    let pattern = wanted(Source::Pe(from)).pattern();
    let taken = here.inner.messages().receive_short(&pattern, &mut [0; 8]);
    assert!(taken.is_none());
    let ticket = here.receive(wanted(Source::Pe(from)), room()).unwrap();
    let done = next(&here);
    assert_eq!((done.ticket, done.result.unwrap().len_bytes), (ticket, 1));
    assert!(here.poll().unwrap().is_none());
}

/// A send that is confirmed ends when its receiver has taken it: a short one to keep it for a receive, a long
/// one not before there is a receive. To this station itself it is taken at once.
#[test]
fn a_confirmed_send_ends_when_it_is_taken() {
    let (here, there) = (Station::open().unwrap(), Station::open().unwrap());
    assert_eq!(here.number(&there.name()), Ok(1));
    let sent = |len: u64| {
        let done = here.poll().unwrap()?;
        assert!(!done.is_receive);
        assert_eq!(done.result.unwrap().len_bytes as u64, len);
        Some(done.ticket)
    };
    for len in [0, 5, 9000, 60_000, 600_000] {
        let start = || here.send_confirmed(1, label(len), Box::new(vec![7_u8; len as usize]));
        let tickets = [start().unwrap(), start().unwrap()];
        for _ in 0..100 {
            assert_eq!(sent(len), None, "{len}: nobody has looked");
        }
        assert_eq!(here.cancel(tickets[0]), Ok(false));
        let is_short = len < 10_000;
        let mut ended = Vec::new();
        let deadline = Instant::now() + SOON;
        let mut turns = 0;
        // That the two have met is heard of a moment later.
        while turns < 100 || (is_short && ended.len() < 2) {
            assert!(there.poll().unwrap().is_none());
            ended.extend(sent(len));
            turns += 1;
            assert!(Instant::now() < deadline, "{len}");
        }
        assert_eq!(ended.len(), if is_short { 2 } else { 0 }, "{len}");
        for _ in 0..2 {
            let room = Box::new(vec![0_u8; len as usize]);
            there.receive(wanted(Source::Any), room).unwrap();
        }
        let mut received = 0;
        while ended.len() < 2 || received < 2 {
            ended.extend(sent(len));
            received += usize::from(there.poll().unwrap().is_some());
        }
        assert_eq!(ended, tickets);
    }
    let own = here.send_confirmed(0, label(5), Box::new(vec![7_u8; 5]));
    assert_eq!(sent(5), own.ok());
}

/// More of them than may wait for an answer.
#[test]
fn a_flood_of_confirmed_sends_ends() {
    const COUNT: u64 = 3000;
    let (here, there) = (Station::open().unwrap(), Station::open().unwrap());
    assert_eq!(here.number(&there.name()), Ok(1));
    for tag in 0..COUNT {
        let bytes = Box::new(tag.to_le_bytes().to_vec());
        here.send_confirmed(1, label(tag), bytes).unwrap();
    }
    let (mut ended, mut received, mut posted) = (0, 0, 0);
    while ended < COUNT || received < COUNT {
        ended += u64::from(here.poll().unwrap().is_some());
        if let Some(done) = there.poll().unwrap() {
            assert_eq!(done.result.unwrap().tag, received);
            received += 1;
        }
        if posted < COUNT && posted == received {
            there
                .receive(wanted(Source::Any), Box::new(vec![0_u8; 8]))
                .unwrap();
            posted += 1;
        }
    }
    assert_eq!(ended, COUNT);
}

/// Those that are held announce messages without bytes, too.
#[test]
fn a_flood_of_messages_without_bytes_is_received() {
    const COUNT: u64 = 4000;
    let (here, there) = (Station::open().unwrap(), Station::open().unwrap());
    assert_eq!(here.number(&there.name()), Ok(1));
    for tag in 0..COUNT {
        here.send(1, label(tag), Box::new(Vec::<u8>::new()))
            .unwrap();
        there.peek(wanted(Source::Pe(0))).unwrap();
    }
    for tag in 0..COUNT {
        there.receive(wanted(Source::Any), room()).unwrap();
        let envelope = loop {
            while here.poll().unwrap().is_some() {}
            if let Some(done) = there.poll().unwrap() {
                break done.result.unwrap();
            }
        };
        assert_eq!(envelope.tag, tag);
    }
}

/// What is said about memory, and makes no sense: the one who says it is parted from, whatever it is, and
/// nothing is done.
#[test]
fn messages_about_memory_that_make_no_sense_are_refused() {
    let place = |len: u64| [7_u64, 0, len].map(u64::to_le_bytes).concat();
    let header = |first: [u8; 5], word: u64| {
        let mut bytes = [&first[..], &[0; 3]].concat();
        bytes.extend_from_slice(&word.to_le_bytes());
        bytes
    };
    let with = |first: [u8; 5], word: u64, rest: &[&[u8]]| {
        let rest = rest.concat();
        [header(first, word), rest].concat()
    };
    for (what, bytes) in [
        ("no header", vec![1; 9]),
        ("no such word", header([11, 0, 0, 0, 0], 0)),
        (
            "an address that is cut off",
            with([8, 0, 0, 0, 1], 0, &[&place(2), &[0; 7]]),
        ),
        ("too many places", with([1, 0, 0, 0, 5], 0, &[&[0; 120]])),
        (
            "a place that is cut off",
            with([3, 0, 0, 0, 1], 0, &[&[0; 23]]),
        ),
        (
            "a length beyond all memory",
            with([3, 0, 0, 0, 1], 0, &[&place(u64::MAX)]),
        ),
        (
            "more bytes than the places",
            with([1, 0, 0, 0, 1], 0, &[&place(2), b"abc"]),
        ),
        (
            "a put without bytes",
            with([1, 0, 0, 0, 1], 0, &[&place(2)]),
        ),
        ("a piece of no put", with([2, 0, 0, 0, 0], 0, &[b"abc"])),
        (
            "no such number",
            with([4, 0, 12, 2, 1], 0, &[&place(8), &[0; 8]]),
        ),
        (
            "no such change",
            with([4, 0, 7, 19, 1], 0, &[&place(8), &[0; 8]]),
        ),
        (
            "bits of floats",
            with([4, 0, 9, 6, 1], 0, &[&place(8), &[0; 8]]),
        ),
        (
            "half a number",
            with([4, 0, 7, 2, 1], 0, &[&place(4), &[0; 4]]),
        ),
        ("no operand", with([4, 0, 7, 2, 1], 0, &[&place(8)])),
        ("an answer to nothing", header([5, 0, 0, 0, 0], 1)),
        ("no answers", header([5, 0, 0, 0, 0], 0)),
        ("bytes for nothing", with([6, 0, 0, 0, 0], 0, &[b"abc"])),
        ("a refusal of nothing", header([7, 0, 0, 0, 0], 1)),
        ("a refusal without a reason", header([7, 0, 0, 0, 0], 9)),
        (
            "an address for nothing",
            with([9, 0, 0, 0, 0], 0, &[&[0; 8]]),
        ),
        ("a copy of nothing", header([10, 0, 0, 0, 0], 1)),
        ("neither a copy nor none", header([10, 0, 0, 0, 0], 2)),
    ] {
        let station = Station::open().unwrap();
        let mut bad = Bad::beside(&station);
        bad.says(6, &bytes);
        let deadline = Instant::now() + SOON;
        while station.parted().is_empty() {
            assert!(station.poll().unwrap().is_none());
            assert!(Instant::now() < deadline, "{what}");
        }
        assert!(station.take_use().is_none(), "{what}");
    }
}

/// Where nothing is, nothing is copied from.
#[test]
fn a_put_from_nowhere_changes_nothing_and_ends() {
    let regions = Arc::<MemoryRegions>::default();
    let memory = hostwire_transport::Memory::anonymous(4096);
    let region = MemoryRegion {
        memory: memory.clone(),
        first: 0,
        rights: Rights::WRITE,
        witness: None,
    };
    assert_eq!(regions.add(Some(7), region), Some(7));
    let station = Station::with(regions).unwrap();
    let mut bad = Bad::beside(&station);
    let words = [1 << 32 | 8, 0, 7, 0, 4096, 8_u64];
    bad.says(6, &words.map(u64::to_le_bytes).concat());
    bad.says(1, b"behind it");
    station.receive(wanted(Source::Any), room()).unwrap();
    assert_eq!(next(&station).result.unwrap().len_bytes, 9);
    assert!(station.parted().is_empty());
    assert!(station.take_use().is_none());
    let mut now = vec![1; 4096];
    memory.copy_out(0, &mut now).unwrap();
    assert_eq!(now, [0; 4096]);
}

/// One that waits for `len_bytes` of memory of another, which it has said that it can copy.
fn waits_for_long_get(len_bytes: usize) -> (Station, Bad) {
    let station = Station::open().unwrap();
    let bad = Bad::beside(&station);
    // So they have met.
    while !station.send_at_once(BAD, label(1), b"x").unwrap() {}
    let place = RegionRange {
        key: 7,
        at: 0,
        len: len_bytes as u64,
    };
    let room = Box::new(vec![0_u8; len_bytes]);
    station.ask(BAD, Deed::Get, vec![place], room).unwrap();
    (station, bad)
}

/// Where nothing is to be copied from, the bytes come through the ring.
#[test]
fn a_get_from_nowhere_comes_in_pieces() {
    let (station, mut bad) = waits_for_long_get(70_000);
    bad.says(6, &[9, 0, 8].map(u64::to_le_bytes).concat());
    assert!(station.poll().unwrap().is_none());
    for piece in 0..14 {
        assert!(station.poll().unwrap().is_none());
        bad.says(6, &[&6_u128.to_le_bytes()[..], &[piece; 5000]].concat());
    }
    let done = next(&station);
    assert_eq!(done.result.unwrap().len_bytes, 70_000);
    let bytes = done.buffer.unwrap();
    let is_piece = |(piece, bytes): (u8, &[u8])| bytes.iter().all(|byte| *byte == piece);
    assert!((0..).zip(bytes.bytes().chunks(5000)).all(is_piece));
    assert!(station.parted().is_empty());
}

#[test]
fn answers_to_a_long_get_that_make_no_sense_are_refused() {
    for (what, words) in [
        ("no address", vec![9, 0]),
        ("two addresses for one place", vec![9, 0, 8, 8]),
        ("an end before the bytes", vec![5, 1]),
    ] {
        let (station, mut bad) = waits_for_long_get(70_000);
        let words: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        bad.says(6, &words);
        let done = next(&station);
        assert!(is_misbehaviour(done.result), "{what}");
        assert!(!station.parted().is_empty(), "{what}");
    }
}

/// Who asks, and takes no answers, gets no more than it is owed.
#[test]
fn operations_without_end_are_refused() {
    let station = Station::open().unwrap();
    let mut bad = Bad::beside(&station);
    let get = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let deadline = Instant::now() + SOON;
    while station.parted().is_empty() {
        let _ = bad.ring.try_send(6, 0, &get).unwrap();
        let _ = station.poll().unwrap();
        assert!(Instant::now() < deadline);
    }
}
