//! Several threads of a PE use its job: over shared memory, over wires that carry only stores, and
//! between hosts. What they may rely on is in `docs/memory-model.md`, "Threads of a PE".

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use hostwire::{
    AgentMode, Compare, Error, Job, Layout, Queue, SignalOp, Sizes, Source, Symmetric, Tag, Team,
};
use hostwire_frames::{LocalOptions, LocalWire};
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Program, Testbed, Threads, Wrapping, run_on_threads};
use hostwire_transport::wrap::StoresOnly;

/// One PE on each host, by UDP on the loopback interface.
struct Hosts;

impl Testbed for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        // As for jobs: under emulators that cannot protect encryption from copies of a process (docs/arm.md).
        let insecure = std::env::var("HOSTWIRE_INSECURE_WIRE").is_ok_and(|value| value == "1");
        let options = LocalOptions {
            insecure,
            ..LocalOptions::default()
        };
        let made = hostwire_frames::local(pes, pes, segment_bytes, &LocalWire::Udp, &options);
        let made = made.expect("making the wire").into_iter();
        run_on_threads(made.map(|pe| pe.wires).collect(), program);
    }
}

fn run(pes: u32, program: impl Fn(&Job) + Sync) {
    let stores_only = |wire| Arc::new(StoresOnly::new(wire).unwrap()) as Arc<dyn Wire>;
    let fabrics: [&dyn Testbed; 3] = [
        &Threads::default(),
        &Wrapping {
            fabric: &Threads::default(),
            wrap: &stores_only,
        },
        &Hosts,
    ];
    let sizes = Sizes {
        heap_bytes: 4 << 20,
        ..Sizes::default()
    };
    let layout = Layout::new(pes, sizes).unwrap();
    for fabric in fabrics {
        fabric.run(pes, layout.segment_bytes(), &|wire| {
            let job = Job::over(wire, sizes, AgentMode::Thread).unwrap();
            program(&job);
            job.finalize().unwrap();
        });
    }
}

fn right(job: &Job) -> u32 {
    (job.pe() + 1) % job.pes()
}

fn left(job: &Job) -> u32 {
    (job.pe() + job.pes() - 1) % job.pes()
}

/// All handles of a program may be sent to other threads.
#[test]
fn handles_go_to_other_threads() {
    fn all<T: Send + Sync>() {}
    all::<Job>();
    all::<Team>();
    all::<Symmetric<f64>>();
    all::<Queue<u8>>();
}

#[test]
fn a_wait_ends_when_the_program_wants_it_and_what_was_waited_for_still_comes() {
    run(2, |job| {
        let words = job.alloc::<u64>(1).unwrap();
        if job.pe() == 1 {
            words.wait_until(0, Compare::Eq, 1).unwrap();
            job.send(0, 7, &[5_u8]).unwrap();
            return;
        }
        let asked = Arc::new(AtomicU64::new(0));
        let wants = Arc::clone(&asked);
        job.end_waits_if(move || wants.fetch_add(1, Ordering::Relaxed) == 1);
        let waited = words.wait_until(0, Compare::Eq, 9);
        assert_eq!(waited, Err(Error::Interrupted));
        asked.store(0, Ordering::Relaxed);
        let waited = words.wait_until_for(0, Compare::Eq, 9, Duration::MAX);
        assert_eq!(waited, Err(Error::Interrupted));
        asked.store(0, Ordering::Relaxed);
        assert_eq!(job.recv_vec::<u8>(1, 7), Err(Error::Interrupted));
        words.put(1, 0, &[1]).unwrap();
        assert_eq!(job.recv_vec::<u8>(1, 7), Ok(vec![5]));
    });
}

/// Its receiver still gets it, and the staging memory becomes free.
#[test]
fn a_long_send_that_the_program_gives_up_arrives() {
    const LEN: usize = 1 << 20;
    run(2, |job| {
        let words = job.alloc::<u64>(1).unwrap();
        if job.pe() == 1 {
            words.wait_until(0, Compare::Eq, 1).unwrap();
            assert_eq!(job.recv_vec::<u8>(0, 7), Ok(vec![7; LEN]));
            assert_eq!(job.recv_vec::<u8>(0, 7), Ok(vec![8; LEN]));
            job.send(0, 9, &[1_u8]).unwrap();
            return;
        }
        let asked = AtomicU64::new(0);
        job.end_waits_if(move || asked.fetch_add(1, Ordering::Relaxed) == 1);
        assert_eq!(job.send(1, 7, &vec![7_u8; LEN]), Err(Error::Interrupted));
        words.put(1, 0, &[1]).unwrap();
        job.send(1, 7, &vec![8_u8; LEN]).unwrap();
        assert_eq!(job.recv_vec::<u8>(1, 9), Ok(vec![1]));
    });
}

