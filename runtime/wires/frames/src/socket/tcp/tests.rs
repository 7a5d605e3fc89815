use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};
use std::time::{Duration, Instant};

use hostwire_transport::error::{Disagreement, EnvironmentFault};

use super::framing::prefix;
use super::*;

/// For a hang: nothing is lost on the way.
const PATIENCE: Duration = Duration::from_secs(30);

fn port() -> StreamPort {
    StreamPort::open(Ipv4Addr::LOCALHOST.into()).unwrap()
}

/// Ports that know each other, as hosts of these numbers.
fn connected<const N: usize>(host: IpAddr) -> [StreamPort; N] {
    let mut ports = [(); N].map(|()| StreamPort::open(host).unwrap());
    let addresses = ports.each_ref().map(StreamPort::address);
    for (own, port) in ports.iter_mut().enumerate() {
        let peers = addresses.iter().enumerate();
        let peers = peers.map(|(host, address)| (host != own).then_some(*address));
        port.set_peers(own as u32, peers.collect()).unwrap();
    }
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let are_up = |port: &StreamPort| port.peers.iter().flatten().all(Peer::is_up);
        if ports.iter().all(are_up) {
            return ports;
        }
        for port in &mut ports {
            look_everywhere(port);
        }
    }
    panic!("they do not connect");
}

fn look_everywhere(port: &mut StreamPort) -> Received {
    let mut received = Received::default();
    port.receive_all(&mut |_, _| {}, &mut received);
    received
}

/// Receives until there are so many frames: the host and the frame.
fn take(port: &mut StreamPort, count: usize) -> Vec<(u32, Vec<u8>)> {
    let mut got = Vec::new();
    let begin = Instant::now();
    while got.len() < count && begin.elapsed() < PATIENCE {
        port.receive(&mut |came, frame| got.push((came.host, frame.to_vec())));
    }
    got
}

/// Waits until it is so.
fn until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE);
    }
}

/// Frames of many lengths, in runs, to two peers in turn.
fn mixed_frames() -> Vec<(u32, Vec<u8>)> {
    let lens = [FRAME_LEN_MAX, 60, 1, 700, 9001, 701];
    let frames = (0..400_usize).map(|number| {
        let run = (number * number / 5) % 23;
        let len = lens[run % lens.len()];
        let bytes = (0..len).map(|at| (at ^ number) as u8).collect();
        (1 + (run % 3 == 0) as u32, bytes)
    });
    frames.collect()
}

#[test]
fn mixed_frames_come_in_order_however_slow_the_receiver_is() {
    for host in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
        if std::net::TcpListener::bind((host, 0)).is_err() {
            continue;
        }
        let [mut a, mut b, mut c] = connected::<3>(host);
        let frames = mixed_frames();
        let sent: Vec<(u32, &[u8])> = frames.iter().map(|(pe, frame)| (*pe, &frame[..])).collect();
        // No end polls meanwhile: frames for which the system has no room are kept.
        let mut at = 0;
        while at < sent.len() {
            let end = sent.len().min(at + super::super::SEND_BATCH_FRAMES);
            at += a.send(&sent[at..end]).unwrap();
        }
        for (pe, port) in [(1, &mut b), (2, &mut c)] {
            let expected = frames.iter().filter(|(to, _)| *to == pe);
            let expected: Vec<&[u8]> = expected.map(|(_, frame)| &frame[..]).collect();
            let mut got = Vec::new();
            until(|| {
                look_everywhere(&mut a);
                port.receive(&mut |came, frame| got.push((came.host, frame.to_vec())));
                got.len() >= expected.len()
            });
            assert!(got.iter().all(|(host, _)| *host == 0));
            assert!(got.iter().map(|(_, frame)| &frame[..]).eq(expected));
        }
    }
}

