use std::net::{IpAddr, Ipv4Addr};

use super::super::udp::FramePort;
use super::*;

fn port() -> Socket {
    Socket::of(FramePort::open(IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap())
}

fn several(count: usize) -> Socket {
    Socket::several((0..count).map(|_| port()).collect()).unwrap()
}

#[test]
fn one_stays_what_it_is_and_none_or_too_many_are_refused() {
    assert_eq!(several(1).address().interfaces(), 1);
    assert_eq!(several(2).address().interfaces(), 2);
    for count in [0, INTERFACES_MAX + 1] {
        let error = Socket::several((0..count).map(|_| port()).collect()).unwrap_err();
        assert!(matches!(error, TransportError::Misused { .. }), "{error}");
    }
}

#[test]
fn peers_have_as_many_interfaces() {
    for (ours, theirs) in [(1, 2), (2, 1), (2, 3)] {
        let error = several(ours).set_peers(0, vec![None, Some(several(theirs).address())]);
        let text = error.unwrap_err().to_string();
        assert!(text.contains("HOSTWIRE_IFACE"), "{text}");
    }
}

/// Bursts of frames over two paths, both ways. Each frame comes once.
#[test]
fn frames_take_all_paths_and_are_shown_once() {
    let mut ends = [several(2), several(2)];
    let [left, right] = ends.each_ref().map(|socket| socket.address());
    ends[0].set_peers(0, vec![None, Some(right)]).unwrap();
    ends[1].set_peers(1, vec![Some(left), None]).unwrap();
    for number in 0..50_u8 {
        for host in [0, 1] {
            let frame = [0x10, number, 1, 2];
            assert_eq!(ends[host].send(&[(1 - host as u32, &frame[..]); 3]), Ok(3));
            let mut seen = Vec::new();
            while seen.len() < 3 {
                let received = ends[1 - host]
                    .receive(&mut |came, bytes| seen.push((came.host, bytes.to_vec())));
                assert_eq!(received.strangers, 0);
            }
            assert_eq!(seen, vec![(host as u32, frame.to_vec()); 3]);
            // The next burst may take another path.
            std::thread::sleep(std::time::Duration::from_nanos(paths::QUIET_NS));
        }
    }
}