/// An array and its cast to another type see the same memory.
#[test]
fn casts_are_the_same_memory_and_those_that_do_not_fit_are_refused() {
    run(1, |job| {
        let bytes = job.alloc::<u8>(20).unwrap();
        let words = bytes.cast::<u32>().unwrap();
        words.put(0, 3, &[0x0403_0201]).unwrap();
        assert_eq!(words.len(), 5);
        assert_eq!(
            bytes.to_vec().unwrap()[12..16],
            0x0403_0201_u32.to_ne_bytes()
        );
        let refused = bytes.cast::<u64>().err();
        assert!(matches!(
            refused,
            Some(Error::Length {
                expected: 16,
                got: 20,
                ..
            })
        ));
        let odd = bytes.part(1..9).unwrap().cast::<u64>().err();
        assert!(matches!(odd, Some(Error::Misused(_))));
        // A cast holds the memory as any part does.
        assert!(matches!(bytes.free(), Err(Error::InUse { others: 1 })));
        assert_eq!(words.load(3), Ok(0x0403_0201));
    });
}

/// For each tag a thread that sends and one that receives, in every PE: short messages, those of
/// two lines, those that fill the ring, and those that take a rendezvous.
#[test]
fn messages_of_each_pair_and_tag_keep_their_order() {
    const TAGS: u64 = 3;
    const MESSAGES: u64 = 120;
    let len = |number: u64| [1, 12, 200, 3000][number as usize % 4];
    let value = |pe: u32, tag: u64, number: u64| u64::from(pe) << 32 | tag << 16 | number;
    run(2, |job| {
        thread::scope(|scope| {
            for tag in 0..TAGS {
                scope.spawn(move || {
                    for number in 0..MESSAGES {
                        let message = vec![value(job.pe(), tag, number); len(number)];
                        job.send(right(job), tag, &message).unwrap();
                    }
                });
                scope.spawn(move || {
                    for number in 0..MESSAGES {
                        let got: Vec<u64> = job.recv_vec(left(job), tag).unwrap();
                        let expected = vec![value(left(job), tag, number); len(number)];
                        assert!(got == expected, "tag {tag}, number {number}");
                    }
                });
            }
        });
        job.barrier().unwrap();
    });
}

/// The other PE answers the receive only after the send.
#[test]
fn a_receive_that_waits_does_not_stop_a_send() {
    const TURNS: u64 = 50;
    run(2, |job| {
        let other = right(job);
        if job.pe() == 1 {
            for turn in 0..TURNS {
                let mut got = [0];
                job.recv(other, 2, &mut got).unwrap();
                assert_eq!(got, [turn]);
                job.send(other, 1, &[turn]).unwrap();
            }
            return;
        }
        let (mut first, mut second) = ([0], [0]);
        for turn in 0..TURNS {
            thread::scope(|scope| {
                let waits = scope.spawn(|| job.recv(other, 1, &mut first));
                scope.spawn(|| job.send(other, 2, &[turn]).unwrap());
                assert_eq!(waits.join().unwrap(), Ok(1));
            });
            second[0] += turn;
            assert_eq!(first, [turn]);
        }
        assert_eq!(second, [TURNS * (TURNS - 1) / 2]);
    });
}

/// Messages to the own PE involve no store that would wake the waiting thread.
#[test]
fn threads_of_one_pe_send_to_each_other() {
    const TURNS: u64 = 200;
    run(1, |job| {
        thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 0..TURNS {
                    job.send(0, 1, &[turn]).unwrap();
                    assert_eq!(job.recv_vec(0, 2), Ok(vec![turn + 1]));
                }
            });
            for turn in 0..TURNS {
                let got: Vec<u64> = job.recv_vec(0, 1).unwrap();
                assert_eq!(got, [turn]);
                job.send(0, 2, &[turn + 1]).unwrap();
            }
        });
    });
}

/// Each message goes to one of the threads that receive anything.
#[test]
fn a_pool_of_threads_serves_all_messages_once() {
    const WORK: u64 = 1;
    const STOP: u64 = 2;
    const MESSAGES: u64 = 200;
    const THREADS: u64 = 3;
    run(3, |job| {
        if job.pe() > 0 {
            for number in 0..MESSAGES {
                // Some are long.
                job.send(
                    0,
                    WORK,
                    &vec![number; if number % 9 == 0 { 1000 } else { 3 }],
                )
                .unwrap();
            }
            job.barrier().unwrap();
            return;
        }
        let (sum, count) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let (envelope, values) =
                            job.recv_any_vec::<u64>(Source::Any, Tag::ANY).unwrap();
                        if envelope.tag == STOP {
                            return;
                        }
                        assert!(values.iter().all(|value| *value == values[0]));
                        sum.fetch_add(values[0], Ordering::Relaxed);
                        if count.fetch_add(1, Ordering::Relaxed) + 1 == 2 * MESSAGES {
                            for _ in 0..THREADS {
                                job.send(0, STOP, &[0_u64]).unwrap();
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), MESSAGES * (MESSAGES - 1));
        job.barrier().unwrap();
    });
}

