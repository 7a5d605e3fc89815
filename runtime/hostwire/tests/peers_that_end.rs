//! The errors of other PEs when a PE dies or leaves, whatever they are doing.
//!
//! PEs are threads here; `tools/cli/tests/faults` does the same to real processes.

use std::time::{Duration, Instant};

use hostwire::{AgentMode, Compare, Error, Job, Loss, Sizes, Source, Tag};
use hostwire_transport::conformance::{Testbed, Threads, Wrapping};

fn run(pes: u32, program: impl Fn(Job) + Sync) {
    let sizes = Sizes {
        heap_bytes: 4 << 20,
        ..Sizes::default()
    };
    let layout = hostwire::Layout::new(pes, sizes).unwrap();
    Threads::default().run(pes, layout.segment_bytes(), &|wire| {
        program(Job::over(wire, sizes, AgentMode::Thread).unwrap());
    });
}

/// Ends as a killed process does: without telling any PE.
fn die<T>(all_it_has: T) {
    drop(all_it_has);
}

const LOST: fn(u32) -> Error = |pe| Error::PeerLost {
    pe,
    loss: Loss::Ended,
};
const LEFT: fn(u32) -> Error = |pe| Error::PeerLeft { pe };
/// If several PEs have ended, the error may name any of them.
fn assert_lost(result: hostwire::Result<()>) {
    assert!(matches!(result, Err(Error::PeerLost { .. })), "{result:?}");
}

/// For a hang.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn what_a_dead_pe_has_sent_is_received_and_then_the_loss_is_told() {
    run(2, |job| {
        if job.pe() == 1 {
            job.send(0, 5, &[1u64]).unwrap();
            job.send(0, 6, &[2u64]).unwrap();
            return die(job);
        }
        let mut got = [0u64];
        // It is dead before anything is received.
        assert_eq!(job.recv(1, 9, &mut got), Err(LOST(1)));
        assert_eq!(job.try_recv(1, 6, &mut got), Ok(Some(1)));
        assert_eq!(job.recv(1, 5, &mut got), Ok(1));
        assert_eq!(job.try_recv(1, 5, &mut got), Err(LOST(1)));
        assert_eq!(job.send(1, 5, &got), Err(LOST(1)));
        assert_eq!(job.send(1, 5, &[0u8; 100_000]), Err(LOST(1)));
        assert_eq!(job.finalize(), Err(LOST(1)));
    });
}

#[test]
fn a_pe_that_only_tries_to_receive_notices_a_death() {
    run(2, |job| {
        if job.pe() == 1 {
            return die(job);
        }
        let begin = Instant::now();
        while job.try_recv(1, 0, &mut [0u8]) == Ok(None) {
            assert!(begin.elapsed() < LIMIT);
        }
        assert_eq!(job.try_recv(1, 0, &mut [0u8]), Err(LOST(1)));
        assert_eq!(job.finalize(), Err(LOST(1)));
    });
}

#[test]
fn a_loss_that_another_call_has_noticed_still_ends_a_wait() {
    run(3, |job| {
        let word = job.alloc::<u64>(1).unwrap();
        match job.pe() {
            1 => return die((job, word)),
            2 => {
                // PE 0 has been told by then that PE 1 is lost.
                job.recv(0, 0, &mut [0u8]).unwrap();
                word.put(0, 0, &[7]).unwrap();
            }
            _ => {
                assert_eq!(job.recv(1, 0, &mut [0u8]), Err(LOST(1)));
                assert_eq!(word.wait_until(0, Compare::Eq, 7), Err(LOST(1)));
                job.send(2, 0, &[0u8]).unwrap();
                // The loss is reported once; others may still store.
                assert_eq!(word.wait_until(0, Compare::Eq, 7), Ok(()));
            }
        }
        assert_lost(job.finalize());
    });
}

#[test]
fn a_barrier_may_be_tried_again_after_a_loss() {
    run(3, |job| {
        match job.pe() {
            2 => return die(job),
            0 => {
                for _ in 0..5 {
                    assert_eq!(job.barrier(), Err(LOST(2)));
                }
                job.send(1, 0, &[0u8]).unwrap();
            }
            _ => {
                job.recv(0, 0, &mut [0u8]).unwrap();
                // Not: "PE 0 broke the protocol".
                assert_lost(job.barrier());
            }
        }
        assert_lost(job.finalize());
    });
}

