//! Words and lines that peers write are overwritten with zeros while they are waited for.
//! Each wait ends: in order, or in an error that names the peer.

use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use hostwire_transport::ring::{CreditInlet, Outlet, RingSender};
use hostwire_transport::shm::{ShmOptions, local};
use hostwire_transport::wrap::StoresOnly;
use hostwire_transport::{PeId, Wire};

use super::super::Kind;
use super::super::long::{Announcement, Origin};
use crate::agent::AgentMode;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::layout::{Count, Layout, Mail, NOT_YET, Sizes};

const SIZES: Sizes = Sizes {
    ring_bytes: 4096,
    heap_bytes: 4096,
    ..Sizes::USUAL
};
/// For a hang.
const LIMIT: Duration = Duration::from_secs(60);

/// Two PEs, and what a test needs to do harm to them.
#[derive(Clone)]
struct Pair {
    wires: [Arc<dyn Wire>; 2],
    layout: Layout,
    meeting: Arc<Barrier>,
}

impl Pair {
    fn job(&self, pe: PeId) -> Job {
        Job::over(
            Arc::clone(&self.wires[pe as usize]),
            SIZES,
            AgentMode::Polled,
        )
        .unwrap()
    }

    /// The word at `offset_bytes` in the segment of `pe`.
    fn word(&self, pe: PeId, offset_bytes: usize) -> u64 {
        self.wires[pe as usize]
            .segment()
            .load_word(offset_bytes)
            .unwrap()
    }

    fn wait_for(&self, pe: PeId, offset_bytes: usize, value: u64) {
        let begin = Instant::now();
        while self.word(pe, offset_bytes) != value {
            assert!(begin.elapsed() < LIMIT);
            std::thread::yield_now();
        }
    }

    /// Until that word is not 0.
    fn wait_for_any(&self, pe: PeId, offset_bytes: usize) {
        let begin = Instant::now();
        while self.word(pe, offset_bytes) == 0 {
            assert!(begin.elapsed() < LIMIT);
            std::thread::yield_now();
        }
    }

    /// Zeros over the line of that word.
    fn wipe(&self, pe: PeId, offset_bytes: usize) {
        let line = offset_bytes / 64 * 64;
        self.wires[pe as usize]
            .segment()
            .put(line, &[0; 64])
            .unwrap();
    }

    /// The other PE has come as far as this one.
    fn meet(&self) {
        self.meeting.wait();
    }
}

/// Runs both PEs, in threads that are left alone when they hang, and returns what they say.
fn run<T: Send + 'static>(programs: [fn(Pair) -> T; 2]) -> [T; 2] {
    let layout = Layout::new(2, SIZES).unwrap();
    let wires = local(2, layout.segment_bytes(), ShmOptions::default()).unwrap();
    let mut wires = wires.into_iter().map(|wire| {
        let wire = StoresOnly::new(Arc::new(wire)).unwrap();
        Arc::new(wire) as Arc<dyn Wire>
    });
    let pair = Pair {
        wires: [wires.next().unwrap(), wires.next().unwrap()],
        layout,
        meeting: Arc::new(Barrier::new(2)),
    };
    programs
        .map(|program| {
            let (pair, (sender, receiver)) = (pair.clone(), channel());
            std::thread::spawn(move || sender.send(program(pair)));
            receiver
        })
        .map(|said| said.recv_timeout(LIMIT).expect("an answer, not a hang"))
}