/// Threads put, get and add without any coordination.
#[test]
fn puts_gets_and_atomics_of_threads_do_not_disturb_each_other() {
    const THREADS: usize = 3;
    const EACH: usize = 64;
    const TURNS: u64 = 20;
    run(2, |job| {
        let places = job.alloc::<u64>(THREADS * EACH).unwrap();
        let sum = job.alloc::<u64>(1).unwrap();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (places, sum) = (&places, &sum);
                scope.spawn(move || {
                    let to = right(job);
                    for turn in 0..TURNS {
                        let value = u64::from(job.pe()) << 32 | (thread as u64) << 16 | turn;
                        places.put(to, thread * EACH, &[value; EACH]).unwrap();
                        sum.fetch_add(0, 0, 1).unwrap();
                        let mut got = [0; EACH];
                        places.get(to, thread * EACH, &mut got).unwrap();
                        assert_eq!(got, [value; EACH]);
                    }
                });
            }
        });
        job.barrier().unwrap();
        let all = TURNS * THREADS as u64 * u64::from(job.pes());
        let mut got = [0];
        sum.get(0, 0, &mut got).unwrap();
        assert_eq!(got, [all]);
        job.barrier().unwrap();
    });
}

/// A pair of threads on two PEs throws a ball, while other pairs do the same.
#[test]
fn threads_wait_for_words_of_their_own() {
    const THREADS: usize = 3;
    const TURNS: u64 = 100;
    run(2, |job| {
        let balls = job.alloc::<u64>(THREADS).unwrap();
        let hits = job.alloc::<u64>(THREADS).unwrap();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (balls, hits) = (&balls, &hits);
                scope.spawn(move || {
                    let to = right(job);
                    for turn in 1..=TURNS {
                        if job.pe() == 1 {
                            hits.wait_until(thread, Compare::Ge, turn).unwrap();
                            assert_eq!(balls.load(thread), Ok(7 * turn));
                        }
                        let set = SignalOp::Set(turn);
                        let ball = [7 * turn];
                        balls
                            .put_with_signal(to, thread, &ball, hits, thread, set)
                            .unwrap();
                        if job.pe() == 0 {
                            hits.wait_until(thread, Compare::Ge, turn).unwrap();
                            assert_eq!(balls.load(thread), Ok(7 * turn));
                        }
                    }
                });
            }
        });
        job.barrier().unwrap();
    });
}

/// Several threads start operations and one takes all completions; then several threads wait for
/// completions.
#[test]
fn threads_share_a_queue() {
    const THREADS: u64 = 3;
    const EACH: u64 = 60;
    run(2, |job| {
        let queue = job.queue::<u64>().unwrap();
        let ended = AtomicU64::new(0);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (queue, ended) = (&queue, &ended);
                scope.spawn(move || {
                    for number in 0..EACH {
                        queue.recv(left(job), thread, vec![0; 600]).unwrap();
                        let len = [3, 600][number as usize % 2];
                        queue.send(right(job), thread, vec![number; len]).unwrap();
                    }
                    while let Some(done) = queue.wait().unwrap() {
                        done.result.unwrap();
                        ended.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(ended.into_inner(), 2 * THREADS * EACH);
        assert_eq!(queue.outstanding(), 0);
        job.barrier().unwrap();
    });
}

/// A team belongs to one thread at a time; two teams may be used by two threads.
#[test]
fn threads_use_teams_of_their_own() {
    const TURNS: u64 = 40;
    run(3, |job| {
        let teams = [0, 1].map(|_| job.world().split(Some(0), job.pe()).unwrap().unwrap());
        thread::scope(|scope| {
            for (factor, team) in (1..).zip(&teams) {
                scope.spawn(move || {
                    for turn in 0..TURNS {
                        let mut values = [factor * turn, u64::from(job.pe())];
                        team.all_reduce(&mut values, |a, b| a + b).unwrap();
                        assert_eq!(values, [3 * factor * turn, 3]);
                        team.barrier().unwrap();
                    }
                });
            }
        });
        job.barrier().unwrap();
    });
}
