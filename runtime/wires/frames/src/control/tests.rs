//! Hosts as threads, whose connections go over the loopback.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Barrier;

use hostwire_link::seal::{JobKey, Life, PROOF_LEN};

use super::greeting::{GREETING_LEN, Greeting};
use super::*;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn party(own: u32, addresses: &[SocketAddr], key: u8) -> Party {
    let host = |(number, address): (u32, &SocketAddr)| {
        let life = Life([number as u8; 16]);
        (Some(*address), Some(life))
    };
    Party {
        own,
        hosts: (0..).zip(addresses).map(host).collect(),
        key: Some(JobKey::new([key; 32])),
    }
}

/// The connections of hosts with these keys. Each knows which hosts the others reach.
fn meet(keys: &[u8], deadline: Instant) -> Vec<Vec<(u32, OwnedFd)>> {
    let doors: Vec<Door> = keys.iter().map(|_| Door::open(HERE).unwrap()).collect();
    let addresses: Vec<SocketAddr> = doors.iter().map(Door::address).collect();
    let called = Barrier::new(keys.len());
    std::thread::scope(|scope| {
        let hosts = (0..).zip(doors.into_iter().zip(keys));
        let hosts: Vec<_> = hosts
            .map(|(own, (door, key))| {
                let (addresses, called) = (&addresses, &called);
                scope.spawn(move || {
                    let calls = door.call(party(own, addresses, *key), soon());
                    assert_eq!(calls.reached().len(), own as usize);
                    called.wait();
                    let expected: Vec<u32> = (own + 1..addresses.len() as u32).collect();
                    calls.meet(&expected, deadline)
                })
            })
            .collect();
        hosts.into_iter().map(|host| host.join().unwrap()).collect()
    })
}

/// One PE per host.
fn watching(connections: Vec<(u32, OwnedFd)>) -> ControlConnections {
    ControlConnections::new(0..4, connections)
}

/// Which hosts have ended, as soon as this is `expected`: the kernel may need some time.
fn look_for(control: &ControlConnections, expected: [bool; 4]) -> [bool; 4] {
    let limit = soon();
    loop {
        control.look();
        let seen = [0, 1, 2, 3].map(|pe| control.has_ended(pe));
        if seen == expected || Instant::now() >= limit {
            return seen;
        }
        std::thread::yield_now();
    }
}

#[test]
fn the_end_of_a_host_is_seen_by_all_others_and_by_all_their_pes() {
    let mut hosts = meet(&[7; 4], soon());
    let lasting = hosts.pop().unwrap();
    let copies = lasting.iter();
    let copies: Vec<(u32, OwnedFd)> = copies
        .map(|(host, fd)| (*host, fd.try_clone().unwrap()))
        .collect();
    let (one_pe, another_pe) = (watching(lasting), watching(copies));
    let second = watching(hosts.remove(1));
    assert!((0..3).all(|pe| one_pe.leads_to(pe)) && !one_pe.leads_to(3));
    let ended = [false; 4];
    assert_eq!(look_for(&one_pe, ended), ended);
    // Host 0 has ended, and host 2 has not.
    drop(hosts.remove(0));
    let ended = [true, false, false, false];
    for control in [&one_pe, &another_pe, &second] {
        assert_eq!(look_for(control, ended), ended);
    }
    // A PE of host 3 has ended, and another one lives.
    drop(one_pe);
    assert_eq!(look_for(&second, ended), ended);
    drop(another_pe);
    let ended = [true, false, false, true];
    assert_eq!(look_for(&second, ended), ended);
}

#[test]
fn a_host_with_another_key_is_not_let_in() {
    let hosts = meet(&[7, 8], Instant::now() + Duration::from_millis(100));
    assert!(hosts.iter().all(Vec::is_empty), "{hosts:?}");
}

