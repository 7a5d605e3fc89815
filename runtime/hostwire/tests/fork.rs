//! A program that forks: what the child may do with the job, and what the parent sees of it.

#![allow(clippy::print_stderr)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hostwire::{
    AgentMode, Compare, Error, Job, Layout, Lock, Result, SignalOp, Sizes, Symmetric, Team, op,
};
use hostwire_frames::{
    Ether, EtherOptions, FramePort, JobKey, Life, LocalOptions, LocalWire, Roster, Secrets, Socket,
};
use hostwire_transport::conformance::copies::{Copying, in_copy};
use hostwire_transport::conformance::{Program, Testbed, Threads, Wrapping, run_on_threads};
use hostwire_transport::{Memory, TransportError, Visibility, Window, Wire};

const SIZES: Sizes = Sizes {
    ring_bytes: 4096,
    heap_bytes: 1 << 20,
    ..Sizes::USUAL
};

fn segment_bytes(pes: u32) -> usize {
    Layout::new(pes, SIZES).unwrap().segment_bytes()
}

/// The objects of a PE when it forks.
struct Hands {
    job: Job,
    words: Symmetric<u64>,
    lock: RefCell<Lock>,
    team: Team,
}

impl Hands {
    fn new(wire: Arc<dyn Wire>, mode: AgentMode) -> Self {
        let job = Job::over(wire, SIZES, mode).unwrap();
        let words = job.alloc(64).unwrap();
        let lock = RefCell::new(job.lock().unwrap());
        let team = job.world().split(Some(0), 0).unwrap().unwrap();
        Self {
            job,
            words,
            lock,
            team,
        }
    }

