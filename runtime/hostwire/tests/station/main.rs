//! Stations: processes, and threads here, that find each other by names.
#![cfg(target_os = "linux")]

mod processes;
mod several;
mod short;

use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire::station::{Finished, Glance, Label, Lane, Station, Wanted};
use hostwire::{Error, PeId, Source, Tag, Ticket};
use proptest::prelude::*;

const SOON: Duration = Duration::from_secs(60);

fn tagged(tag: u64) -> Label {
    Label {
        lane: Lane::Tagged,
        tag,
        data: None,
    }
}

fn any(lane: Lane) -> Wanted {
    Wanted {
        lane,
        from: Source::Any,
        tag: Tag::ANY,
    }
}

/// The next completion, by a look or by a turn.
fn looked_for(station: &Station) -> Option<Finished> {
    match station.glance() {
        Glance::Received(received) => Some(Finished {
            ticket: received.ticket,
            is_receive: true,
            result: Ok(received.envelope),
            buffer: Some(received.buffer),
        }),
        Glance::Nothing | Glance::More => station.poll().unwrap(),
    }
}

/// The next completion at `station`, while the others make progress as well.
fn next(station: &Station, others: &[&Station]) -> Finished {
    let deadline = Instant::now() + SOON;
    loop {
        if let Some(done) = looked_for(station) {
            return done;
        }
        for other in others {
            // This does not take their completions.
            let _ = other.peek(any(Lane::Tagged)).unwrap();
        }
        assert!(Instant::now() < deadline, "nothing ended in a minute");
    }
}

fn bytes(done: Finished) -> Vec<u8> {
    let len = done.result.unwrap().len_bytes;
    let buffer = done.buffer.unwrap().into_any();
    let mut bytes = *buffer.downcast::<Vec<u8>>().unwrap();
    bytes.truncate(len);
    bytes
}

fn receive(station: &Station, wanted: Wanted, room: usize) -> Ticket {
    station.receive(wanted, Box::new(vec![0_u8; room])).unwrap()
}

/// Two stations that know each other: each has number 1 at the other.
fn pair() -> (Station, Station) {
    acquainted(Station::open().unwrap(), Station::open().unwrap())
}

/// Two stations that do not copy from each other's memory.
fn pair_apart() -> (Station, Station) {
    acquainted(
        Station::open_apart().unwrap(),
        Station::open_apart().unwrap(),
    )
}

/// Two stations that believe to be on different hosts.
fn pair_of_hosts() -> (Station, Station) {
    acquainted(on_host(1), on_host(2))
}

fn on_host(host: u64) -> Station {
    Station::open_on_host(host, Arc::default()).unwrap()
}

fn acquainted(a: Station, b: Station) -> (Station, Station) {
    assert_eq!(a.number(&b.name()), Ok(1));
    assert_eq!(b.number(&a.name()), Ok(1));
    (a, b)
}

#[test]
fn messages_of_all_lengths_arrive_whole_and_in_order() {
    for (a, b) in [pair(), pair_of_hosts()] {
        let lengths = [0, 1, 56, 57, 4000, 8000, 9000, 70_000, 300_000, 3 << 20];
        for (at, len) in (0..).zip(lengths) {
            let message: Vec<u8> = (0..len).map(|i| (i * 7 + at) as u8).collect();
            a.send(1, tagged(at as u64), Box::new(message)).unwrap();
        }
        for (at, len) in (0..).zip(lengths) {
            receive(&b, any(Lane::Tagged), 4 << 20);
            let done = next(&b, &[&a]);
            let envelope = done.result.clone().unwrap();
            assert_eq!(
                (envelope.from, envelope.tag, envelope.len_bytes),
                (1, at as u64, len)
            );
            let expected: Vec<u8> = (0..len).map(|i| (i * 7 + at) as u8).collect();
            assert!(bytes(done) == expected, "message {at}");
        }
        for _ in lengths {
            assert!(!next(&a, &[&b]).is_receive);
        }
    }
}

/// How many times the receiver alone makes progress.
const ALONE: usize = 1000;