#[test]
fn strangers_hear_nothing_and_keep_nobody_out() {
    let door = Door::open(HERE).unwrap();
    let address = door.address();
    let strangers = [
        &[][..],
        b"GET / HTTP/1.1\r\n\r\n and more than forty-eight bytes of it",
        &Greeting {
            from: 1,
            to: 0,
            shown: [0; PROOF_LEN],
        }
        .to_bytes(),
    ]
    .map(|says| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(says).unwrap();
        stream
    });
    let caller = Door::open(HERE).unwrap();
    let addresses = [address, caller.address()];
    let made = std::thread::scope(|scope| {
        let calls = caller.call(party(1, &addresses, 7), soon());
        let host = scope.spawn(|| {
            let calls = door.call(party(0, &addresses, 7), soon());
            calls.meet(&[1], soon())
        });
        (calls.meet(&[], soon()), host.join().unwrap())
    });
    assert_eq!((made.0.len(), made.1.len()), (1, 1));
    for mut stream in strangers {
        let mut heard = Vec::new();
        // An end of the connection of any kind is no answer.
        let _ = stream.read_to_end(&mut heard);
        assert_eq!(heard, []);
    }
}

/// More hosts than the bound for strangers, and all have called before this one accepts.
#[test]
fn many_hosts_are_let_in_at_once() {
    const HOSTS: u32 = 100;
    let door = Door::open(HERE).unwrap();
    let party = |own| {
        let mut party = party(own, &[door.address(); HOSTS as usize], 7);
        for (address, _) in party.hosts.iter_mut().skip(1) {
            *address = None;
        }
        party
    };
    let (first, others): (Party, Vec<Party>) = (party(0), (1..HOSTS).map(party).collect());
    let callers: Vec<Calls> = others
        .into_iter()
        .map(|party| Door::open(HERE).unwrap().call(party, soon()))
        .collect();
    assert!(callers.iter().all(|caller| caller.reached() == [0]));
    let expected: Vec<u32> = (1..HOSTS).collect();
    let made = door.call(first, soon()).meet(&expected, soon());
    assert_eq!(made.len(), expected.len());
}

#[test]
fn who_is_not_answered_lets_go_and_is_not_taken_for_ended() {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let door = Door::open(HERE).unwrap();
    let addresses = [listener.local_addr().unwrap(), door.address()];
    let calls = door.call(party(1, &addresses, 7), soon());
    let (mut stream, _) = listener.accept().unwrap();
    assert_eq!(calls.meet(&[], Instant::now()).len(), 0);
    // That host has read the greeting, and answers too late.
    stream.read_exact(&mut [0; GREETING_LEN]).unwrap();
    stream.set_nonblocking(true).unwrap();
    let control = ControlConnections::new([0, 1], [(1, stream.into())]);
    let limit = soon();
    while control.leads_to(1) && Instant::now() < limit {
        control.look();
    }
    assert!(!control.has_ended(1) && !control.leads_to(1));
}

#[test]
fn a_call_that_is_refused_reaches_nobody() {
    let nobody = TcpListener::bind((HERE, 0)).unwrap().local_addr().unwrap();
    let door = Door::open(HERE).unwrap();
    let calls = door.call(party(1, &[nobody, nobody], 7), soon());
    assert!(calls.reached().is_empty());
    assert!(calls.meet(&[], soon()).is_empty());
}

#[test]
fn among_many_hosts_each_calls_those_around_it() {
    let address = SocketAddr::from((HERE, 1));
    for hosts in [2, CONNECTIONS_MAX + 1, CONNECTIONS_MAX + 2, 1000] {
        let addresses = vec![address; hosts];
        let mut connections = vec![0; hosts];
        for own in 0..hosts {
            for (host, _) in party(own as u32, &addresses, 7).to_call() {
                assert!((host as usize) < own);
                connections[own] += 1;
                connections[host as usize] += 1;
            }
        }
        let each = (hosts - 1).min(CONNECTIONS_MAX);
        assert!(connections.iter().all(|count| *count == each), "{hosts}");
    }
}
