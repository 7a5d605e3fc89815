//! Code that works differently in large jobs. Here the PEs are threads.

use std::time::{Duration, Instant};

use hostwire::{AgentMode, Error, Job, Loss, Sizes};
use hostwire_transport::conformance::{Testbed, Threads};

fn lost(pe: u32) -> Error {
    let loss = Loss::Ended;
    Error::PeerLost { pe, loss }
}

/// For a hang.
const LIMIT: Duration = Duration::from_secs(60);

fn run(pes: u32, program: impl Fn(Job) + Sync) {
    let sizes = Sizes {
        heap_bytes: 1 << 20,
        ..Sizes::default()
    };
    let layout = hostwire::Layout::new(pes, sizes).unwrap();
    Threads::default().run(pes, layout.segment_bytes(), &|wire| {
        program(Job::over(wire, sizes, AgentMode::Thread).unwrap());
    });
}

/// No PE checks more than the next few PEs, and none waits here.
#[test]
fn everybody_hears_of_every_loss() {
    for dead in [10..11, 3..15] {
        // A loss would end the barrier of those that are still in it.
        let all_are_through = std::sync::Barrier::new(20);
        run(20, |job| {
            let word = job.alloc::<u32>(1).unwrap();
            all_are_through.wait();
            if dead.contains(&job.pe()) {
                return drop((job, word));
            }
            let begin = Instant::now();
            for pe in dead.clone() {
                while word.put(pe, 0, &[1]).is_ok() {
                    assert!(begin.elapsed() < LIMIT, "PE {pe}");
                    std::thread::sleep(Duration::from_millis(1));
                }
                assert_eq!(word.put(pe, 0, &[1]), Err(lost(pe)));
            }
        });
    }
}

/// Too many to send to all at once; few bytes, and more than a message holds.
#[test]
fn collectives_of_seventy() {
    run(70, |job| {
        for len in [1, 9, 300] {
            let values = |pe: u32| (0..len).map(move |i| 1000 * pe + i);
            let mut all = vec![0; 70 * len as usize];
            let own: Vec<u32> = values(job.pe()).collect();
            job.all_gather(&own, &mut all).unwrap();
            assert!(all.iter().copied().eq((0..70).flat_map(values)), "{len}");
            // Neither associative nor commutative: the result is right only in the order
            // of ranks.
            let combine = |a: u32, b: u32| a.wrapping_mul(3) ^ b;
            let mut sum = own;
            job.all_reduce(&mut sum, combine).unwrap();
            let expected = |i| (1..70).fold(i, |sum, pe| combine(sum, 1000 * pe + i));
            assert!(sum.into_iter().eq((0..len).map(expected)), "{len}");
        }
        job.finalize().unwrap();
    });
}

/// Beyond some number, a waiting PE looks only at rings whose PEs have stored a talk word.
/// All of these are full, and no PE receives before it has sent.
#[test]
fn seventy_that_send_before_they_receive_make_room_for_each_other() {
    const MESSAGES: u64 = 300;
    run(70, |job| {
        let peers = [(job.pe() + 1) % 70, (job.pe() + 69) % 70];
        let begin = Instant::now();
        for number in 0..MESSAGES {
            for to in peers {
                job.send(to, 1, &[number; 7]).unwrap();
                assert!(begin.elapsed() < LIMIT);
            }
        }
        for number in 0..MESSAGES {
            for from in peers {
                assert_eq!(job.recv_vec::<u64>(from, 1).unwrap(), [number; 7]);
            }
        }
        job.finalize().unwrap();
    });
}

/// A PE that waits in a barrier checks one PE, and is told of the others. No other PE ends
/// before the barrier has ended for all.
#[test]
fn a_death_among_seventy_ends_the_barrier_of_all() {
    let (all_are_there, all_know) = (std::sync::Barrier::new(70), std::sync::Barrier::new(69));
    run(70, |job| {
        all_are_there.wait();
        if job.pe() == 40 {
            return drop(job);
        }
        let met = job.barrier();
        all_know.wait();
        assert_eq!(met, Err(lost(40)));
    });
}
