//! Buffers of pairs that talk no more give their memory to others.

use std::sync::Barrier;

use hostwire_transport::Route;
use hostwire_transport::conformance::{Random, Testbed, Threads, Wrapping};

use super::super::rooms::{CLOSE, CLOSED, OPEN};
use crate::agent::AgentMode;
use crate::error::{Error, Misbehaviour};
use crate::job::Job;
use crate::layout::{Layout, Sizes};
use crate::{PeId, Source};

/// Room for two buffers of 20 KiB.
const SIZES: Sizes = Sizes {
    heap_bytes: 1 << 16,
    eager_bytes: 16 << 10,
    eager_memory_bytes: 40 << 10,
    ..Sizes::USUAL
};
const ROOMS: usize = 2;

fn layout(pes: u32) -> Layout {
    Layout::new(pes, SIZES).unwrap()
}

fn run(pes: u32, program: impl Fn(&Job, bool) + Sync) {
    let threads = Threads::default();
    let fabrics: [&dyn Testbed; 2] = [&threads, &Wrapping::stores_only(&threads)];
    for fabric in fabrics {
        fabric.run(pes, layout(pes).segment_bytes(), &|wire| {
            let is_mapped = matches!(wire.route((wire.pe() + 1) % pes), Some(Route::Mapped(_)));
            let job = Job::over(wire, SIZES, AgentMode::Thread).unwrap();
            program(&job, is_mapped);
            job.finalize().unwrap();
        });
    }
}

/// Some go in lines, some through a buffer, and some are always announced.
fn message(from: PeId, number: usize) -> Vec<u8> {
    let len = [8, 400, 5000, 1700, 8000, 2000, 321, 9000][number % 8];
    (0..len)
        .map(|at| (at * 7 + number * 31 + from as usize) as u8)
        .collect()
}

fn touched(job: &Job) -> usize {
    job.messages(|messages| messages.eager_memory().bytes)
}

fn is_open(job: &Job, from: PeId) -> bool {
    job.messages(|messages| messages.peers.get(from).unwrap().receiver.is_eager_open())
}

fn brought(job: &Job, from: PeId) -> u32 {
    job.messages(|messages| messages.peers.get(from).unwrap().receiver.eager_messages())
}

const MANY: usize = 80;

/// PE 0 hears from all others, one after the other.
#[test]
fn who_hears_from_many_in_turn_has_memory_for_few() {
    const PES: u32 = 9;
    run(PES, |job, is_mapped| {
        let mut goes_on = [0u8];
        if job.pe() > 0 {
            let mut numbers = 0..;
            while job.recv(0, 1, &mut goes_on) == Ok(1) && goes_on[0] == 1 {
                for number in numbers.by_ref().take(MANY) {
                    job.send(0, 2, &message(job.pe(), number)).unwrap();
                }
            }
            return;
        }
        let mut room = vec![0u8; 9000];
        for from in 1..PES {
            let mut numbers = 0..;
            // Until one of those that wait now has answered.
            while !is_open(job, from) || brought(job, from) == 0 {
                job.send(from, 1, &[1u8]).unwrap();
                for number in numbers.by_ref().take(MANY) {
                    let len = job.recv(from, 2, &mut room).unwrap();
                    assert_eq!(room[..len], message(from, number), "{number} of {from}");
                }
            }
            job.send(from, 1, &[0u8]).unwrap();
            if is_mapped {
                let bytes = touched(job);
                assert!(bytes <= SIZES.eager_memory_bytes, "{bytes} after {from}");
                let open = (1..PES).filter(|from| is_open(job, *from)).count();
                assert!(open <= ROOMS, "{open}");
            }
        }
    });
}

/// All talk to all, so that buffers are opened and closed all the time, while messages are on their way through them.
#[test]
fn messages_that_cross_all_words_about_buffers_come_whole_and_in_order() {
    const PES: u32 = 5;
    const ROUNDS: usize = 400;
    run(PES, |job, is_mapped| {
        let own = job.pe();
        let queue = job.queue::<u8>().unwrap();
        let mut random = Random::new(u64::from(own) + 1);
        let (mut sent, mut got) = ([0; PES as usize], [0; PES as usize]);
        let mut room = vec![0u8; 9000];
        // Each talks to one at a time, for a while.
        for _ in 0..ROUNDS / 20 {
            let to = (own + 1 + random.below(PES as usize - 1) as u32) % PES;
            for _ in 0..20 {
                let number = &mut sent[to as usize];
                queue.send(to, 3, message(own, *number)).unwrap();
                *number += 1;
            }
            while let Some(envelope) = job.try_recv_any(Source::Any, 3, &mut room).unwrap() {
                let number = &mut got[envelope.from as usize];
                assert!(room[..envelope.len_bytes] == message(envelope.from, *number));
                *number += 1;
            }
        }
        for to in (0..PES).filter(|to| *to != own) {
            job.send(to, 4, &[sent[to as usize] as u64]).unwrap();
        }
        for from in (0..PES).filter(|from| *from != own) {
            let mut all = [0u64];
            assert_eq!(job.recv(from, 4, &mut all), Ok(1));
            while got[from as usize] < all[0] as usize {
                let bytes = job.recv_vec::<u8>(from, 3).unwrap();
                assert!(bytes == message(from, got[from as usize]));
                got[from as usize] += 1;
            }
        }
        while let Some(done) = queue.wait().unwrap() {
            done.result.unwrap();
        }
        if is_mapped {
            let bytes = touched(job);
            assert!(bytes <= SIZES.eager_memory_bytes, "{bytes}");
        }
    });
}

/// A PE that computes does not answer. Its buffer stays, and the others do without.
#[test]
fn who_does_not_answer_keeps_its_buffer_and_nobody_waits_for_it() {
    const PES: u32 = 5;
    for _ in 0..2 {
        let all_is_received = Barrier::new(PES as usize);
        Threads::default().run(PES, layout(PES).segment_bytes(), &|wire| {
            let job = Job::over(wire, SIZES, AgentMode::Thread).unwrap();
            if job.pe() > 0 {
                assert_eq!(job.recv(0, 1, &mut [0u8; 1]), Ok(1));
                for number in 0..MANY {
                    job.send(0, 2, &message(job.pe(), number)).unwrap();
                }
                all_is_received.wait();
                return job.finalize().unwrap();
            }
            for from in 1..PES {
                job.send(from, 1, &[1u8]).unwrap();
                for number in 0..MANY {
                    let bytes = job.recv_vec::<u8>(from, 2).unwrap();
                    assert_eq!(bytes, message(from, number));
                }
            }
            assert!(touched(&job) <= SIZES.eager_memory_bytes);
            assert_eq!(
                [1, 2, 3, 4].map(|from| is_open(&job, from)),
                [true, true, false, false]
            );
            all_is_received.wait();
            job.finalize().unwrap();
        });
    }
}

/// No word is taken that nobody asked for.
#[test]
fn words_about_buffers_that_no_pe_says_are_named() {
    for (pes, word) in [(2, OPEN), (2, CLOSED), (5, CLOSE), (5, CLOSED)] {
        Threads::default().run(pes, layout(pes).segment_bytes(), &|wire| {
            let job = Job::over(wire, SIZES, AgentMode::Thread).unwrap();
            let said = job.messages(|messages| match messages.wire.pe() {
                0 => messages.heed_of_rooms(1, word),
                _ => Ok(()),
            });
            if job.pe() == 0 {
                let how = Misbehaviour::Unasked { number: 0 };
                assert_eq!(said, Err(Error::PeerMisbehaved { pe: 1, how }), "{word}");
            }
            job.finalize().unwrap();
        });
    }
}