#[test]
fn a_long_message_is_copied_once_by_its_receiver_alone() {
    let (a, b) = pair();
    let message: Vec<u8> = (0..5_000_001).map(|i| (i * 7) as u8).collect();
    a.send(1, tagged(1), Box::new(message.clone())).unwrap();
    receive(&b, any(Lane::Tagged), 6_000_000);
    // The sender makes no progress. The news that the two have met comes a moment later.
    let begin = Instant::now();
    let done = loop {
        if let Some(done) = b.poll().unwrap() {
            break done;
        }
        assert!(begin.elapsed() < Duration::from_secs(60));
    };
    assert!(bytes(done) == message);
    assert!(!next(&a, &[&b]).is_receive);
}

#[test]
fn stations_apart_need_both_sides_for_it() {
    for (a, b) in [
        pair_apart(),
        acquainted(Station::open().unwrap(), Station::open_apart().unwrap()),
        acquainted(Station::open_apart().unwrap(), Station::open().unwrap()),
    ] {
        let message: Vec<u8> = (0..700_000).map(|i| (i * 7) as u8).collect();
        a.send(1, tagged(1), Box::new(message.clone())).unwrap();
        receive(&b, any(Lane::Tagged), 700_000);
        assert!((0..ALONE).all(|_| b.poll().unwrap().is_none()));
        assert!(bytes(next(&b, &[&a])) == message);
    }
}

#[test]
fn a_sender_that_ends_while_it_is_copied_from_is_lost() {
    let (a, b) = pair();
    a.send(1, tagged(1), Box::new(vec![5_u8; 64 << 20]))
        .unwrap();
    receive(&b, any(Lane::Tagged), 64 << 20);
    // The message has begun to go in pieces.
    assert!(b.poll().unwrap().is_none());
    drop(a);
    let done = next(&b, &[]);
    assert!(matches!(done.result, Err(Error::PeerLost { pe: 1, .. })));
}

#[test]
fn lanes_tags_data_and_itself() {
    let (a, b) = pair();
    let label = |lane, tag, data| Label { lane, tag, data };
    let high = 0xabcd_0000_0000_0001;
    for (label, text) in [
        (label(Lane::Plain, 0, None), "plain"),
        (label(Lane::Plain, 0, Some(u64::MAX)), "plain with data"),
        (label(Lane::Tagged, high, Some(0)), "high"),
        (label(Lane::Tagged, 1, None), "low"),
    ] {
        assert_eq!(a.send_at_once(1, label, text.as_bytes()), Ok(true));
    }
    let wanted = Wanted {
        tag: Tag::masked(high, 0xffff << 48),
        ..any(Lane::Tagged)
    };
    let mut got = Vec::new();
    for wanted in [
        any(Lane::Plain),
        wanted,
        any(Lane::Plain),
        any(Lane::Tagged),
    ] {
        receive(&b, wanted, 100);
        let done = next(&b, &[&a]);
        let envelope = done.result.clone().unwrap();
        let text = String::from_utf8(bytes(done)).unwrap();
        got.push((
            text,
            envelope.tag,
            envelope.has_data.then_some(envelope.data),
        ));
    }
    let expected = [
        ("plain", 0, None),
        ("high", high, Some(0)),
        ("plain with data", 0, Some(u64::MAX)),
        ("low", 1, None),
    ];
    assert_eq!(
        got,
        expected.map(|(text, tag, data)| (text.to_owned(), tag, data))
    );
    b.send(0, tagged(4), Box::new(b"me".to_vec())).unwrap();
    receive(&b, any(Lane::Tagged), 2);
    let (first, second) = (next(&b, &[]), next(&b, &[]));
    let got = if first.is_receive { first } else { second };
    assert_eq!(got.result.clone().unwrap().from, 0);
    assert_eq!(bytes(got), b"me");
}

#[test]
fn what_is_too_long_is_cut_and_counted() {
    for (a, b) in [pair(), pair_apart()] {
        cut_and_counted(&a, &b);
    }
}

fn cut_and_counted(a: &Station, b: &Station) {
    for len in [100_usize, 1 << 20] {
        let message: Vec<u8> = (0..len).map(|i| i as u8).collect();
        // Once with the receive first, once with the message first.
        for posted in [true, false] {
            if posted {
                receive(b, any(Lane::Tagged), 10);
            }
            a.send(1, tagged(1), Box::new(message.clone())).unwrap();
            if !posted {
                assert!(b.peek(any(Lane::Tagged)).unwrap().is_some());
                receive(b, any(Lane::Tagged), 10);
            }
            let done = next(b, &[a]);
            assert_eq!(done.result.clone().unwrap().len_bytes, len);
            assert_eq!(bytes(done), message[..10]);
            assert!(!next(a, &[b]).is_receive);
        }
    }
}