#[test]
fn frames_for_nobody_are_refused() {
    let [mut a, mut b] = connected::<2>(Ipv4Addr::LOCALHOST.into());
    assert_eq!(a.send(&[(1, b"frame"), (0, b"x")]), Ok(1));
    assert_eq!(a.send(&[(2, b"x"), (1, b"y")]), Err(SendError::Refused));
    assert_eq!(a.send(&[]), Ok(0));
    assert_eq!(take(&mut b, 1), [(0, b"frame".to_vec())]);
}

#[test]
fn a_peer_that_does_not_take_anything_keeps_no_more_than_so_much() {
    let [mut a, b, mut c] = connected::<3>(Ipv4Addr::LOCALHOST.into());
    let long = vec![7; FRAME_LEN_MAX];
    let mut sent = 0;
    while a.send(&[(1, &long)]) == Ok(1) {
        sent += 1;
        assert!(sent < 100_000);
    }
    // Other connections continue.
    assert_eq!(a.send(&[(2, b"frame")]), Ok(1));
    assert_eq!(take(&mut c, 1), [(0, b"frame".to_vec())]);
    drop(b);
}

#[test]
fn a_peer_that_speaks_otherwise_is_named() {
    let fault = EnvironmentFault::Disagreement {
        pe: 1,
        with: 0,
        about: Disagreement::Wire {
            theirs: "udp=127.0.0.1:9".into(),
            ours: "TCP",
        },
    };
    assert_eq!(
        port().set_peers(0, vec![None, Some("udp=127.0.0.1:9".parse().unwrap())]),
        Err(TransportError::environment("connecting the PEs", fault))
    );
}

#[test]
fn of_strangers_nothing_is_read_and_few_are_kept() {
    let [mut a, mut b] = connected::<2>(Ipv4Addr::LOCALHOST.into());
    let mut callers = Vec::new();
    for _ in 0..3 * UNKNOWN_MAX {
        let mut caller = TcpStream::connect(b.address).unwrap();
        caller.write_all(b"\0\0\0\x01x").unwrap();
        callers.push(caller);
    }
    let mut strangers = 0;
    until(|| {
        strangers += look_everywhere(&mut b).strangers;
        strangers >= 2 * UNKNOWN_MAX
    });
    assert_eq!(b.unknown.len(), UNKNOWN_MAX);
    assert_eq!(a.send(&[(1, b"frame")]), Ok(1));
    assert_eq!(take(&mut b, 1), [(0, b"frame".to_vec())]);
}

#[test]
fn who_calls_before_it_is_known_is_let_in_then() {
    let mut ports = [port(), port()];
    ports.sort_by_key(|port| port.address);
    let [mut a, mut b] = ports;
    a.set_peers(0, vec![None, Some(b.address())]).unwrap();
    until(|| {
        look_everywhere(&mut b);
        b.unknown.len() == 1
    });
    let known = vec![Some(a.address()), None];
    b.set_peers(1, known.clone()).unwrap();
    assert!(b.unknown.is_empty() && b.peers[0].as_ref().unwrap().is_up());
    // Given the same peers again, it keeps its connections.
    until(|| {
        look_everywhere(&mut a);
        a.peers[1].as_ref().unwrap().is_up()
    });
    assert_eq!(b.send(&[(0, b"first")]), Ok(1));
    b.set_peers(1, known).unwrap();
    assert_eq!(b.send(&[(0, b"second")]), Ok(1));
    let expected = [(1, b"first".to_vec()), (1, b"second".to_vec())];
    assert_eq!(take(&mut a, 2), expected);
}

/// What the first frame of a host that has moved looks like from outside.
fn sealed() -> Vec<u8> {
    let header = hostwire_packet::htoe::sealed::Repr {
        destination: 1,
        source: 0,
        number: 9,
    };
    [&header.to_bytes()[..], &[5; 40]].concat()
}