#[track_caller]
fn assert_blames<T: core::fmt::Debug>(pe: PeId, result: Result<T>) {
    match &result {
        Err(Error::PeerMisbehaved { pe: blamed, .. }) => assert_eq!(*blamed, pe),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_of_a_ring_that_is_gone_is_missed() {
    let [receiver, _] = run([
        |pair| {
            let job = pair.job(0);
            pair.meet();
            pair.wipe(0, pair.layout.ring(1));
            let received = job.recv(1, 5, &mut [0u64]);
            job.send(1, 5, &[0u64]).unwrap();
            received
        },
        |pair| {
            let job = pair.job(1);
            job.send(0, 5, &[7u64]).unwrap();
            pair.meet();
            job.recv(0, 5, &mut [0u64])
        },
    ]);
    assert_blames(1, receiver);
}

#[test]
fn the_second_line_of_a_message_that_is_gone_is_missed() {
    let [receiver, _] = run([
        |pair| {
            let job = pair.job(0);
            pair.meet();
            pair.wipe(0, pair.layout.ring(1) + 64);
            let received = job.recv(1, 5, &mut [0u64; 30]);
            job.send(1, 5, &[0u64]).unwrap();
            received
        },
        |pair| {
            let job = pair.job(1);
            job.send(0, 5, &[7u64; 30]).unwrap();
            pair.meet();
            job.recv(0, 5, &mut [0u64])
        },
    ]);
    assert_blames(1, receiver);
}

#[test]
fn a_credit_that_is_gone_comes_again() {
    let results = run([
        |pair| {
            let job = pair.job(0);
            pair.meet();
            let mut got = [0u64];
            for _ in 0..64 {
                job.recv(1, 5, &mut got)?;
            }
            // Not there: comes back for more, and so returns what it has freed.
            assert_eq!(job.try_recv(1, 5, &mut got), Ok(None));
            pair.meet();
            pair.meet();
            job.recv(1, 5, &mut got).map(|_| got[0])
        },
        |pair| {
            let job = pair.job(1);
            for number in 0..64 {
                job.send(0, 5, &[number as u64])?;
            }
            pair.meet();
            pair.meet();
            let credit = pair.layout.mail(0, Mail::Credit);
            assert_ne!(pair.word(1, credit), 0);
            pair.wipe(1, credit);
            pair.meet();
            job.send(0, 5, &[64u64]).map(|()| 64)
        },
    ]);
    assert_eq!(results, [Ok(64), Ok(64)]);
}

#[test]
fn a_request_that_is_gone_is_made_again() {
    let results = run([
        |pair| {
            let job = pair.job(0);
            let word = job.alloc::<u64>(1)?;
            pair.meet();
            let old = word.fetch_add(1, 0, 3)?;
            job.send(1, 5, &[old])?;
            Ok::<_, Error>(old)
        },
        |pair| {
            let job = pair.job(1);
            let word = job.alloc::<u64>(1)?;
            word.store(0, 40)?;
            pair.meet();
            // This PE serves nobody before it waits.
            let request = pair.layout.request(0, 1);
            pair.wait_for_any(1, request);
            pair.wipe(1, request);
            job.recv(0, 5, &mut [0u64])?;
            word.load(0)
        },
    ]);
    assert_eq!(results, [Ok(40), Ok(43)]);
}

#[test]
fn a_reply_that_is_gone_is_missed() {
    let [asker, _] = run([
        |pair| {
            let job = pair.job(0);
            let word = job.alloc::<u64>(1)?;
            pair.meet();
            word.fetch_add(1, 0, 3)
        },
        |pair| {
            let job = pair.job(1);
            let word = job.alloc::<u64>(1)?;
            pair.meet();
            let reply = pair.layout.reply(1, 1);
            pair.wait_for(0, reply, NOT_YET | 1);
            pair.wipe(0, reply);
            word.load(0)
        },
    ]);
    assert_blames(1, asker);
}

#[test]
fn how_a_long_message_is_wanted_is_missed() {
    let [sender, _] = run([
        |pair| {
            let sent = pair.job(0).send(1, 5, &[1u8; 100_000]);
            // The other one stays until this one has noticed.
            pair.meet();
            sent
        },
        |pair| {
            let _job = pair.job(1);
            // As if the line of the answer had been there and were gone.
            pair.wait_for_any(1, pair.layout.ring(0));
            let sent = pair.layout.mail(1, Mail::Sent);
            pair.wires[1].store_word(0, sent, 1).unwrap();
            pair.meet();
            Ok(())
        },
    ]);
    assert_blames(1, sender);
}

#[test]
fn pieces_of_a_long_message_that_are_not_counted_are_missed() {
    let [_, receiver] = run([
        |pair| {
            // Announces a message by hand, and does not send it.
            let (wire, slots) = (&pair.wires[0], pair.layout.slots());
            let outlet = Outlet::new(wire, 1, pair.layout.ring(0), slots).unwrap();
            let credit = pair.layout.mail(1, Mail::Credit);
            let credit = CreditInlet::new(wire.segment(), credit).unwrap();
            let announcement = Announcement {
                number: 1,
                len_bytes: 100_000,
                source: Origin::Hidden,
                data: None,
                tag_high: 0,
            };
            let mut ring = RingSender::new(outlet, credit, 1, slots);
            let kind = Kind::User.announced();
            let (line, len) = announcement.emit();
            assert!(ring.try_send(kind, 5, &line[..len]).unwrap());
            // It is accepted.
            pair.wait_for_any(0, pair.layout.ring(1));
            pair.wipe(1, pair.layout.count(0, Count::Delivered));
            Ok(Vec::new())
        },
        |pair| pair.job(1).recv_vec::<u8>(0, 5),
    ]);
    assert_blames(0, receiver);
}

#[test]
fn a_line_of_the_first_reduction_that_is_gone_is_missed() {
    let [first, _] = run([
        |pair| {
            let job = pair.job(0);
            pair.meet();
            // Joining takes none: it is the first operation of the team.
            let line = pair.layout.slot(0).line(1, 1);
            pair.wait_for(0, line, crate::core::FIRST_STAMP);
            pair.wipe(0, line);
            job.all_reduce(&mut [1_u64], u64::wrapping_add)
        },
        |pair| {
            let job = pair.job(1);
            pair.meet();
            job.all_reduce(&mut [1_u64], u64::wrapping_add)
        },
    ]);
    assert_blames(1, first);
}

#[test]
fn a_flag_of_the_first_barrier_that_is_gone_is_missed() {
    let [first, _] = run([
        |pair| {
            let job = pair.job(0);
            pair.meet();
            let flag = pair.layout.slot(0).flag(0);
            pair.wait_for(0, flag, crate::core::FIRST_STAMP);
            pair.wipe(0, flag);
            job.barrier()
        },
        |pair| {
            let job = pair.job(1);
            pair.meet();
            job.barrier()
        },
    ]);
    assert_blames(1, first);
}
