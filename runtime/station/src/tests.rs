use hostwire_transport::wire::{Liveness, Numbering, PrivateCopies};

use super::*;

const TERMS: Terms = Terms {
    version: 1,
    segment_bytes: 1 << 20,
};

fn open(terms: Terms) -> Stations {
    Stations::open(terms, Options::within_host()).unwrap()
}

fn wait_for<R>(mut look: impl FnMut() -> Option<R>) -> R {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(result) = look() {
            return result;
        }
        assert!(Instant::now() < deadline, "waited for a minute");
        std::thread::yield_now();
    }
}

#[test]
fn two_meet_by_name_and_number_each_other_as_they_like() {
    let (a, b) = (open(TERMS), open(TERMS));
    let c = open(TERMS);
    // So that B is 2 for A, and A is 1 for B.
    assert_eq!(a.number(&c.name()), Ok(1));
    assert_eq!(a.number(&b.name()), Ok(2));
    assert_eq!(a.number(&b.name()), Ok(2));
    assert_eq!(a.number(&a.name()), Ok(0));
    assert!(a.store_word(2, 4096, 1).is_err());
    a.meet(2).unwrap();
    a.meet(2).unwrap();
    assert_eq!(a.take_news(), [News::Met(2)]);
    assert_eq!(wait_for(|| b.take_news().pop()), News::Met(1));
    assert_eq!((a.number_at(2), b.number_at(1)), (1, 2));
    a.store_word(2, 4096, 77).unwrap();
    b.store_word(1, 4096, 88).unwrap();
    assert_eq!(b.segment().load_word(4096), Ok(77));
    assert_eq!(a.segment().load_word(4096), Ok(88));
    assert_eq!(b.name_of(1).unwrap().to_bytes(), a.name().to_bytes());
}

#[test]
fn both_may_begin_at_once() {
    for _ in 0..50 {
        let (a, b) = (open(TERMS), open(TERMS));
        let (to_b, to_a) = (a.number(&b.name()).unwrap(), b.number(&a.name()).unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| a.meet(to_b).unwrap());
            scope.spawn(|| b.meet(to_a).unwrap());
        });
        assert_eq!(
            (a.take_news(), b.take_news()),
            (vec![News::Met(1)], vec![News::Met(1)])
        );
    }
}

#[test]
fn the_end_of_a_station_shows() {
    let a = open(TERMS);
    let b = open(TERMS);
    let to_b = a.number(&b.name()).unwrap();
    a.meet(to_b).unwrap();
    assert_eq!(a.is_alive(to_b), Ok(true));
    let name = b.name();
    drop(b);
    let ended = |news: Vec<News>| news.contains(&News::Ended(to_b)).then_some(());
    wait_for(|| ended(a.take_news()));
    assert_eq!(a.is_alive(to_b), Ok(false));
    assert_eq!(a.meet(to_b), Err(super::ended(to_b)));
    // A station that never met it learns this at once.
    let c = open(TERMS);
    let gone = c.number(&name).unwrap();
    assert_eq!(c.meet(gone), Err(super::ended(gone)));
}

#[test]
fn without_the_key_there_is_no_answer() {
    let a = open(TERMS);
    let socket = handover::socket().unwrap();
    rustix::net::connect(&socket, &a.name().address().unwrap()).unwrap();
    let hello = Hello {
        from: Name::draw(None).unwrap(),
        number: 1,
        terms: TERMS,
        proof_at: 0,
    };
    let wrong = Name::draw(None).unwrap().key();
    hello.send(&socket, wrong, &a.file).unwrap();
    assert!(matches!(Answer::receive(&socket), Ok(None)));
    assert_eq!(a.take_news(), []);
}

#[test]
fn one_that_means_other_things_is_refused() {
    let a = open(TERMS);
    let b = open(Terms {
        version: 2,
        ..TERMS
    });
    let to_b = a.number(&b.name()).unwrap();
    let error = a.meet(to_b).unwrap_err().to_string();
    assert!(error.contains("version: 2"), "{error}");
}

#[test]
fn a_name_with_the_key_of_another_is_none() {
    let (a, b) = (open(TERMS), open(TERMS));
    a.number(&b.name()).unwrap();
    let mut forged = b.name().to_bytes();
    forged[40] ^= 1;
    assert!(a.number(&Name::from_bytes(&forged).unwrap()).is_err());
    forged[8] ^= 1;
    forged[20] ^= 1;
    let error = a.number(&Name::from_bytes(&forged).unwrap()).unwrap_err();
    assert!(error.to_string().contains("another host"), "{error}");
}

#[test]
fn a_name_of_another_host_is_not_that_of_a_station_that_is_known() {
    let (a, b) = (open(TERMS), open(TERMS));
    a.number(&b.name()).unwrap();
    for known in [a.name(), b.name()] {
        assert!(a.number(&known.moved(7)).is_err());
    }
}

