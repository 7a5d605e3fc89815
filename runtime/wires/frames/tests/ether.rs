//! The suite of the transports over Ethernet: hosts in one process, that reach each other
//! by UDP, by TCP or by frames between two ends of a virtual cable.
#![allow(clippy::print_stderr)]

#[path = "ether/namespaces.rs"]
mod namespaces;

use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_frames::limits::{BareEther, ping_pong};
use hostwire_frames::{
    Ether, EtherOptions, FramePort, Interface, LocalOptions, LocalWire, Roster, Secrets, Socket,
    XdpSocket,
};
use hostwire_link::seal::{JobKey, Life};
use hostwire_link::{CloseReason, Counters, DropCause};
use hostwire_testing::{ip, or_long};
use hostwire_transport::conformance::copies;
use hostwire_transport::conformance::{CASES, Program, Random, Testbed, run_on_threads};
use hostwire_transport::error::Silence;
use hostwire_transport::limits::Side;
use hostwire_transport::wire::Liveness;
use hostwire_transport::{EnvironmentFault, Memory, TransportError, Visibility, Window, Wire};
use namespaces::{cable, cables, switch};

const ETHER_TYPE: u16 = 0x88b5;

/// PEs are threads of this process, dealt out to hosts.
struct Hosts {
    hosts: u32,
    wire: LocalWire,
    options: LocalOptions,
}

impl Testbed for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let made =
            hostwire_frames::local(pes, self.hosts, segment_bytes, &self.wire, &self.options);
        let made = made.expect("making the wire").into_iter();
        run_on_threads(made.map(|pe| pe.wires).collect(), program);
    }
}

const BARE: LocalOptions = LocalOptions {
    insecure: true,
    faults: None,
    ether: EtherOptions {
        lost_after: hostwire_transport::LOST_AFTER,
    },
};

/// A host with two PEs and one with another; alone and a pair in `make test-long`.
fn pes() -> &'static [u32] {
    or_long(&[3], &[1, 2, 3, 4])
}

fn run(name: &str, fabric: &Hosts) {
    let case = CASES
        .iter()
        .chain([&copies::CASE])
        .find(|case| case.name == name);
    for pes in pes() {
        (case.unwrap().run)(fabric, *pes);
    }
}

/// Every PE on a host of its own.
fn apart(name: &str) {
    apart_over(LocalWire::Udp, name);
}

/// The same on TCP connections.
fn connected(name: &str) {
    apart_over(LocalWire::Tcp, name);
}

fn apart_over(wire: LocalWire, name: &str) {
    run(
        name,
        &Hosts {
            hosts: u32::MAX,
            wire,
            options: LocalOptions::default(),
        },
    );
}

/// Some share memory, some do not; frames are not encrypted and meet faults.
fn connected_with_faults(name: &str) {
    let faults = "drop=0.02,dup=0.02,reorder=0.02,flip=0.02,seed=5";
    run(
        name,
        &Hosts {
            hosts: 2,
            wire: LocalWire::Tcp,
            options: LocalOptions {
                faults: Some(faults.parse().unwrap()),
                ..BARE
            },
        },
    );
}

/// Two connections to each host.
fn two_connections(name: &str) {
    run(
        name,
        &Hosts {
            hosts: 2,
            wire: LocalWire::Several(vec![LocalWire::Tcp; 2]),
            options: LocalOptions::default(),
        },
    );
}

/// Some share memory, some do not; frames are not encrypted.
fn mixed(name: &str) {
    run(
        name,
        &Hosts {
            hosts: 2,
            wire: LocalWire::Udp,
            options: BARE,
        },
    );
}

/// As `mixed`, by frames.
fn frames(name: &str) {
    let Some(interfaces) = cable() else {
        return;
    };
    let wire = LocalWire::Packet {
        interfaces,
        ether_type: ETHER_TYPE,
    };
    run(
        name,
        &Hosts {
            hosts: 2,
            wire,
            options: LocalOptions::default(),
        },
    );
}

/// Every PE on a host of its own, with an AF_XDP socket.
fn past_the_stack(name: &str) {
    past_the_stack_with(name, 1);
}

