//! Code that works differently in large jobs. Here the PEs are threads.

use std::time::{Duration, Instant};

use std::sync::Arc;

use hostwire::{AgentMode, Error, Job, Loss, Nodes, Sizes};
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Testbed, Threads, Wrapping};
use hostwire_transport::wrap::StoresOnly;

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
            // `x -> a x + b`, one after the other: associative, and right only in the order of ranks.
            let then = |[a, b]: [u32; 2], [c, d]: [u32; 2]| {
                [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)]
            };
            let step = |pe: u32, i: u32| [2 * pe + 3, 1000 * pe + i];
            let mut steps: Vec<[u32; 2]> = (0..len).map(|i| step(job.pe(), i)).collect();
            job.all_reduce(&mut steps, then).unwrap();
            let expected = |i| (1..70).fold(step(0, i), |all, pe| then(all, step(pe, i)));
            assert!(steps.into_iter().eq((0..len).map(expected)), "{len}");
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

/// As [`run`], on hosts of so many PEs, between which there are only stores.
fn run_on_hosts(pes: u32, each: u32, program: impl Fn(Job) + Sync) {
    let sizes = Sizes {
        heap_bytes: 1 << 20,
        ..Sizes::default()
    };
    let layout = hostwire::Layout::new(pes, sizes).unwrap();
    let stores_only =
        |wire: Arc<dyn Wire>| -> Arc<dyn Wire> { Arc::new(StoresOnly::new(wire).unwrap()) };
    let fabric = Wrapping {
        fabric: &Threads::default(),
        wrap: &stores_only,
    };
    fabric.run(pes, layout.segment_bytes(), &|wire| {
        let hosts = Nodes::numbered((0..pes).map(|pe| pe / each));
        program(Job::over_hosts(wire, sizes, AgentMode::Polled, hosts).unwrap());
    });
}

/// Barriers, broadcasts and reductions go by hosts, the agreement of an allocation and that of a split, too.
#[test]
fn seventy_on_several_hosts() {
    for each in [1, 8, 64] {
        run_on_hosts(70, each, |job| {
            let me = job.pe();
            let counter = job.alloc::<u64>(1).unwrap();
            for round in 1..=3 {
                counter.fetch_add(round % 70, 0, 1).unwrap();
                job.barrier().unwrap();
                let seen = counter.fetch_add(round % 70, 0, 0).unwrap();
                assert_eq!(seen, 70, "round {round} of PE {me}");
            }
            for root in [0, 7, 64, 69] {
                for len in [1, 9, 3000] {
                    let mut values = vec![if me == root { root + 1 } else { 0 }; len];
                    job.broadcast(root, &mut values).unwrap();
                    assert!(values.iter().all(|value| *value == root + 1));
                }
            }
            for len in [1, 9, 300] {
                let mut sum = vec![u64::from(me); len];
                job.all_reduce(&mut sum, |a, b| a + b).unwrap();
                assert!(sum.iter().all(|sum| *sum == 69 * 70 / 2));
            }
            let team = job.world().split((me < 66).then_some(0), me).unwrap();
            if let Some(team) = team {
                team.barrier().unwrap();
                let mut all = vec![0; 66];
                team.all_gather(&[me], &mut all).unwrap();
                assert!(all.into_iter().eq(0..66));
            }
            job.finalize().unwrap();
        });
    }
}

/// Members of some hosts pass another length than those of the others.
#[test]
fn disagreement_between_hosts_is_told() {
    run_on_hosts(70, 8, |job| {
        let mut values = vec![0_u32; if job.pe() < 32 { 1 } else { 2 }];
        let told = job.broadcast(0, &mut values);
        if job.pe() == 32 {
            assert!(
                matches!(told, Err(Error::CollectiveMismatch { .. })),
                "{told:?}"
            );
        }
    });
}