/// As if it had a host of its own.
fn far_with(terms: Terms, is_sealed: bool) -> Stations {
    far_by(NetworkWire::Udp, terms, is_sealed)
}

const WIRES: [NetworkWire; 2] = [NetworkWire::Udp, NetworkWire::Tcp];

fn far_by(wire: NetworkWire, terms: Terms, is_sealed: bool) -> Stations {
    let host = u64::from_ne_bytes(hostwire_transport::os::random().unwrap());
    let network = Network {
        place: NetworkPlace::Loopback { host },
        wire,
        is_sealed,
        lost_after: Duration::from_secs(60),
        faults: None,
    };
    let network = Ok(network);
    Stations::open(
        terms,
        Options {
            lends: true,
            network,
        },
    )
    .unwrap()
}

fn far() -> Stations {
    far_with(TERMS, true)
}

#[test]
fn stations_of_two_hosts_meet_and_store() {
    for (wire, is_sealed) in WIRES
        .into_iter()
        .flat_map(|wire| [(wire, true), (wire, false)])
    {
        let far = || far_by(wire, TERMS, is_sealed);
        let (a, b, c) = (far(), far(), far());
        assert_eq!((a.number(&c.name()), a.number(&b.name())), (Ok(1), Ok(2)));
        assert!(a.store_word(2, 4096, 1).is_err());
        a.meet(2).unwrap();
        a.meet(2).unwrap();
        assert_eq!(a.take_news(), [News::Met(2)]);
        assert_eq!(wait_for(|| b.take_news().pop()), News::Met(1));
        assert_eq!((a.number_at(2), b.number_at(1)), (1, 2));
        assert_eq!(b.name_of(1).unwrap().to_bytes(), a.name().to_bytes());
        assert!(!a.lends_private(2) && a.number_at(1) == 0);
        let long: Vec<u8> = (0..100_000).map(|i| (i % 251) as u8).collect();
        a.store(2, 8192, &long).unwrap();
        a.store_word(2, 4096, 77).unwrap();
        b.store_line(1, 4096, 88, b"line").unwrap();
        wait_for(|| (b.segment().load_word(4096) == Ok(77)).then_some(()));
        wait_for(|| (a.segment().load_word(4096) == Ok(88)).then_some(()));
        let mut got = vec![0; long.len()];
        b.segment().get(8192, &mut got).unwrap();
        assert!(got == long);
        a.quiet().unwrap();
        // The third is met later.
        b.number(&c.name()).unwrap();
        b.meet(2).unwrap();
        b.store_word(2, 4096, 99).unwrap();
        wait_for(|| (c.segment().load_word(4096) == Ok(99)).then_some(()));
    }
}

#[test]
fn both_may_begin_at_once_from_two_hosts() {
    for turn in 0..40 {
        let far = || far_by(WIRES[turn % 2], TERMS, true);
        let (a, b) = (far(), far());
        let (to_b, to_a) = (a.number(&b.name()).unwrap(), b.number(&a.name()).unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| a.meet(to_b).unwrap());
            scope.spawn(|| b.meet(to_a).unwrap());
        });
        assert_eq!(
            (a.take_news(), b.take_news()),
            (vec![News::Met(1)], vec![News::Met(1)])
        );
        a.store_word(1, 4096, 7).unwrap();
        wait_for(|| (b.segment().load_word(4096) == Ok(7)).then_some(()));
    }
}

#[test]
fn what_a_station_stored_before_it_ended_has_arrived_on_another_host() {
    for turn in 0..10 {
        let far = || far_by(WIRES[turn % 2], TERMS, true);
        let (a, b) = (far(), far());
        let to_b = a.number(&b.name()).unwrap();
        a.meet(to_b).unwrap();
        for at in 0..1000 {
            a.store_word(to_b, 4096 + 8 * at, at as u64 + 1).unwrap();
        }
        drop(a);
        wait_for(|| b.take_news().contains(&News::Ended(1)).then_some(()));
        let all = (0..1000).map(|at| b.segment().load_word(4096 + 8 * at).unwrap());
        assert!(all.eq(1..=1000));
        assert_eq!(b.is_alive(1), Ok(false));
        assert!(b.meet(1).is_err());
    }
}

#[test]
fn who_has_gone_from_another_host_is_not_met() {
    let (a, b) = (far(), far());
    let name = b.name();
    drop(b);
    let gone = a.number(&name).unwrap();
    assert_eq!(a.meet(gone), Err(super::ended(gone)));
}