/// The same, and frames of different hosts come in on different queues.
fn several_queues(name: &str) {
    past_the_stack_with(name, 4);
}

fn past_the_stack_with(name: &str, queues: u32) {
    let Some(interfaces) = switch(4, queues) else {
        return;
    };
    let wire = LocalWire::Xdp {
        interfaces,
        ether_type: ETHER_TYPE,
    };
    run(
        name,
        &Hosts {
            hosts: u32::MAX,
            wire,
            options: LocalOptions::default(),
        },
    );
}

/// As `frames`, with two cables between the hosts.
fn two_cables(name: &str) {
    let Some(cables) = cables(2) else {
        return;
    };
    let wire = LocalWire::Several(cables.map(over_frames).collect());
    run(
        name,
        &Hosts {
            hosts: 2,
            wire,
            options: LocalOptions::default(),
        },
    );
}

fn over_frames(interfaces: Vec<Interface>) -> LocalWire {
    LocalWire::Packet {
        interfaces,
        ether_type: ETHER_TYPE,
    }
}

macro_rules! over {
    ($wire:ident; $($case:ident,)*) => {
        over!($wire, cfg(all()); $($case,)*);
    };
    // For `make test-long`: sockets, queues and cables one by one; the other tests have them too.
    (long $wire:ident; $($case:ident,)*) => {
        over!($wire, ignore = "a combination; make test-long"; $($case,)*);
    };
    ($wire:ident, $kind:meta; $($case:ident,)*) => {
        mod $wire {
            $(#[test]
            #[$kind]
            fn $case() {
                super::$wire(stringify!($case));
            })*
        }
    };
}

#[test]
fn copies_are_refused() {
    for run in [
        apart,
        connected,
        connected_with_faults,
        two_connections,
        mixed,
        frames,
        past_the_stack,
        several_queues,
        two_cables,
    ] {
        // Each in network namespaces of its own.
        std::thread::spawn(move || run(copies::CASE.name))
            .join()
            .unwrap();
    }
}

hostwire_transport::transport_cases!(over!(apart));
hostwire_transport::transport_cases!(over!(connected));
hostwire_transport::transport_cases!(over!(connected_with_faults));
hostwire_transport::transport_cases!(over!(two_connections));
hostwire_transport::transport_cases!(over!(mixed));
hostwire_transport::transport_cases!(over!(frames));
hostwire_transport::transport_cases!(over!(long past_the_stack));
hostwire_transport::transport_cases!(over!(several_queues));
hostwire_transport::transport_cases!(over!(long two_cables));

/// The wires between two hosts alone, each with one PE.
fn pair(wire: &LocalWire, options: &LocalOptions) -> Result<Vec<Arc<Ether>>, TransportError> {
    let made = hostwire_frames::local(2, 2, 1 << 20, wire, options)?;
    Ok(made.into_iter().map(|pe| pe.ether.unwrap()).collect())
}

/// The wires that need neither rights nor cables.
const ON_LOOPBACK: [LocalWire; 2] = [LocalWire::Udp, LocalWire::Tcp];