#[test]
fn a_wait_for_a_lock_goes_on_after_a_loss() {
    run(4, |job| {
        let mut lock = job.lock().unwrap();
        match job.pe() {
            3 => return die((lock, job)),
            0 => {
                let guard = lock.acquire().unwrap();
                for from in [1, 2] {
                    job.send(from, 0, &[0u8]).unwrap();
                }
                // The others have been told of the loss, or wait for the lock when they are.
                assert_lost(job.recv(3, 0, &mut [0u8]).map(drop));
                guard.release().unwrap();
            }
            _ => {
                job.recv(0, 0, &mut [0u8]).unwrap();
                // The PE that has died was not in the queue.
                lock.acquire().unwrap().release().unwrap();
            }
        }
        assert_lost(job.finalize());
    });
}

#[test]
fn a_lock_is_lost_with_the_pe_that_had_it_and_all_are_told() {
    run(4, |job| {
        let mut lock = job.lock().unwrap();
        if job.pe() == 3 {
            core::mem::forget(lock.acquire().unwrap());
            for other in 0..3 {
                job.send(other, 0, &[0u8]).unwrap();
            }
            return die((lock, job));
        }
        job.recv(3, 0, &mut [0u8]).unwrap();
        // Repeated: no PE sleeps for ever.
        for _ in 0..3 {
            assert_eq!(lock.acquire().map(drop), Err(LOST(3)));
        }
        assert_eq!(lock.try_acquire().map(|_| ()), Err(LOST(3)));
        assert_lost(job.finalize());
    });
}

#[test]
fn a_death_ends_collective_operations_on_all_pes() {
    for len in [1, 100_000] {
        run(4, |job| {
            let met = job.barrier();
            if job.pe() == 1 {
                met.unwrap();
                return die(job);
            }
            // PE 2 may die while others still leave the barrier. To them a second try would
            // be the same barrier.
            if met.is_err() {
                return assert_lost(met);
            }
            let mut values = vec![1u64; len];
            // PE 3 gets nothing from PE 1 itself. It must not wait for PEs that have given
            // up, and it may find these gone before PE 1.
            assert_lost(job.all_reduce(&mut values, |a, b| a + b));
            assert_lost(job.barrier());
            assert_lost(job.finalize());
        });
    }
}

#[test]
fn gets_and_atomics_of_a_dead_pe_end_where_its_agent_is_asked() {
    let sizes = Sizes {
        heap_bytes: 1 << 20,
        ..Sizes::default()
    };
    let layout = hostwire::Layout::new(2, sizes).unwrap();
    let threads = Threads::default();
    for mode in [AgentMode::Thread, AgentMode::Polled] {
        Wrapping::stores_only(&threads).run(2, layout.segment_bytes(), &|wire| {
            let job = Job::over(wire, sizes, mode).unwrap();
            let word = job.alloc::<u64>(1).unwrap();
            if job.pe() == 1 {
                return die((job, word));
            }
            let begin = Instant::now();
            // Its agent may serve a little longer than its program.
            while word.fetch_add(1, 0, 1).is_ok() {
                assert!(begin.elapsed() < LIMIT);
            }
            assert_eq!(word.fetch(1, 0), Err(LOST(1)));
            assert_eq!(word.get(1, 0, &mut [0]), Err(LOST(1)));
            assert_eq!(job.finalize(), Err(LOST(1)));
        });
    }
}

#[test]
fn waiting_for_a_pe_that_is_leaving_is_an_error() {
    run(3, |job| {
        let word = job.alloc::<u64>(1).unwrap();
        match job.pe() {
            1 => word.put(0, 0, &[1]).unwrap(),
            2 => job.send(0, 3, &[8u8]).unwrap(),
            _ => {
                assert_eq!(job.recv(1, 0, &mut [0u8]), Err(LEFT(1)));
                assert_eq!(job.send(1, 0, &[0u8; 100_000]), Err(LEFT(1)));
                assert!(matches!(
                    job.broadcast(1, &mut [0u8]),
                    Err(Error::PeerLeft { pe: 1 })
                ));
                let never = word.wait_until(0, Compare::Eq, 9);
                assert!(matches!(never, Err(Error::PeerLeft { .. })));
                // Their earlier stores have arrived.
                assert_eq!(word.wait_until(0, Compare::Eq, 1), Ok(()));
                assert_eq!(job.recv(2, 3, &mut [0u8]), Ok(1));
                assert_eq!(word.fetch_add(1, 0, 1), Ok(0));
            }
        }
        drop(word);
        job.finalize().unwrap();
    });
}

