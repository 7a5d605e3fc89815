use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_testing::{ip, left_out, need};
use hostwire_transport::error::{Disagreement, EnvironmentFault};

use super::*;

/// For a hang: nothing is lost on the way.
const PATIENCE: Duration = Duration::from_secs(30);

fn port() -> FramePort {
    FramePort::open(Ipv4Addr::LOCALHOST.into()).unwrap()
}

/// Receives until there are so many frames.
fn take(port: &mut FramePort, count: usize) -> (Vec<Vec<u8>>, Received) {
    let mut got = Vec::new();
    let mut all = Received::default();
    let begin = Instant::now();
    while all.all() < count && begin.elapsed() < PATIENCE {
        let received = port.receive(&mut |_, frame| got.push(frame.to_vec()));
        all.frames += received.frames;
        all.strangers += received.strangers;
    }
    (got, all)
}

fn send_all(port: &mut FramePort, frames: &[(u32, &[u8])]) {
    let mut sent = 0;
    while sent < frames.len() {
        // As the outbox does.
        let end = frames.len().min(sent + super::super::SEND_BATCH_FRAMES);
        match port.send(&frames[sent..end]) {
            Ok(count) => sent += count,
            Err(error) => assert_eq!(error, SendError::Full),
        }
    }
}

#[test]
fn frames_of_strangers_are_counted_and_dropped() {
    let (mut a, mut b, mut stranger) = (port(), port(), port());
    a.set_peers(0, vec![None, Some(b.address())]).unwrap();
    b.set_peers(1, vec![Some(a.address()), None]).unwrap();
    stranger
        .set_peers(0, vec![None, Some(b.address())])
        .unwrap();
    assert_eq!(stranger.send(&[(1, b"stranger")]), Ok(1));
    assert_eq!(stranger.send(&[(1, b"of"), (1, b"us"), (1, b"3")]), Ok(3));
    // All up to the first without a peer.
    assert_eq!(a.send(&[(1, b"frame"), (1, b""), (0, b"x")]), Ok(2));
    assert_eq!(a.send(&[(2, b"x")]), Err(SendError::Refused));
    assert_eq!(a.send(&[(2, b"x"), (1, b"y")]), Err(SendError::Refused));
    assert_eq!(a.send(&[]), Ok(0));
    let (got, all) = take(&mut b, 6);
    assert_eq!(got, [b"frame".to_vec(), Vec::new()]);
    assert_eq!((all.frames, all.strangers), (2, 4));
}

#[test]
fn a_peer_is_reached_where_its_sealed_frame_came_from() {
    let (mut a, mut b) = (port(), port());
    a.set_peers(0, vec![None, Some(b.address())]).unwrap();
    b.set_peers(1, vec![Some(a.address()), None]).unwrap();
    a.take(Ipv4Addr::new(127, 0, 0, 7).into()).unwrap();
    assert_eq!(a.moves(), 1);
    let header = hostwire_packet::htoe::sealed::Repr {
        destination: 1,
        source: 0,
        number: 9,
    };
    let sealed = [&header.to_bytes()[..], &[5; 40]].concat();
    assert_eq!(
        a.send(&[(1, b"what may be from anybody"), (1, &sealed)]),
        Ok(2)
    );
    assert_eq!(take(&mut b, 2).1.strangers, 2);
    assert_eq!(b.stranger(), Some(&mut sealed.clone()[..]));
    assert_eq!(b.stranger(), None, "once");
    let Address::Udp(address) = a.address() else {
        panic!("{:?}", a.address());
    };
    assert_eq!(b.has_moved(0), Some(address.ip()));
    assert_eq!(b.send(&[(0, b"answer")]), Ok(1));
    assert_eq!(take(&mut a, 1).0, [b"answer".to_vec()]);
    assert_eq!(a.send(&[(1, b"again")]), Ok(1));
    assert_eq!(take(&mut b, 1).0, [b"again".to_vec()]);
}

#[test]
fn a_peer_that_speaks_otherwise_is_named() {
    let station = Address::Station(MacAddress([2; 6]));
    let fault = EnvironmentFault::Disagreement {
        pe: 1,
        with: 0,
        about: Disagreement::Wire {
            theirs: "ether=02:02:02:02:02:02".into(),
            ours: "UDP",
        },
    };
    assert_eq!(
        port().set_peers(0, vec![None, Some(station)]),
        Err(TransportError::environment("connecting the PEs", fault))
    );
}

/// Frames of many lengths, in runs and alone, to two peers in turn.
fn mixed_frames(frame_len_max: usize) -> Vec<(u32, Vec<u8>)> {
    let lens = [frame_len_max, 60, 1, 700, 0, 701];
    let mut frames = Vec::new();
    for number in 0..300_usize {
        // Runs of 1 to 7 frames.
        let run = (number * number / 5) % 23;
        let len = lens[run % lens.len()];
        let bytes = (0..len).map(|at| (at ^ number) as u8).collect();
        frames.push((1 + (run % 3 == 0) as u32, bytes));
    }
    frames
}