/// Sends `frames` random frames of the EtherType from `from` to `to`, many of them with the
/// beginning of a real one.
fn flood(from: &Interface, to: &Interface, frames: u32) {
    // SAFETY: no pointers; the result is used as a descriptor only.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0) };
    assert_ne!(socket, -1, "{}", std::io::Error::last_os_error());
    let [a, b, c, d, e, f] = to.station.0;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: ETHER_TYPE.to_be(),
        sll_ifindex: from.index as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 6,
        sll_addr: [a, b, c, d, e, f, 0, 0],
    };
    let mut random = Random::new(7);
    for round in 0..frames {
        let len = random.below(1500);
        let mut frame = random.bytes(len);
        // Version 1, every type, virtual link 0, the next number.
        let mut beginning = [0; 20];
        beginning[0] = 0x10 | (round % 6) as u8;
        // For node 1, from node 0: the fields that the filter checks.
        beginning[7] = 1;
        // A sealed one that is new.
        beginning[17] = 0x80;
        if round % 3 > 0 && frame.len() >= beginning.len() {
            frame[..beginning.len()].copy_from_slice(&beginning);
        }
        // SAFETY: reads `frame` and `address`, which outlive the call, with their lengths.
        unsafe {
            libc::sendto(
                socket,
                frame.as_ptr().cast(),
                frame.len(),
                0,
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
    }
    // SAFETY: opened above, closed once.
    unsafe { libc::close(socket) };
}

/// From the station of a peer itself, so that only the contents of frames show that they are
/// foreign.
#[test]
fn foreign_frames_are_counted_and_change_nothing() {
    let Some(counters) = stores_under_a_flood(&LocalOptions::default()) else {
        return;
    };
    for cause in [DropCause::Forged, DropCause::Unsealed] {
        assert!(counters.dropped(cause) > 0, "{counters:?}");
    }
}

#[test]
fn foreign_frames_are_counted_without_encryption_as_well() {
    let Some(counters) = stores_under_a_flood(&BARE) else {
        return;
    };
    for cause in [DropCause::Corrupt, DropCause::Sealed] {
        assert!(counters.dropped(cause) > 0, "{counters:?}");
    }
}

/// The counters of the receiver.
fn stores_under_a_flood(options: &LocalOptions) -> Option<Counters> {
    const STORES: u64 = 3000;
    let interfaces = cable()?;
    let wire = LocalWire::Packet {
        interfaces: interfaces.clone(),
        ether_type: ETHER_TYPE,
    };
    let wires = pair(&wire, options).unwrap();
    let [from, to] = &wires[..] else {
        panic!("two PEs");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| flood(&interfaces[0], &interfaces[1], 5000));
        for number in 1..=STORES {
            let at = 4096 + number as usize * 8;
            from.store_word(1, at, number).unwrap();
        }
        from.quiet().unwrap();
    });
    for number in 1..=STORES {
        let at = 4096 + number as usize * 8;
        assert_eq!(to.segment().load_word(at), Ok(number));
    }
    // The rest of memory has not changed.
    let mut rest = vec![0; 1 << 19];
    to.segment().get(1 << 19, &mut rest).unwrap();
    assert!(rest.iter().all(|byte| *byte == 0));
    let counters = to.counters();
    assert_eq!((to.close_reason(0), from.close_reason(1)), (None, None));
    Some(counters)
}

/// The others notice at once that a PE finishes, and may still store to it; no PE
/// hangs.
#[test]
fn who_has_finished_takes_stores_that_do_nothing() {
    for wire in ON_LOOPBACK {
        who_has_finished_takes_stores(&wire);
    }
}

fn who_has_finished_takes_stores(wire: &LocalWire) {
    let mut wires = pair(wire, &LocalOptions::default()).unwrap();
    let (other, own) = (wires.pop().unwrap(), wires.pop().unwrap());
    own.store_word(1, 8192, 5).unwrap();
    own.quiet().unwrap();
    assert_eq!(other.segment().load_word(8192), Ok(5));
    drop(other);
    let begin = std::time::Instant::now();
    while own.is_alive(1).unwrap() && begin.elapsed() < std::time::Duration::from_secs(60) {
        own.poll().unwrap();
    }
    assert_eq!(own.close_reason(1), Some(CloseReason::PeerFinished));
    assert_eq!(own.store(1, 8192, &[1; 100_000]), Ok(()));
    assert_eq!(own.quiet(), Ok(()));
}

/// All injected faults are repaired, and they do happen.
#[test]
fn faults_are_survived_and_counted() {
    let faults = "drop=0.05,dup=0.05,reorder=0.05,flip=0.05,seed=11";
    let all = ON_LOOPBACK
        .iter()
        .flat_map(|wire| [(wire, false), (wire, true)]);
    for (wire, insecure) in all {
        let options = LocalOptions {
            insecure,
            faults: Some(faults.parse().unwrap()),
            ..LocalOptions::default()
        };
        let wires = pair(wire, &options).unwrap();
        let [from, to] = &wires[..] else {
            panic!("two PEs");
        };
        let data = Random::new(3).bytes(1 << 19);
        // Frames on the loopback interface are long: repeated to have enough of them.
        for _ in 0..4 {
            from.store(1, 1 << 18, &data).unwrap();
        }
        from.quiet().unwrap();
        let mut got = vec![0; data.len()];
        to.segment().get(1 << 18, &mut got).unwrap();
        assert!(got == data, "{faults}, insecure: {insecure}");
        assert!(from.socket_counters().injected > 20);
        assert!(from.counters().frames_resent > 0);
    }
}