    /// Every operation that can return an error, with the peer and with the PE itself: the
    /// names of those that do not return `Copied`. None of them allocates before it is
    /// refused.
    fn not_refused(&self) -> Vec<&'static str> {
        let Self {
            job,
            words,
            lock,
            team,
        } = self;
        let (own, peer) = (job.pe(), 1 - job.pe());
        let wrong = RefCell::new(Vec::new());
        let expected = TransportError::Forked {
            pe: own,
            process: std::os::unix::process::parent_id(),
        };
        let expected = Error::Copied(expected);
        let note = |name: &'static str, got: Option<Error>| {
            if got.as_ref() != Some(&expected) {
                wrong.borrow_mut().push(name);
            }
        };
        note("part", words.part(1..).err());
        note("cast", words.cast::<u32>().err());
        for pe in [own, peer] {
            note("put", words.put(pe, 0, &[1]).err());
            note("put of a line", words.put(pe, 0, &[1; 8]).err());
            note("put of much", words.put(pe, 0, &[1; 64]).err());
            note("get", words.get(pe, 0, &mut [0]).err());
            note("get_nbi", words.get_nbi(pe, 0, &mut [0]).err());
            note(
                "put_strided",
                words.put_strided(pe, 0, 2, &[1, 2], 1, 2).err(),
            );
            note(
                "get_strided",
                words.get_strided(pe, 0, 2, &mut [1, 2], 1, 2).err(),
            );
            let signalled = words.put_with_signal(pe, 0, &[1], words, 1, SignalOp::Add(1));
            note("put_with_signal", signalled.err());
            note("fetch", words.fetch(pe, 0).err());
            note("set", words.set(pe, 0, 3).err());
            note("swap", words.swap(pe, 0, 3).err());
            note("compare_swap", words.compare_swap(pe, 0, 0, 3).err());
            note("fetch_add", words.fetch_add(pe, 0, 3).err());
            note("add", words.add(pe, 0, 3).err());
            note("fetch_and", words.fetch_and(pe, 0, 3).err());
            note("acquire", lock.borrow_mut().acquire().err());
            note("try_acquire", lock.borrow_mut().try_acquire().err());
            note("fetch_or", words.fetch_or(pe, 0, 3).err());
            note("fetch_min", words.fetch_min(pe, 0, 3).err());
            note("fetch_max", words.fetch_max(pe, 0, 3).err());
            note("fetch_xor", words.fetch_xor(pe, 0, 3).err());
            note("send", job.send(pe, 0, &[1u8]).err());
            note("send of two lines", job.send(pe, 0, &[1u8; 100]).err());
            note("send of much", job.send(pe, 0, &[1u8; 100_000]).err());
            note("send_from", job.send_from(pe, 0, words, 0, 4).err());
            note("recv", job.recv(pe, 0, &mut [0u8]).err());
            note("recv of two lines", job.recv(pe, 0, &mut [0u8; 100]).err());
            note("recv_vec", job.recv_vec::<u8>(pe, 0).err());
            note("recv_into", job.recv_into(pe, 0, words, 0, 4).err());
            note("try_recv", job.try_recv(pe, 0, &mut [0u8]).err());
            note(
                "exchange",
                job.exchange(pe, &[1u8], pe, &mut [0u8], 0).err(),
            );
            assert!(words.memory(pe).is_none() && words.local_ptr(pe).is_none());
        }
        note("load", words.load(0).err());
        note("store", words.store(0, 1).err());
        note("read", words.read(0, &mut [0]).err());
        note("write", words.write(0, &[0]).err());
        note("test", words.test(0, Compare::Eq, 9).err());
        note("test_any", words.test_any(&[], Compare::Eq, 9).err());
        note("test_some", words.test_some(&[], Compare::Eq, 9).err());
        note("test_all", words.test_all(&[], Compare::Eq, 9).err());
        note("wait_until", words.wait_until(0, Compare::Eq, 9).err());
        note(
            "wait_until_any",
            words.wait_until_any(&[], Compare::Eq, 9).err(),
        );
        note(
            "wait_until_some",
            words.wait_until_some(&[], Compare::Eq, 9).err(),
        );
        note(
            "wait_until_all",
            words.wait_until_all(&[], Compare::Eq, 9).err(),
        );
        note("fence", job.fence().err());
        note("quiet", job.quiet().err());
        note("barrier", job.barrier().err());
        note("alloc", job.alloc::<u8>(1).err());
        for team in [job.world(), team] {
            note("team barrier", team.barrier().err());
            note("broadcast", team.broadcast(0, &mut [1u8]).err());
            note(
                "all_reduce",
                team.all_reduce(&mut [1u8], |a, b| a + b).err(),
            );
            note("scan", team.scan(&mut [1u8], |a, b| a + b).err());
            note("all_gather", team.all_gather(&[1u8], &mut [0, 0]).err());
            note("reduce", team.reduce(0, &mut [1u8], op::sum).err());
            note(
                "reduce_scatter",
                team.reduce_scatter(&[1u8, 2], &mut [0], op::sum).err(),
            );
            note(
                "exclusive_scan",
                team.exclusive_scan(&mut [1u8], 0, op::sum).err(),
            );
            note("gather", team.gather(0, &[1u8], &mut [0, 0]).err());
            note("scatter", team.scatter(0, &[1u8, 2], &mut [0]).err());
            note(
                "gather_v",
                team.gather_v(0, &[1u8], &[1, 1], &mut [0, 0]).err(),
            );
            note(
                "scatter_v",
                team.scatter_v(0, &[1u8, 2], &[1, 1], &mut [0]).err(),
            );
            note(
                "all_gather_v",
                team.all_gather_v(&[1u8], &[1, 1], &mut [0, 0]).err(),
            );
            let counts = [1, 1];
            let into = &mut [0, 0];
            note(
                "all_to_all_v",
                team.all_to_all_v(&[1u8, 2], &counts, into, &counts).err(),
            );
            note("all_to_all", team.all_to_all(&[1u8, 2], &mut [0, 0]).err());
            note("split", team.split(Some(0), 0).err());
        }
        wrong.into_inner()
    }
}

/// The child drops its objects, as a program does that ends. `false` if this gives a wrong
/// result.
fn give_back(hands: Hands, finalizes: bool) -> bool {
    let Hands {
        job,
        words,
        lock,
        team,
    } = hands;
    let freed: Result<()> = words.free();
    drop((lock, team));
    let done = match finalizes {
        true => job.finalize(),
        false => Err(job.alloc::<u8>(1).err().unwrap()),
    };
    matches!(
        (freed, done),
        (Err(Error::Copied(_)), Err(Error::Copied(_)))
    )
}