#[test]
fn a_claimed_message_is_for_who_claimed_it() {
    for (a, b) in [pair(), pair_of_hosts()] {
        for tag in 1..=4 {
            let message = vec![tag as u8; if tag == 2 { 1 << 20 } else { 3 }];
            a.send(1, tagged(tag), Box::new(message)).unwrap();
        }
        let wanted = |tag: u64| Wanted {
            tag: tag.into(),
            ..any(Lane::Tagged)
        };
        // The two have met when the thread of the second one says so. This does not depend on what
        // the first one has sent by then.
        let deadline = Instant::now() + SOON;
        while b.peek(wanted(4)).unwrap().is_none() {
            assert!(Instant::now() < deadline, "nothing came in a minute");
        }
        assert!(b.claim(wanted(9)).unwrap().is_none());
        let (second, envelope) = b.claim(wanted(2)).unwrap().unwrap();
        assert_eq!((envelope.tag, envelope.len_bytes), (2, 1 << 20));
        let (third, _) = b.claim(wanted(3)).unwrap().unwrap();
        assert!(b.peek(wanted(2)).unwrap().is_none());
        receive(&b, any(Lane::Tagged), 3);
        receive(&b, any(Lane::Tagged), 3);
        assert_eq!(bytes(next(&b, &[&a])), [1; 3]);
        assert_eq!(bytes(next(&b, &[&a])), [4; 3]);
        let room = Box::new(vec![0_u8; 1 << 20]);
        assert!(b.receive_claimed(second, Some(room)).unwrap().is_some());
        assert_eq!(bytes(next(&b, &[&a])), vec![2; 1 << 20]);
        // To drop it.
        assert!(b.receive_claimed(third, None).unwrap().is_some());
        assert!(next(&b, &[&a]).result.is_ok());
    }
}

#[test]
fn a_flood_stays_with_its_sender() {
    for (a, b) in [pair(), pair_of_hosts()] {
        let count = 4000_u32;
        for number in 0..count {
            let mut message = vec![0_u8; 4096];
            message[..4].copy_from_slice(&number.to_le_bytes());
            a.send(1, tagged(0), Box::new(message)).unwrap();
            // The other one makes progress, but wants no message.
            assert!(b.peek(any(Lane::Plain)).unwrap().is_none());
        }
        let mut left = 0;
        while a.poll().unwrap().is_some() {
            left += 1;
        }
        // The bounds: 64 KiB that the receiver keeps of one peer, the messages under way meanwhile,
        // and a ring of 16 KiB.
        assert!(left < 100, "{left} of {count} have left");
        for number in 0..count {
            receive(&b, any(Lane::Tagged), 4096);
            let got = bytes(next(&b, &[&a]));
            assert_eq!(got[..4], number.to_le_bytes());
        }
    }
}

#[test]
fn what_needs_a_station_that_ends_fails_and_what_came_stays() {
    let (a, b) = pair();
    let c = Station::open().unwrap();
    assert_eq!(b.number(&c.name()), Ok(2));
    c.number(&b.name()).unwrap();
    a.send(1, tagged(1), Box::new(vec![7_u8; 5])).unwrap();
    // The message is announced, but never delivered.
    a.send(1, tagged(2), Box::new(vec![8_u8; 1 << 20])).unwrap();
    let directed = Wanted {
        from: Source::Pe(1),
        tag: 3.into(),
        ..any(Lane::Tagged)
    };
    receive(&b, directed, 1);
    let waits = receive(
        &b,
        Wanted {
            tag: 4.into(),
            ..any(Lane::Tagged)
        },
        1,
    );
    drop(a);
    let lost = |done: Finished| matches!(done.result, Err(Error::PeerLost { pe: 1, .. }));
    assert!(lost(next(&b, &[])));
    receive(&b, directed, 1);
    assert!(lost(next(&b, &[])));
    assert!(matches!(
        b.send(1, tagged(1), Box::new(vec![0_u8])),
        Err(Error::PeerLost { pe: 1, .. })
    ));
    receive(
        &b,
        Wanted {
            tag: 1.into(),
            ..any(Lane::Tagged)
        },
        5,
    );
    assert_eq!(bytes(next(&b, &[])), [7; 5]);
    assert!(b.peek(any(Lane::Tagged)).unwrap().is_none());
    // Others are not concerned.
    c.send(1, tagged(4), Box::new(vec![4_u8])).unwrap();
    let done = next(&b, &[&c]);
    assert_eq!(done.ticket, waits);
    assert_eq!(bytes(done), [4]);
}