/// Two PEs that do not agree on encryption or on the key get an error instead of waiting
/// for ever; those that agree work.
#[test]
fn disagreement_on_encryption_is_named() {
    let key = |byte| Some(JobKey::new([byte; 32]));
    for (keys, expected) in [
        ([key(1), key(1)], [None, None]),
        ([None, None], [None, None]),
        (
            [key(1), None],
            [Some(Silence::Unsealed), Some(Silence::Sealed)],
        ),
        ([key(1), key(2)], [Some(Silence::Forged); 2]),
    ] {
        let sockets = [0, 1].map(|_| FramePort::open(Ipv4Addr::LOCALHOST.into()).unwrap());
        let sockets = sockets.map(Socket::of);
        let addresses = [sockets[0].address(), sockets[1].address()];
        let deadline = Instant::now() + Duration::from_secs(2);
        let joined: Vec<_> = std::thread::scope(|scope| {
            let threads = (0..).zip(sockets).zip(&keys).map(|((pe, socket), key)| {
                let memory = Memory::anonymous(1 << 20);
                let segment = Window::own(memory, Visibility::Coherent).unwrap();
                let mut peers = addresses.map(Some).to_vec();
                peers[pe as usize] = None;
                let roster = Roster {
                    host: pe,
                    host_of: Arc::new([0, 1]),
                    job: 7,
                    peers,
                    secrets: key.clone().map(|key| Secrets {
                        key,
                        lives: vec![Life([3; 16]); 2],
                    }),
                };
                let options = EtherOptions::default();
                scope.spawn(move || {
                    Ether::connect(vec![segment], socket, &roster, &options, deadline)
                })
            });
            let threads: Vec<_> = threads.collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        for (joined, expected) in joined.iter().zip(expected) {
            let got = match joined {
                Ok(_) => None,
                Err(TransportError::Environment {
                    fault: EnvironmentFault::NoAnswer { silence, .. },
                    ..
                }) => Some(*silence),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(got, expected);
        }
    }
}

/// Frames that an interface has sent.
fn frames_sent(interface: &str) -> u64 {
    let shown = Command::new("ip")
        .args(["-s", "link", "show", interface])
        .output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    // Below "TX: bytes packets ...".
    let line = shown
        .lines()
        .skip_while(|line| !line.contains("TX:"))
        .nth(1);
    line.unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

/// Bursts of words, the last one at `last`: each word is its number.
fn store_words(from: &Ether, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        from.store_word(1, 4096 + number as usize * 8, number)
            .unwrap();
        if number % 10 == 0 {
            from.quiet().unwrap();
            // The next burst may take another cable.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    from.quiet().unwrap();
}

/// A cable is pulled in the middle of a stream, once at one end and once at the other, and put back:
/// nothing is lost, and the other cable goes on.
fn one_of_two_cables_is_pulled(of: fn(Vec<Interface>) -> LocalWire) {
    const WORDS: u64 = 500;
    let Some(cables) = cables(2) else { return };
    let wires = pair(
        &LocalWire::Several(cables.map(of).collect()),
        &LocalOptions::default(),
    );
    let wires = wires.unwrap();
    let [from, to] = &wires[..] else {
        panic!("two PEs");
    };
    let sent = || [frames_sent("left0"), frames_sent("left1")];
    let before = sent();
    store_words(from, 1..=WORDS);
    let after = sent();
    for (before, after) in before.iter().zip(after) {
        // At least a quarter of the frames that one cable would have carried; reports alone are
        // fewer.
        assert!(after - before >= WORDS / 10 / 4, "{before} to {after}");
    }
    let data = Random::new(5).bytes(1 << 18);
    for (round, pulled) in (2..).zip(["left0", "right1", "left1", "right0"]) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..20 {
                    from.store(1, 1 << 18, &data).unwrap();
                    from.quiet().unwrap();
                }
                store_words(from, (round - 1) * WORDS + 1..=round * WORDS);
            });
            // The namespace is that of this thread.
            ip(&format!("link set {pulled} down")).unwrap();
        });
        let mut got = vec![0; data.len()];
        to.segment().get(1 << 18, &mut got).unwrap();
        assert!(got == data, "{pulled}");
        ip(&format!("link set {pulled} up")).unwrap();
        assert_eq!((to.close_reason(0), from.close_reason(1)), (None, None));
        // Both ways work again before the next one is pulled.
        store_words(from, 1..=WORDS);
    }
    for number in 1..=5 * WORDS {
        let at = 4096 + number as usize * 8;
        assert_eq!(to.segment().load_word(at), Ok(number));
    }
}