/// The order of the addresses decides who calls, until one has moved.
#[test]
fn who_calls_from_a_new_address_is_known_by_its_frame() {
    let [mut a, mut b] = connected::<2>(Ipv4Addr::LOCALHOST.into());
    for turn in 0..2 {
        let (own, other) = (turn, 1 - turn as u32);
        let (moved, stays) = match turn {
            0 => (&mut a, &mut b),
            _ => (&mut b, &mut a),
        };
        moved
            .take(Ipv4Addr::new(127, 0, 0, 7 + turn as u8).into())
            .unwrap();
        assert_eq!(moved.moves(), 1);
        let frame = sealed();
        until(|| {
            look_everywhere(moved);
            moved.send(&[(other, &frame)]) == Ok(1)
        });
        until(|| {
            look_everywhere(moved);
            look_everywhere(stays).strangers > 0 && stays.stranger() == Some(&mut frame.clone()[..])
        });
        assert_eq!(stays.stranger(), None, "once");
        let address = moved.address;
        assert_eq!(stays.has_moved(own as u32), Some(address.ip()));
        assert_eq!(take(stays, 1), [(own as u32, frame)]);
        assert_eq!(stays.send(&[(own as u32, b"answer")]), Ok(1));
        assert_eq!(take(moved, 1), [(other, b"answer".to_vec())]);
    }
}

/// The connection of a port to the peer of this number.
fn stream(port: &StreamPort, host: usize) -> &Stream {
    port.peers[host].as_ref().unwrap().stream().unwrap()
}

#[test]
fn what_is_no_frame_ends_the_connection_and_another_follows() {
    let [mut a, mut b] = connected::<2>(Ipv4Addr::LOCALHOST.into());
    for (turn, bad) in [[0; 4], [0xff; 4]].into_iter().enumerate() {
        assert_eq!(a.send(&[(1, b"before")]), Ok(1));
        rustix::io::write(stream(&a, 1).fd(), &bad).unwrap();
        rustix::io::write(stream(&a, 1).fd(), &prefix(b"x")).unwrap();
        let mut got = Vec::new();
        until(|| {
            b.receive(&mut |_, frame| got.push(frame.to_vec()));
            b.counters().cut == turn as u64 + 1
        });
        assert_eq!(got, [b"before".to_vec()]);
        // Either end may be the caller, and it calls when it has something to send.
        let mut came = [false; 2];
        until(|| {
            let _ = (a.send(&[(1, b"after")]), b.send(&[(0, b"after")]));
            a.receive(&mut |_, frame| came[0] |= frame == b"after");
            b.receive(&mut |_, frame| came[1] |= frame == b"after");
            came == [true; 2]
        });
        until(|| a.receive(&mut |_, _| {}).frames == 0);
    }
    assert_eq!((a.counters().cut, b.counters().cut), (0, 2));
}

#[test]
fn the_end_of_a_peer_refuses_frames() {
    let [mut a, b] = connected::<2>(Ipv4Addr::LOCALHOST.into());
    drop(b);
    until(|| {
        a.receive(&mut |_, _| {});
        a.send(&[(1, b"x")]) == Err(SendError::Refused)
    });
}

#[test]
fn it_is_readable_with_frames_and_with_room_for_what_is_kept() {
    let [mut a, mut b] = connected::<2>(Ipv4Addr::LOCALHOST.into());
    let is_readable = |port: &StreamPort| {
        let mut fds = [rustix::event::PollFd::new(
            &port.readable,
            rustix::event::PollFlags::IN,
        )];
        let now = Timespec::default();
        rustix::event::poll(&mut fds, Some(&now)).unwrap() > 0
    };
    assert!(!is_readable(&a) && !is_readable(&b));
    let long = vec![7; FRAME_LEN_MAX];
    let mut sent = 0;
    while !stream(&a, 1).wants_room() {
        sent += a.send(&[(1, &long)]).unwrap();
    }
    let mut got = 0;
    until(|| {
        got += b.receive(&mut |_, _| {}).frames;
        is_readable(&a)
    });
    until(|| {
        if is_readable(&a) {
            a.receive(&mut |_, _| {});
        }
        got += b.receive(&mut |_, _| {}).frames;
        got == sent
    });
    assert!(!stream(&a, 1).wants_room());
}
