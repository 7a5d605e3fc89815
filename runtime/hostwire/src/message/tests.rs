//! What a PE keeps of messages that it does not receive is bounded, and nothing is lost.

mod gone;
mod rooms;

use hostwire_transport::conformance::{Testbed, Threads, Wrapping};

use crate::agent::AgentMode;
use crate::job::Job;
use crate::layout::{Layout, Sizes};
use crate::{PeId, Source, Tag};

const SIZES: Sizes = Sizes {
    ring_bytes: 1024,
    heap_bytes: 1 << 20,
    ..Sizes::USUAL
};
/// A small one, so that it takes few messages.
const BUDGET_BYTES: usize = 8 << 10;

fn run(pes: u32, program: impl Fn(&Job) + Sync) {
    let layout = Layout::new(pes, SIZES).unwrap();
    let threads = Threads::default();
    let fabrics: [&dyn Testbed; 2] = [&threads, &Wrapping::stores_only(&threads)];
    for fabric in fabrics {
        fabric.run(pes, layout.segment_bytes(), &|wire| {
            let job = Job::over(wire, SIZES, AgentMode::Thread).unwrap();
            job.messages(|messages| messages.budget_bytes = BUDGET_BYTES);
            program(&job);
            job.finalize().unwrap();
        });
    }
}

/// What `job` keeps of `pe`.
fn kept(job: &Job, pe: PeId) -> usize {
    job.messages(|messages| messages.peers.get(pe).unwrap().aside_bytes)
}

/// How many messages are announced by `pe` and not received, and how many in all.
fn waiting(job: &Job, pe: PeId) -> usize {
    job.messages(|messages| messages.peers.get(pe).unwrap().aside.len())
}

fn assert_bounded(job: &Job, pe: PeId) {
    let most = BUDGET_BYTES + job.messages(|messages| messages.slack_bytes);
    assert!(kept(job, pe) <= most, "{} bytes", kept(job, pe));
}

/// However many sends are outstanding, the last one gets through first, and a PE keeps a few
/// of the others and what is known of the rest.
#[test]
fn a_later_message_is_received_past_thousands_that_nobody_wants() {
    const MANY: u64 = 500;
    run(2, |job| {
        let queue = job.queue::<u64>().unwrap();
        if job.pe() == 1 {
            for number in 0..MANY {
                queue.send(0, 1, vec![number; 12]).unwrap();
            }
            queue.send(0, 2, vec![MANY]).unwrap();
            while let Some(done) = queue.wait().unwrap() {
                done.result.unwrap();
            }
        } else {
            let mut got = [0; 12];
            assert_eq!(job.recv(1, 2, &mut got), Ok(1));
            assert_eq!(got[0], MANY);
            assert_bounded(job, 1);
            assert_eq!(waiting(job, 1), MANY as usize);
            assert!(kept(job, 1) > BUDGET_BYTES);
            for number in 0..MANY {
                assert_eq!(job.recv(1, 1, &mut got), Ok(12));
                assert_eq!(got, [number; 12]);
                assert_bounded(job, 1);
            }
            assert_eq!(kept(job, 1), 0);
        }
    });
}

/// A sender whose calls wait is slowed down to its receiver, and goes on when that receives.
#[test]
fn a_sender_that_nobody_receives_from_is_slowed_and_loses_nothing() {
    const MANY: u64 = 600;
    run(3, |job| match job.pe() {
        0 => {
            // Waits for another one, while PE 1 sends what it can.
            assert_eq!(job.recv(2, 7, &mut [0u8; 1]), Ok(1));
            assert_bounded(job, 1);
            for number in 0..MANY {
                let (envelope, got) = job.recv_any_vec::<u64>(Source::Any, Tag::ANY).unwrap();
                assert_eq!((envelope.from, envelope.tag), (1, number % 3));
                assert_eq!(got, vec![number; number as usize % 30]);
                assert_bounded(job, 1);
            }
            // The sender is through, and sends at once again.
            let mut one = [0u8; 1];
            assert_eq!(job.recv(1, 9, &mut one), Ok(1));
            assert!(!job.messages(|messages| messages.peers.get(1).unwrap().held));
        }
        1 => {
            for number in 0..MANY {
                let message = vec![number; number as usize % 30];
                job.send(0, number % 3, &message).unwrap();
                if number == MANY / 2 {
                    // By now it was held, unless the receiver was as fast.
                    job.send(2, 1, &[0u8; 1]).unwrap();
                }
            }
            job.send(0, 9, &[0u8; 1]).unwrap();
        }
        _ => {
            // Long enough for PE 1 to be held: it has not sent half of its messages.
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert_eq!(job.try_probe(1, 1), Ok(None));
            job.send(0, 7, &[0u8; 1]).unwrap();
            assert_eq!(job.recv(1, 1, &mut [0u8; 1]), Ok(1));
        }
    });
}

/// Short collectives do not wait for a receiver that keeps as much as it may.
#[test]
fn collectives_go_on_while_messages_are_held() {
    run(3, |job| {
        let queue = job.queue::<u8>().unwrap();
        for to in 0..3 {
            for _ in 0..200 {
                queue.send(to, 1, vec![5; 100]).unwrap();
            }
        }
        for round in 0..40_u64 {
            let mut sum = [round + u64::from(job.pe())];
            job.all_reduce(&mut sum, u64::wrapping_add).unwrap();
            assert_eq!(sum, [3 * round + 3]);
            let mut long = vec![round; 1000];
            job.all_reduce(&mut long, u64::max).unwrap();
            job.broadcast((round % 3) as u32, &mut long).unwrap();
            assert_eq!(long, vec![round; 1000]);
        }
        for pe in (0..3).filter(|pe| *pe != job.pe()) {
            assert_bounded(job, pe);
        }
        for _ in 0..600 {
            assert_eq!(
                job.recv_any(Source::Any, 1, &mut [0u8; 100])
                    .unwrap()
                    .len_bytes,
                100
            );
        }
        while queue.wait().unwrap().is_some() {}
        job.barrier().unwrap();
    });
}