#[test]
fn one_of_two_cables_is_pulled_from_packet_sockets() {
    one_of_two_cables_is_pulled(over_frames);
}

#[test]
fn one_of_two_cables_is_pulled_past_the_stack() {
    one_of_two_cables_is_pulled(|interfaces| LocalWire::Xdp {
        interfaces,
        ether_type: ETHER_TYPE,
    });
}

/// The numbers of the effective rights of a thread, by its place in `/proc`.
fn rights(thread: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
}

/// The thread that receives frames has lost the right to open raw sockets, but no other right.
#[test]
fn the_right_to_open_raw_sockets_is_given_up() {
    const NET_RAW: u64 = 1 << 13;
    let Some(interfaces) = cable() else { return };
    let here = "thread-self";
    let net = |thread: &str| std::fs::read_link(format!("/proc/{thread}/ns/net"));
    let (before, namespace) = (rights(here), net(here).unwrap());
    assert_ne!(before & NET_RAW, 0);
    let wire = LocalWire::Packet {
        interfaces,
        ether_type: ETHER_TYPE,
    };
    let wires = pair(&wire, &LocalOptions::default()).unwrap();
    // The agents of this test, not of others that run at the same time.
    let agents = || -> Vec<u64> {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names = tasks.map(|task| task.unwrap().file_name().into_string().unwrap());
        let threads = names.map(|task| format!("self/task/{task}"));
        let ours = threads.filter(|thread| {
            let name = std::fs::read_to_string(format!("/proc/{thread}/comm"));
            name.is_ok_and(|name| name.trim() == "hostwire-ether")
                && net(thread).is_ok_and(|net| net == namespace)
        });
        ours.map(|thread| rights(&thread)).collect()
    };
    // A thread takes its name when it first runs.
    while agents().len() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(agents(), [before & !NET_RAW; 2]);
    drop(wires);
    // This thread has not connected.
    assert_eq!(rights(here), before);
}

/// An AF_XDP socket takes the frames of its EtherType and no others, and leaves nothing
/// behind.
#[test]
fn frames_of_others_pass_an_xdp_socket() {
    let Some(interfaces) = cable() else { return };
    let [left, right] = &interfaces[..] else {
        panic!("two ends");
    };
    let attached = || {
        let shown = Command::new("ip").args(["link", "show", "left"]).output();
        String::from_utf8_lossy(&shown.unwrap().stdout).contains("xdp")
    };
    let socket = XdpSocket::open(left, ETHER_TYPE).unwrap();
    assert!(attached());
    assert!(matches!(
        XdpSocket::open(left, ETHER_TYPE),
        Err(TransportError::Environment {
            fault: EnvironmentFault::InUse { .. },
            ..
        })
    ));
    let end = |own: &Interface, peer: &Interface| {
        BareEther::open(own, ETHER_TYPE + 1, peer.station).unwrap()
    };
    let (mut first, mut second) = (end(left, right), end(right, left));
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| ping_pong(&mut second, Side::Second, 64, 20).unwrap());
        assert!(ping_pong(&mut first, Side::First, 64, 20).unwrap() > 0.0);
        answer.join().unwrap();
    });
    drop(socket);
    assert!(!attached());
}
