//! PEs that end while they enter the queue of a lock. `tests/peers_that_end.rs` tests PEs that end while they have the
//! lock or wait for it.

use hostwire_transport::conformance::{Testbed, Threads};

use super::{Lock, Queued};
use crate::error::{Error, Result};
use crate::{AgentMode, Job, Layout, Sizes};

fn run(pes: u32, program: impl Fn(Job, Lock) + Sync) {
    let sizes = Sizes {
        heap_bytes: 1 << 20,
        ..Sizes::default()
    };
    let layout = Layout::new(pes, sizes).unwrap();
    Threads::default().run(pes, layout.segment_bytes(), &|wire| {
        let job = Job::over(wire, sizes, AgentMode::Thread).unwrap();
        let lock = job.lock().unwrap();
        program(job, lock);
    });
}

/// Enters the queue behind `front` without announcing itself, and ends as a killed process does.
fn end_before_telling(job: Job, lock: Lock, front: u32) {
    let place = lock.raw().join_queue();
    assert_eq!(place, Ok(Some(Queued::Behind(front))));
    for other in (0..job.pes()).filter(|pe| *pe != job.pe()) {
        job.send(other, 0, &[0_u8]).unwrap();
    }
    drop((lock, job));
}

fn assert_lost<T>(result: Result<T>, expected: u32) {
    match result {
        Err(Error::PeerLost { pe, .. }) => assert_eq!(pe, expected),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("expected that PE {expected} is lost"),
    }
}

#[test]
fn who_gives_a_lock_back_does_not_wait_for_a_pe_that_has_ended() {
    run(2, |job, mut lock| {
        if job.pe() == 1 {
            job.recv(0, 0, &mut [0_u8]).unwrap();
            return end_before_telling(job, lock, 0);
        }
        let guard = lock.acquire().unwrap();
        job.send(1, 0, &[0_u8]).unwrap();
        job.recv(1, 0, &mut [0_u8]).unwrap();
        guard.release().unwrap();
        // It is free.
        lock.acquire().unwrap().release().unwrap();
        assert!(lock.try_acquire().unwrap().is_some());
        assert_lost(job.finalize(), 1);
    });
}

#[test]
fn nobody_waits_behind_a_pe_that_has_ended() {
    run(3, |job, mut lock| match job.pe() {
        0 => {
            let guard = lock.acquire().unwrap();
            job.send(1, 0, &[0_u8]).unwrap();
            job.recv(1, 0, &mut [0_u8]).unwrap();
            // PE 2 is behind PE 1, or is about to be. Either PE 2 never gets the lock, or the lock was free when it
            // came.
            let released = guard.release();
            job.recv(2, 0, &mut [0_u8]).unwrap();
            if released.is_err() {
                assert_lost(released, 1);
                assert_lost(lock.acquire(), 1);
                assert_lost(lock.try_acquire(), 1);
            }
        }
        1 => {
            job.recv(0, 0, &mut [0_u8]).unwrap();
            end_before_telling(job, lock, 0);
        }
        _ => {
            job.recv(1, 0, &mut [0_u8]).unwrap();
            // PE 0 has the lock, or had it.
            let mine = lock.acquire().map(|guard| guard.release().unwrap());
            if mine.is_err() {
                assert_lost(mine, 1);
                assert_lost(lock.acquire(), 1);
                assert_lost(lock.try_acquire(), 1);
            }
            job.send(0, 0, &[0_u8]).unwrap();
        }
    });
}