#[test]
fn a_station_parts_from_one_on_another_host() {
    let (a, b) = (far(), far());
    let to_b = a.number(&b.name()).unwrap();
    a.meet(to_b).unwrap();
    wait_for(|| b.take_news().contains(&News::Met(1)).then_some(()));
    a.part(to_b);
    wait_for(|| b.take_news().contains(&News::Ended(1)).then_some(()));
    assert!(a.store_word(to_b, 4096, 1).is_err());
}

#[test]
fn what_does_not_fit_between_hosts_is_refused_and_said() {
    let a = far();
    let meet = |b: &Stations| {
        let to_b = a.number(&b.name()).unwrap();
        a.meet(to_b).unwrap_err().to_string()
    };
    let version = 2;
    let error = meet(&far_with(Terms { version, ..TERMS }, true));
    assert!(error.contains("version: 2"), "{error}");
    let error = meet(&far_with(TERMS, false));
    assert!(error.contains("HOSTWIRE_INSECURE_WIRE"), "{error}");
    let error = meet(&far_by(NetworkWire::Tcp, TERMS, true));
    assert!(error.contains("HOSTWIRE_WIRE"), "{error}");
    // It has no network, and operations that need one say so.
    let inside = Stations::open(TERMS, Options::within_host()).unwrap();
    let error = meet(&inside);
    assert!(error.contains("says no address"), "{error}");
    let error = inside.number(&a.name()).unwrap_err().to_string();
    assert!(error.contains("stays within its host"), "{error}");
}

#[test]
fn strangers_hear_nothing_over_tcp_and_keep_nobody_away() {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    let (a, b) = (far(), far());
    let at = b.name().outside().unwrap();
    let mut strangers: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(at).unwrap()).collect();
    let mut first = TcpStream::connect(at).unwrap();
    first.write_all(&[0xff; 64]).unwrap();
    let mut heard = Vec::new();
    let _ = first.read_to_end(&mut heard);
    assert!(heard.len() <= 24, "a greeting and no answer");
    let to_b = a.number(&b.name()).unwrap();
    a.meet(to_b).unwrap();
    for stranger in &mut strangers {
        let _ = stranger.write_all(b"hello");
    }
    // A name with another key belongs to no station.
    let c = far();
    let mut forged = b.name().to_bytes();
    forged[40] ^= 1;
    let wrong = c.number(&Name::from_bytes(&forged).unwrap()).unwrap();
    let Some(call::Call::Closed) = c.outside.as_ref().map(|outside| {
        let name = c.name_of(wrong).unwrap();
        outside.call_once(wrong, &name).unwrap()
    }) else {
        panic!("it was answered");
    };
    // One side may complete a meeting before the other.
    assert_eq!(wait_for(|| b.take_news().pop()), News::Met(1));
    assert_eq!(b.take_news(), []);
}

/// A station of another host that answers one call, but does not serve its link. Returns its name, and a thread
/// with what it does with the connection then.
fn answers_once<R: Send + 'static>(
    then: impl FnOnce(std::net::TcpStream) -> R + Send + 'static,
) -> (Name, std::thread::JoinHandle<R>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let name = Name::draw(Some(listener.local_addr().unwrap())).unwrap();
    let name = name.moved(u64::from_ne_bytes(
        hostwire_transport::os::random().unwrap(),
    ));
    let answers = std::thread::spawn(move || {
        let deaf = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = format!("udp={}", deaf.local_addr().unwrap());
        let (stream, _) = listener.accept().unwrap();
        let mut call = call::Incoming::greet(stream).unwrap();
        let reply = wait_for(|| match call.read(name.key()) {
            call::Said::Hello(_, reply) => Some(reply),
            call::Said::Nothing => None,
            call::Said::Stranger => panic!("a stranger"),
        });
        let (number, address) = (1, at.parse().unwrap());
        assert!(call.answer(reply, &call::Answer::Met { number, address }));
        then(call.stream)
    });
    (name, answers)
}

/// Its end is noticed at once; nothing waits as for missing frames.
#[test]
fn who_ends_while_two_hosts_meet_is_missed() {
    let a = far();
    let (name, answers) = answers_once(drop);
    let gone = a.number(&name).unwrap();
    assert_eq!(a.meet(gone), Err(super::ended(gone)));
    answers.join().unwrap();
    assert_eq!(a.take_news(), [News::Ended(gone)]);
}

/// No other event is needed for that.
#[test]
fn the_connection_of_who_is_not_heard_is_closed() {
    use std::io::Read;
    let a = far();
    let (name, answers) = answers_once(|mut stream| {
        stream.set_nonblocking(false).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.read(&mut [0; 8]).unwrap()
    });
    let silent = a.number(&name).unwrap();
    let error = a.meet(silent).unwrap_err();
    assert!(
        matches!(error, TransportError::Environment { .. }),
        "{error}"
    );
    assert_eq!(answers.join().unwrap(), 0, "the end of the connection");
}