/// The sender sees the end of its receiver before it has read the receiver's last words.
#[test]
fn what_its_receiver_has_taken_has_been_sent_although_that_has_ended() {
    // Long messages within a host are copied without their sender.
    for (is_apart, len) in [(false, 5), (false, 1 << 20), (true, 5), (true, 1 << 20)] {
        let (a, b) = if is_apart { pair_apart() } else { pair() };
        for tag in [1, 2] {
            let message = Box::new(vec![7_u8; len]);
            a.send_confirmed(1, tagged(tag), message).unwrap();
        }
        for _ in 0..2 {
            receive(&b, any(Lane::Tagged), len);
            let deadline = Instant::now() + SOON;
            while b.poll().unwrap().is_none() {
                if is_apart {
                    let _ = a.peek(any(Lane::Plain)).unwrap();
                }
                assert!(Instant::now() < deadline);
            }
        }
        assert!(b.poll().unwrap().is_none());
        drop(b);
        for _ in 0..2 {
            assert_eq!(next(&a, &[]).result.map(|sent| sent.len_bytes), Ok(len));
        }
    }
}

#[test]
fn a_receive_without_a_message_can_be_cancelled() {
    let (_a, b) = pair();
    let ticket = receive(&b, any(Lane::Tagged), 1);
    assert_eq!(b.cancel(ticket), Ok(true));
    assert_eq!(b.poll().unwrap().unwrap().result, Err(Error::Cancelled));
    assert_eq!(b.cancel(ticket), Ok(false));
    assert!(b.wait(Duration::from_millis(1)).unwrap().is_none());
}

/// Only messages with long tags take the shortest ways: two of three.
const LONG: u32 = 33;

/// What one of three stations does, in a random order.
#[derive(Debug, Clone)]
enum Act {
    Send {
        from: usize,
        to: usize,
        tag: u64,
        len: usize,
    },
    Receive {
        at: usize,
        from: Option<usize>,
        tag: Option<u64>,
    },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let one = 0..3_usize;
    let len = prop_oneof![
        0..100_usize,
        5000..9000_usize,
        60_000..200_000_usize,
        1_000_000..2_500_000_usize
    ];
    let send = (one.clone(), one.clone(), 0..3_u64, len)
        .prop_map(|(from, to, tag, len)| Act::Send { from, to, tag, len });
    let receive = (
        one.clone(),
        proptest::option::of(one),
        proptest::option::of(0..3_u64),
    )
        .prop_map(|(at, from, tag)| Act::Receive { at, from, tag });
    proptest::collection::vec(prop_oneof![send, receive], 1..60)
}

/// Receives under way, by station and ticket: when they were posted, and for what.
type Asked = std::collections::BTreeMap<(usize, Ticket), (usize, Option<usize>, Option<u64>)>;

/// A message: sender, receiver, tag and length.
type Sent = (usize, usize, u64, usize);
/// A received message: the turn of the receive; sender, receiver, tag and bytes.
type Got = (usize, (usize, usize, u64, Vec<u8>));

