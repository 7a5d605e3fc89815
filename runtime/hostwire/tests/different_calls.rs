//! Members of a team that call different collective operations: none of them gets a number, and none
//! waits for ever. PEs are threads here.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hostwire::{AgentMode, Error, Job, Result, Sizes, op};
use hostwire_transport::conformance::{Testbed, Threads};

fn run(pes: u32, program: impl Fn(&Job) -> Result<()> + Sync) -> Vec<Result<()>> {
    let sizes = Sizes {
        heap_bytes: 4 << 20,
        ..Sizes::default()
    };
    let layout = hostwire::Layout::new(pes, sizes).unwrap();
    let results = Mutex::new(vec![Ok(()); pes as usize]);
    Threads::default().run(pes, layout.segment_bytes(), &|wire| {
        let job = Job::over(wire, sizes, AgentMode::Thread).unwrap();
        let (pe, result) = (job.pe() as usize, program(&job));
        results.lock().unwrap()[pe] = result;
    });
    results.into_inner().unwrap()
}

type Call = (&'static str, fn(&Job) -> Result<()>);

/// More than a ring has room for.
const LONG: usize = 20_000;

/// No two of these are the same call.
const CALLS: &[Call] = &[
    ("barrier", Job::barrier),
    ("broadcast 0", |job| job.broadcast(0, &mut [1_u64])),
    ("broadcast 1", |job| job.broadcast(1, &mut [1_u64])),
    ("broadcast of f64", |job| job.broadcast(0, &mut [1_f64])),
    ("long broadcast 0", |job| {
        job.broadcast(0, &mut [1_u64; LONG])
    }),
    ("long broadcast 1", |job| {
        job.broadcast(1, &mut [1_u64; LONG])
    }),
    ("sum", |job| job.all_reduce(&mut [1_u64], op::sum)),
    ("sum of none", |job| {
        job.all_reduce(&mut [0_u64; 0], op::sum)
    }),
    ("sum of two", |job| job.all_reduce(&mut [1_u64; 2], op::sum)),
    ("sum of i64", |job| job.all_reduce(&mut [1_i64], op::sum)),
    ("sum of f64", |job| job.all_reduce(&mut [1_f64], op::sum)),
    ("max", |job| job.all_reduce(&mut [1_u64], op::max)),
    ("xor", |job| job.all_reduce(&mut [1_u64], op::xor)),
    ("long sum", |job| {
        job.all_reduce(&mut [1_u64; LONG], op::sum)
    }),
    ("long min", |job| {
        job.all_reduce(&mut [1_u64; LONG], op::min)
    }),
    ("reduce 0", |job| {
        job.world().reduce(0, &mut [1_u64], op::sum)
    }),
    ("reduce 1", |job| {
        job.world().reduce(1, &mut [1_u64], op::sum)
    }),
    ("long reduce 0", |job| {
        job.world().reduce(0, &mut [1_u64; LONG], op::sum)
    }),
    ("long reduce 1", |job| {
        job.world().reduce(1, &mut [1_u64; LONG], op::sum)
    }),
    ("reduce_scatter", |job| {
        job.world()
            .reduce_scatter(&[1_u64; 2], &mut [0_u64], op::sum)
    }),
    ("scan", |job| job.world().scan(&mut [1_u64], op::sum)),
    ("exclusive scan", |job| {
        job.world().exclusive_scan(&mut [1_u64], 0, op::sum)
    }),
    ("all_gather", |job| job.all_gather(&[1_u64], &mut [0; 2])),
    ("all_to_all", |job| job.all_to_all(&[1_u64; 2], &mut [0; 2])),
    ("gather 0", |job| {
        job.world().gather(0, &[1_u64], &mut [0; 2])
    }),
    ("gather 1", |job| {
        job.world().gather(1, &[1_u64], &mut [0; 2])
    }),
    ("scatter 0", |job| {
        job.world().scatter(0, &[1_u64; 2], &mut [0])
    }),
    ("scatter 1", |job| {
        job.world().scatter(1, &[1_u64; 2], &mut [0])
    }),
    ("long scatter 0", |job| {
        job.world().scatter(0, &[1_u64; 2 * LONG], &mut [0; LONG])
    }),
    ("long scatter 1", |job| {
        job.world().scatter(1, &[1_u64; 2 * LONG], &mut [0; LONG])
    }),
    ("split", |job| job.world().split(Some(0), 0).map(drop)),
];

/// At least one PE gets the error; the other gets it too, or sees that this one has gone. Their next call is the
/// same, so neither may get a number there: it would come from two different operations.
#[test]
fn two_pes_that_call_different_operations_hear_so() {
    let pairs = (0..CALLS.len()).flat_map(|one| (one + 1..CALLS.len()).map(move |two| (one, two)));
    let pairs: Vec<_> = pairs.collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Most of the time they wait.
        for _ in 0..16 {
            scope.spawn(|| {
                while let Some((one, two)) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    differ(CALLS[*one], CALLS[*two]);
                }
            });
        }
    });
}