fn children_are_refused_and_harmless(fabric: &dyn Testbed, mode: AgentMode) {
    fabric.run(2, segment_bytes(2), &|wire| {
        let mut hands = Some(Hands::new(wire, mode));
        if let Some(Hands { job, words, .. }) = &hands
            && job.pe() == 0
        {
            job.send(1, 7, &[5u8; 8]).unwrap();
            words.put(1, 0, &[17]).unwrap();
        }
        for &how in Copying::kinds() {
            let status = in_copy(how, || {
                let wrong = hands.as_ref().unwrap().not_refused();
                for name in &wrong {
                    eprintln!("{name} is not refused");
                }
                i32::from(!wrong.is_empty())
            });
            assert_eq!(status, Ok(0), "{how:?}");
        }
        // Only with `fork`: after a bare `clone` the allocator may be locked by another
        // thread of this process.
        for finalizes in [false, true] {
            let status = in_copy(Copying::Fork, || {
                let hands = hands.take().unwrap();
                let read = hands.words.to_vec();
                let ended = give_back(hands, finalizes);
                i32::from(!(ended && matches!(read, Err(Error::Copied(_)))))
            });
            assert_eq!(status, Ok(0), "{finalizes}");
        }
        // The parent has lost nothing: no lock, no connection, no thread, no message.
        let Hands {
            job,
            words,
            lock,
            team,
        } = hands.unwrap();
        // The lock is free.
        let mut lock = lock.into_inner();
        lock.acquire().unwrap().release().unwrap();
        if job.pe() == 1 {
            assert_eq!(job.recv_vec::<u8>(0, 7), Ok(vec![5; 8]));
            words.wait_until(0, Compare::Eq, 17).unwrap();
        }
        job.barrier().unwrap();
        assert_eq!(words.fetch_add(1 - job.pe(), 9, 1), Ok(0));
        team.barrier().unwrap();
        assert_eq!(words.load(9), Ok(1));
        drop((words, lock, team));
        job.finalize().unwrap();
    });
}

/// One PE per host.
struct Udp;

impl Testbed for Udp {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let options = LocalOptions::default();
        let made = hostwire_frames::local(pes, pes, segment_bytes, &LocalWire::Udp, &options);
        let made = made.expect("making the wire").into_iter();
        run_on_threads(made.map(|pe| pe.wires).collect(), program);
    }
}

#[test]
fn a_child_on_shared_memory() {
    for mode in [AgentMode::Thread, AgentMode::Polled] {
        children_are_refused_and_harmless(&Threads::default(), mode);
    }
}

#[test]
fn a_child_on_stores_alone() {
    let threads = Threads::default();
    for mode in [AgentMode::Thread, AgentMode::Polled] {
        children_are_refused_and_harmless(&Wrapping::stores_only(&threads), mode);
    }
}

#[test]
fn a_child_between_hosts() {
    for mode in [AgentMode::Thread, AgentMode::Polled] {
        children_are_refused_and_harmless(&Udp, mode);
    }
}

/// The path and the number of a sealed frame: type, then destination, source and number.
/// As in docs/wire/sealed.md.
fn number(frame: &[u8]) -> [u8; 16] {
    assert_eq!(frame[0], 0x15, "a sealed frame");
    frame[4..20].try_into().unwrap()
}

/// Passes frames on between two PEs and keeps them all.
struct Recorder {
    doors: [UdpSocket; 2],
    ends: [SocketAddr; 2],
}

impl Recorder {
    /// `ends` reach each other by the returned addresses: the first end takes the first
    /// address for that of the second end.
    fn new(ends: [SocketAddr; 2]) -> (Self, [SocketAddr; 2]) {
        let door = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let doors = [door(), door()];
        let addresses = [0, 1].map(|i: usize| doors[i].local_addr().unwrap());
        (Self { doors, ends }, addresses)
    }