/// Two peers get their mixed frames in order, however these are sent.
fn mixed_frames_come(host: IpAddr, set_up: impl Fn(&mut FramePort)) {
    let [mut a, mut b, mut c] = [(); 3].map(|()| FramePort::open(host).unwrap());
    a.set_peers(0, vec![None, Some(b.address()), Some(c.address())])
        .unwrap();
    b.set_peers(1, vec![Some(a.address())]).unwrap();
    c.set_peers(2, vec![Some(a.address())]).unwrap();
    set_up(&mut a);
    let frames = mixed_frames(a.frame_len_max());
    // Fewer at a time than the smallest receive buffers hold.
    let at_a_time = 60 * path::MTU_BYTES / (a.frame_len_max() + a.header_bytes());
    for frames in frames.chunks(at_a_time) {
        let sent: Vec<(u32, &[u8])> = frames.iter().map(|(pe, frame)| (*pe, &frame[..])).collect();
        send_all(&mut a, &sent);
        for (pe, port) in [(1, &mut b), (2, &mut c)] {
            let expected = frames.iter().filter(|(to, _)| *to == pe);
            let expected: Vec<&[u8]> = expected.map(|(_, frame)| &frame[..]).collect();
            let (got, all) = take(port, expected.len());
            assert_eq!(got, expected);
            assert_eq!(all.strangers, 0);
        }
    }
}

#[test]
fn mixed_frames_come_with_offload() {
    mixed_frames_come(Ipv4Addr::LOCALHOST.into(), |_| {});
}

#[test]
fn mixed_frames_come_without_offload() {
    mixed_frames_come(Ipv4Addr::LOCALHOST.into(), |a| a.sender.without_offload());
}

#[test]
fn mixed_frames_come_over_ipv6() {
    if UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        mixed_frames_come(Ipv6Addr::LOCALHOST.into(), |_| {});
    }
}

/// The kernel refuses to segment datagrams without checksums, with EINVAL, each time.
#[test]
fn mixed_frames_come_where_the_system_refuses_to_segment() {
    mixed_frames_come(Ipv4Addr::LOCALHOST.into(), |a| {
        // SAFETY: it reads an int.
        unsafe { option::set(&a.socket, libc::SOL_SOCKET, libc::SO_NO_CHECK, &1_i32) }.unwrap();
    });
}

/// A loopback interface that takes packets of this length, for this thread alone. Says why if
/// there is none.
fn path_of(mtu_bytes: u32) -> Option<()> {
    // SAFETY: changes the network namespace of this thread alone, which runs one test.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == -1 {
        let error = std::io::Error::last_os_error();
        let why = format!("a network namespace of its own needs root: {error}");
        left_out(&need::NAMESPACES, why);
        return None;
    }
    ip(&format!("link set lo up mtu {mtu_bytes}"))
}

#[test]
fn frames_are_as_long_as_the_path_takes_them() {
    for (mtu_bytes, expected) in [
        (4000, 4000),
        (1500, 1500),
        (1000, 1500),
        (20_000, FRAME_LEN_MAX),
    ] {
        if path_of(mtu_bytes).is_none() {
            return;
        }
        let (mut a, mut b) = (port(), port());
        assert_eq!(a.frame_len_max(), 1500 - 28);
        a.set_peers(0, vec![None, Some(b.address())]).unwrap();
        b.set_peers(1, vec![Some(a.address()), None]).unwrap();
        assert_eq!(a.frame_len_max(), expected - 28);
        if mtu_bytes < expected as u32 {
            continue;
        }
        // More of them than one message holds, and a shorter one.
        let long = vec![7; a.frame_len_max()];
        let mut frames = vec![(1, &long[..]); 18];
        frames.push((1, b"short"));
        send_all(&mut a, &frames);
        let (got, _) = take(&mut b, frames.len());
        assert!(got.iter().eq(frames.iter().map(|(_, frame)| frame)));
    }
}

#[test]
fn a_frame_longer_than_the_path_is_refused_alone() {
    if path_of(1000).is_none() {
        return;
    }
    let (mut a, mut b) = (port(), port());
    a.set_peers(0, vec![None, Some(b.address())]).unwrap();
    b.set_peers(1, vec![Some(a.address())]).unwrap();
    let (long, short) = ([1; 1400], [2; 900]);
    let frames: [(u32, &[u8]); 3] = [(1, &long), (1, &long), (1, &short)];
    assert_eq!(a.send(&frames), Err(SendError::Refused));
    assert_eq!(a.send(&frames[1..]), Err(SendError::Refused));
    assert_eq!(a.send(&frames[2..]), Ok(1));
    assert_eq!(a.send(&[(1, &short), (1, &short), (1, b"3")]), Ok(3));
    // For now, not for good.
    assert_eq!(a.offload(), port().offload());
    let (got, _) = take(&mut b, 4);
    assert_eq!(got, [&short[..], &short, &short, b"3"]);
}

#[test]
fn a_receiver_that_does_not_ask_gets_datagrams() {
    let (mut a, b) = (port(), UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let to = Address::Udp(b.local_addr().unwrap());
    a.set_peers(0, vec![None, Some(to)]).unwrap();
    b.set_read_timeout(Some(PATIENCE)).unwrap();
    send_all(&mut a, &[(1, b"one"), (1, b"two"), (1, b"3")]);
    let mut buffer = [0; 16];
    for expected in [&b"one"[..], b"two", b"3"] {
        let len = b.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..len], expected);
    }
}