#[test]
fn leaving_in_any_order_and_at_any_pace_is_no_loss() {
    for round in 0..30 {
        run(8, |job| {
            // A PE that is early ends before others have seen its last flag.
            if (job.pe() + round) % 3 == 0 {
                std::thread::yield_now();
            }
            job.finalize().unwrap();
        });
    }
}

/// In a queue, sends and receives of a lost PE complete with the loss. Everything else
/// continues.
#[test]
fn what_is_in_the_background_ends_with_its_peer() {
    run(3, |job| {
        if job.pe() == 1 {
            job.send(0, 5, &[1u64]).unwrap();
            return die(job);
        }
        let begin = Instant::now();
        let queue = job.queue::<u64>().unwrap();
        if job.pe() == 0 {
            let first = queue.recv(1, 5, vec![0]).unwrap();
            let second = queue.recv(1, 5, vec![0]).unwrap();
            let long = queue.send(1, 6, vec![3; 100_000]).ok();
            let other = queue.recv(2, 5, vec![0]).unwrap();
            let mut ends = Vec::new();
            while let Some(done) = queue.wait().unwrap() {
                assert!(begin.elapsed() < LIMIT);
                if done.ticket == first {
                    assert_eq!((done.result.is_ok(), done.values), (true, vec![1]));
                } else if done.ticket == other {
                    assert_eq!(done.values, [2]);
                } else {
                    assert!(done.ticket == second || Some(done.ticket) == long);
                    assert_eq!(done.result, Err(LOST(1)));
                    // The values come back.
                    assert!(!done.values.is_empty());
                    // The loss is known by now: PE 2 may send.
                    if done.ticket == second {
                        job.send(2, 7, &[0u8]).unwrap();
                    }
                }
                ends.push(done.ticket);
            }
            assert_eq!(ends.len(), 3 + usize::from(long.is_some()));
            assert_eq!(queue.send(1, 5, vec![1]), Err(LOST(1)));
        } else {
            job.recv(0, 7, &mut [0u8]).unwrap();
            job.send(0, 5, &[2u64]).unwrap();
        }
    });
}

/// A receive from any PE reports a death once, and can continue.
#[test]
fn a_receive_from_anybody_tells_a_death_once() {
    run(3, |job| {
        let mut got = [0u64];
        match job.pe() {
            0 => {
                assert_eq!(job.recv_any(Source::Any, Tag::ANY, &mut got), Err(LOST(1)));
                job.send(2, 1, &[0u64]).unwrap();
                let envelope = job.recv_any(Source::Any, Tag::ANY, &mut got).unwrap();
                assert_eq!((envelope.from, got), (2, [4]));
                job.send(2, 1, &[0u64]).unwrap();
            }
            1 => die(job),
            _ => {
                job.recv(0, 1, &mut got).unwrap();
                job.send(0, 9, &[4u64]).unwrap();
                job.recv(0, 1, &mut got).unwrap();
            }
        }
    });
}

/// A sender that dies in the middle of a long message does not hold the staging memory that
/// the next message needs.
#[test]
fn a_long_message_whose_sender_dies_makes_room_for_the_next() {
    run(3, |job| match job.pe() {
        0 => {
            let queue = job.queue::<u8>().unwrap();
            queue.recv(1, 1, vec![0; 4 << 20]).unwrap();
            job.recv(1, 2, &mut [0u8]).unwrap();
            let done = queue.wait().unwrap().unwrap();
            assert_eq!(done.result, Err(LOST(1)));
            let mut room = vec![0u8; 1 << 20];
            assert_eq!(job.recv(2, 1, &mut room), Ok(1 << 20));
            assert!(room.iter().all(|byte| *byte == 6));
        }
        1 => {
            let queue = job.queue::<u8>().unwrap();
            queue.send(0, 1, vec![5; 4 << 20]).unwrap();
            job.send(0, 2, &[0u8]).unwrap();
            die((queue, job));
        }
        _ => job.send(0, 1, &vec![6u8; 1 << 20]).unwrap(),
    });
}