    /// Until `over`: what comes from the end `from`.
    fn record(&self, from: usize, over: &AtomicBool) -> Vec<Vec<u8>> {
        let (door, other) = (&self.doors[from], &self.doors[1 - from]);
        door.set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let mut frames = Vec::new();
        let mut bytes = vec![0; 1 << 16];
        while !over.load(Ordering::Acquire) {
            if let Ok((len, _)) = door.recv_from(&mut bytes) {
                frames.push(bytes[..len].to_vec());
                let _ = other.send_to(&bytes[..len], self.ends[1 - from]);
            }
        }
        frames
    }
}

fn connect(pe: u32, socket: Socket, other: SocketAddr) -> Ether {
    let memory = Memory::anonymous(segment_bytes(2));
    let segment = Window::own(memory, Visibility::Coherent).unwrap();
    let there = Some(format!("udp={other}").parse().unwrap());
    let roster = Roster {
        host: pe,
        host_of: Arc::new([0, 1]),
        job: 5,
        peers: match pe {
            0 => vec![None, there],
            _ => vec![there, None],
        },
        secrets: Some(Secrets {
            key: JobKey::new([9; 32]),
            lives: vec![Life([1; 16]), Life([2; 16])],
        }),
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    Ether::connect(
        vec![segment],
        socket,
        &roster,
        &EtherOptions::default(),
        deadline,
    )
    .unwrap()
}

/// Reuse of a number breaks AES-GCM: the exclusive or of two frames is that of their
/// contents, and frames can be forged.
#[test]
fn no_frame_of_a_child_has_the_number_of_another_frame() {
    let socket = || Socket::of(FramePort::open("127.0.0.1".parse().unwrap()).unwrap());
    let sockets = [socket(), socket()];
    let ends = [0, 1].map(|i: usize| {
        let text = sockets[i].address().to_string();
        text.strip_prefix("udp=").unwrap().parse().unwrap()
    });
    let (recorder, doors) = Recorder::new(ends);
    let over = AtomicBool::new(false);
    let (recorder, over) = (&recorder, &over);
    std::thread::scope(|scope| {
        let records = [0, 1].map(|from| scope.spawn(move || recorder.record(from, over)));
        let pes: Vec<_> = (0..).zip(sockets).zip(doors).collect();
        let pes = pes.into_iter().map(|((pe, socket), door)| {
            scope.spawn(move || store_in_parent_and_child(Arc::new(connect(pe, socket, door))))
        });
        let pes: Vec<_> = pes.collect();
        let ended: Vec<_> = pes.into_iter().map(|pe| pe.join()).collect();
        over.store(true, Ordering::Release);
        let mut seen: HashMap<[u8; 16], Vec<u8>> = HashMap::new();
        for frame in records
            .into_iter()
            .flat_map(|record| record.join().unwrap())
        {
            let number = number(&frame);
            if let Some(before) = seen.insert(number, frame.clone()) {
                panic!("two frames with the number {number:?}: {before:?} and {frame:?}");
            }
        }
        assert!(seen.len() > 20, "{} frames seen", seen.len());
        assert!(ended.iter().all(|pe| pe.is_ok()));
    });
}

fn store_in_parent_and_child(wire: Arc<dyn Wire>) {
    let job = Job::over(wire, SIZES, AgentMode::Thread).unwrap();
    let words = job.alloc::<u64>(64).unwrap();
    let peer = 1 - job.pe();
    let store = |value: u64| -> Result<()> {
        for index in 0..10 {
            words.put(peer, index, &[value])?;
            words.put(peer, 0, &[value; 64])?;
            job.fence()?;
        }
        Ok(())
    };
    for round in 0..3 {
        store(round).unwrap();
        for &how in Copying::kinds() {
            // The child continues to store, whatever errors it gets.
            let status = in_copy(how, || {
                let stored = (0..10).filter(|i| store(1000 + i).is_ok()).count();
                stored as i32
            });
            assert_eq!(status, Ok(0));
        }
        store(100 + round).unwrap();
        job.quiet().unwrap();
        job.barrier().unwrap();
        // No store of the children has arrived.
        assert!(words.to_vec().unwrap().iter().all(|word| *word < 200));
        job.barrier().unwrap();
    }
    drop(words);
    job.finalize().unwrap();
}