fn differ(one: Call, other: Call) {
    let results = run(2, |job| {
        let (_, call) = if job.pe() == 0 { one } else { other };
        call(job)?;
        job.all_reduce(&mut [1_u64], op::sum)
    });
    let told = results
        .iter()
        .filter(|result| matches!(result, Err(Error::CollectiveMismatch { .. })));
    assert!(
        told.count() > 0 && results.iter().all(Result::is_err),
        "{} and {}: {results:?}",
        one.0,
        other.0
    );
}

/// One of five calls another operation, and all end.
#[test]
fn one_of_several_pes_that_calls_another_operation_stops_all() {
    const SOME: [usize; 7] = [0, 1, 4, 6, 13, 22, 24];
    for common in SOME {
        for other in SOME.into_iter().filter(|other| *other != common) {
            let results = run(5, |job| {
                let length_of_all = |job: &Job| match CALLS[common].0 {
                    "all_gather" => job.all_gather(&[1_u64], &mut [0; 5]),
                    "gather 0" => job.world().gather(0, &[1_u64], &mut [0; 5]),
                    _ => CALLS[common].1(job),
                };
                match job.pe() == 3 {
                    false => length_of_all(job)?,
                    true if CALLS[other].0.contains("gather") => {
                        job.all_reduce(&mut [1_u8], op::or)?
                    }
                    true => CALLS[other].1(job)?,
                }
                job.all_reduce(&mut [1_u64], op::sum)
            });
            let is_told =
                |result: &Result<()>| matches!(result, Err(Error::CollectiveMismatch { .. }));
            assert!(
                results.iter().any(is_told) && results.iter().all(Result::is_err),
                "{} and {}: {results:?}",
                CALLS[common].0,
                CALLS[other].0
            );
        }
    }
}

#[test]
fn the_error_says_what_both_call() {
    let results = run(2, |job| match job.pe() {
        0 => job.barrier(),
        _ => job.all_reduce(&mut [1_f32], op::max),
    });
    let said: Vec<String> = results
        .into_iter()
        .map(|got| got.unwrap_err().to_string())
        .collect();
    let (barrier, reduction) = (
        "the PEs disagree in a barrier: PE 1 says a reduction, maximum of float32, this PE a barrier",
        "the PEs disagree in a reduction: PE 0 says a barrier, this PE a reduction, maximum of float32",
    );
    // The PE that looks later may find that the other has left already.
    assert!(said[0] == barrier || said[1] == reduction, "{said:?}");
}

/// A slow PE is never mistaken for one that calls something else.
#[test]
fn pes_that_come_late_are_waited_for() {
    let results = run(3, |job| {
        for late in 0..3 {
            if job.pe() == late {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
            let mut sum = [1_u64];
            job.barrier()?;
            job.all_reduce(&mut sum, op::sum)?;
            assert_eq!(sum, [3]);
            job.broadcast(late, &mut sum)?;
            job.broadcast(late, &mut [0_u64; LONG])?;
            job.world().scan(&mut [1_u64; LONG], |a, b| a + b)?;
        }
        job.barrier()
    });
    assert_eq!(results, vec![Ok(()); 3]);
}