/// Whether a message was sent that a receive would take, judged by the number of messages that have
/// come.
fn is_wanted(sent: &[Sent], got: &[Got], asked: &Asked) -> bool {
    (0..27)
        .map(|i| (i % 3, i / 3 % 3, (i / 9) as u64))
        .any(|(from, to, tag)| {
            let of_it = |at: &(usize, usize, u64)| *at == (from, to, tag);
            let sent = sent.iter().filter(|s| of_it(&(s.0, s.1, s.2))).count();
            let came = got.iter().filter(|(_, g)| of_it(&(g.0, g.1, g.2))).count();
            came < sent
                && asked.iter().any(|((at, _), (_, f, t))| {
                    *at == to && f.is_none_or(|f| f == from) && t.is_none_or(|t| t == tag)
                })
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Messages of one pair with one tag are received whole, in the order in which they were sent,
    /// and by receives that match. At the end no message is left that any receive would take.
    #[test]
    fn messages_of_three_match_as_they_should(
        acts in acts(),
        apart: [bool; 3],
        hosts in proptest::option::of([1..4_u64, 1..4, 1..4]),
    ) {
        let open = |apart| if apart { Station::open_apart() } else { Station::open() };
        let stations: Vec<Station> = match hosts {
            None => apart.map(|apart| open(apart).unwrap()).into(),
            Some(hosts) => hosts.map(on_host).into(),
        };
        // The station that has this number at that station.
        let number = |at: usize, who: usize| {
            stations[at].number(&stations[who].name()).unwrap()
        };
        let who = |at: usize, pe: PeId| (0..3).find(|who| number(at, *who) == pe).unwrap();
        let mut sent: Vec<Sent> = Vec::new();
        let mut asked = Asked::new();
        for act in &acts {
            match *act {
                Act::Send { from, to, tag, len } => {
                    let mut message = vec![sent.len() as u8; len];
                    if let Some(last) = message.last_mut() { *last = !(sent.len() as u8); }
                    let to_pe = number(from, to);
                    stations[from].send(to_pe, tagged(tag << LONG), Box::new(message)).unwrap();
                    sent.push((from, to, tag, len));
                }
                Act::Receive { at, from, tag } => {
                    let wanted = Wanted {
                        lane: Lane::Tagged,
                        from: from.map_or(Source::Any, |from| Source::Pe(number(at, from))),
                        tag: tag.map_or(Tag::ANY, |tag| Tag::from(tag << LONG)),
                    };
                    let ticket = receive(&stations[at], wanted, 2_500_000);
                    asked.insert((at, ticket), (asked.len(), from, tag));
                }
            }
        }
        let mut got = Vec::new();
        let mut idle = 0;
        let deadline = Instant::now() + SOON;
        // Between hosts, nobody can see what is under way.
        while idle < 2000 || (is_wanted(&sent, &got, &asked) && Instant::now() < deadline) {
            idle += 1;
            for (at, station) in stations.iter().enumerate() {
                while let Some(done) = looked_for(station) {
                    idle = 0;
                    if !done.is_receive { continue; }
                    let mut envelope = done.result.clone().unwrap();
                    envelope.tag >>= LONG;
                    let from = who(at, envelope.from);
                    let (turn, asked_from, asked_tag) = asked.remove(&(at, done.ticket)).unwrap();
                    prop_assert!(asked_from.is_none_or(|asked| asked == from));
                    prop_assert!(asked_tag.is_none_or(|asked| asked == envelope.tag));
                    got.push((turn, (from, at, envelope.tag, bytes(done))));
                }
            }
        }
        prop_assert!(!is_wanted(&sent, &got, &asked));
        // Long messages end after short ones. The first of two receives must have the first of two
        // messages.
        got.sort_by_key(|(turn, _)| *turn);
        let got: Vec<(usize, usize, u64, Vec<u8>)> = got.into_iter().map(|(_, it)| it).collect();
        for (from, to, tag) in (0..27).map(|i| (i % 3, i / 3 % 3, (i / 9) as u64)) {
            let of_it = sent.iter().enumerate();
            let expected: Vec<(u8, usize)> = of_it
                .filter(|(_, s)| (s.0, s.1, s.2) == (from, to, tag))
                .map(|(number, s)| (number as u8, s.3)).collect();
            let mine = got.iter().filter(|g| (g.0, g.1, g.2) == (from, to, tag));
            for (message, (number, len)) in mine.clone().zip(&expected) {
                prop_assert_eq!(message.3.len(), *len);
                if let Some((last, first)) = message.3.split_last() {
                    prop_assert_eq!(*last, !*number);
                    prop_assert!(first.iter().all(|byte| byte == number));
                }
            }
            prop_assert!(mine.clone().count() <= expected.len());
        }
    }
}
