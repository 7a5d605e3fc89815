//! Collective operations against plain loops.

use super::{Setup, apart, values};
use crate::{Element, Error, Job, Team, op};

/// Lengths in words, on both sides of the 512 bytes at which operations change their
/// way, and of a ring's longest message.
const WORDS: &[usize] = &[0, 1, 63, 64, 65, 127, 128, 129, 500, 510, 520, 1100, 20_001];

/// No PE leaves a barrier before all have arrived, many times over.
pub fn barriers_separate(setup: &Setup<'_>) {
    setup.job(|job| {
        let pes = job.pes() as usize;
        let step = apart(job, 1);
        let turns = job.alloc::<u64>(pes * step).unwrap();
        for round in 1..=50u64 {
            for pe in 0..job.pes() {
                turns.put(pe, job.pe() as usize * step, &[round]).unwrap();
            }
            job.barrier().unwrap();
            // Others may be one round ahead, but never behind.
            let seen = turns.to_vec().unwrap();
            let seen: Vec<u64> = seen.into_iter().step_by(step).collect();
            assert!(
                seen.iter().all(|s| (round..=round + 1).contains(s)),
                "{seen:?} in {round}"
            );
        }
    });
}

/// Every root reaches every PE.
pub fn broadcasts(setup: &Setup<'_>) {
    setup.job(|job| {
        for (round, len) in WORDS.iter().copied().enumerate() {
            for root in 0..job.pes() {
                broadcast(job.world(), root, round, len);
            }
        }
        broadcast_of(job, &[7u8, 8, 9]);
        broadcast_of(job, &[[1.5f64; 3]; 2]);
    });
}

pub(super) fn broadcast(team: &Team, root: u32, round: usize, len: usize) {
    let mut got: Vec<u32> = values(team.rank(), round, len);
    team.broadcast(root, &mut got).unwrap();
    assert!(
        got == values::<u32>(root, round, len),
        "{len} from rank {root}"
    );
}

fn broadcast_of<T: Element + PartialEq + std::fmt::Debug>(job: &Job, expected: &[T]) {
    let mut got = vec![T::new_zeroed(); expected.len()];
    if job.pe() + 1 == job.pes() {
        got.copy_from_slice(expected);
    }
    job.broadcast(job.pes() - 1, &mut got).unwrap();
    assert_eq!(got, expected);
}

/// All-gather and all-to-all put every piece in its place.
pub fn gathers(setup: &Setup<'_>) {
    setup.job(|job| {
        for (round, len) in WORDS.iter().copied().enumerate() {
            gather(job.world(), round, len);
        }
        lengths_that_do_not_fit(job);
    });
}

pub(super) fn gather(team: &Team, round: usize, len: usize) {
    let size = team.size();
    let mut all = vec![0; len * size as usize];
    team.all_gather(&values::<u32>(team.rank(), round, len), &mut all)
        .unwrap();
    let of_rank = |rank| values::<u32>(rank, round, len);
    let expected = (0..size).map(of_rank).collect::<Vec<_>>().concat();
    assert!(all == expected, "all-gather of {len}");

    let piece = |from: u32, to: u32| values::<u32>(from, round * 1000 + to as usize, len);
    let pieces = (0..size).map(|to| piece(team.rank(), to));
    let out = pieces.collect::<Vec<_>>().concat();
    team.all_to_all(&out, &mut all).unwrap();
    let pieces = (0..size).map(|from| piece(from, team.rank()));
    let expected = pieces.collect::<Vec<_>>().concat();
    assert!(all == expected, "all-to-all of {len}");
}

fn lengths_that_do_not_fit(job: &Job) {
    let pes = job.pes() as usize;
    let length = |result: crate::Result<()>| matches!(result, Err(Error::Length { .. }));
    assert!(length(job.all_gather(&[1u8; 2], &mut vec![0; 2 * pes + 1])));
    assert!(length(
        job.all_to_all(&vec![1u8; pes], &mut vec![0; pes + 1])
    ));
    if pes > 1 {
        assert!(length(
            job.all_to_all(&vec![1u8; pes + 1], &mut vec![0; pes + 1])
        ));
    }
}

/// `x -> a x + b` over wrapping integers: associative, and the order matters.
pub(super) type Affine = [u32; 2];

pub(super) fn compose(first: Affine, then: Affine) -> Affine {
    [
        first[0].wrapping_mul(then[0]),
        first[1].wrapping_mul(then[0]).wrapping_add(then[1]),
    ]
}

/// The composition of the values of ranks `0 ..= last`.
pub(super) fn composed(last: u32, round: usize, len: usize) -> Vec<Affine> {
    let mut sum: Vec<Affine> = values(0, round, len);
    for rank in 1..=last {
        for (sum, value) in sum.iter_mut().zip(values(rank, round, len)) {
            *sum = compose(*sum, value);
        }
    }
    sum
}

/// Reductions combine in the order of ranks, on all PEs alike.
pub fn reductions_in_the_order_of_ranks(setup: &Setup<'_>) {
    setup.job(|job| {
        for (round, len) in WORDS.iter().copied().enumerate() {
            reduction(job.world(), round, len);
        }
        let pes = u64::from(job.pes());
        let mut sums = [u64::from(job.pe()), 1];
        job.all_reduce(&mut sums, u64::wrapping_add).unwrap();
        assert_eq!(sums, [pes * (pes - 1) / 2, pes]);
        elements_of_any_size::<3>(job, 3000);
        elements_of_any_size::<600>(job, 5);
        let mut most = [f64::from(job.pe())];
        job.all_reduce(&mut most, f64::max).unwrap();
        assert_eq!(most, [f64::from(job.pes() - 1)]);
    });
}

fn elements_of_any_size<const N: usize>(job: &Job, len: usize) {
    let mut sums = vec![[u64::from(job.pe()); N]; len];
    let add = |a: [u64; N], b: [u64; N]| core::array::from_fn(|index| a[index] + b[index]);
    job.all_reduce(&mut sums, add).unwrap();
    let pes = u64::from(job.pes());
    assert!(sums.iter().all(|sum| *sum == [pes * (pes - 1) / 2; N]));
}

pub(super) fn reduction(team: &Team, round: usize, len: usize) {
    let mut got: Vec<Affine> = values(team.rank(), round, len);
    team.all_reduce(&mut got, compose).unwrap();
    assert!(
        got == composed(team.size() - 1, round, len),
        "all-reduce of {len}"
    );
}

/// Each rank has the combination up to its own value.
pub fn scans(setup: &Setup<'_>) {
    setup.job(|job| {
        for (round, len) in WORDS.iter().copied().enumerate() {
            scan(job.world(), round, len);
        }
    });
}

pub(super) fn scan(team: &Team, round: usize, len: usize) {
    let mut got: Vec<Affine> = values(team.rank(), round, len);
    team.scan(&mut got, compose).unwrap();
    assert!(got == composed(team.rank(), round, len), "scan of {len}");
}

/// Data that is small for the default ring is long for the smallest one; the results
/// are the same.
pub fn collectives_over_the_smallest_ring(setup: &Setup<'_>) {
    setup.with_ring(256).job(|job| {
        for (round, len) in [1, 13, 14, 15, 28, 29, 64, 128, 129, 1000]
            .into_iter()
            .enumerate()
        {
            broadcast(job.world(), job.pes() - 1, round, len);
            gather(job.world(), round, len);
            reduction(job.world(), round, len);
            scan(job.world(), round, len);
        }
    });
}

/// PEs that pass different lengths get an error, and do not wait for ever.
pub fn disagreement_is_told(setup: &Setup<'_>) {
    for len in [10, 1_000, 100_000] {
        for longer in [false, true] {
            setup.job(|job| {
                let own = match (job.pe(), longer) {
                    (0, _) => len,
                    (_, true) => len + 1,
                    (_, false) => len - 1,
                };
                let told = job.broadcast(0, &mut vec![0u8; own]);
                // A PE that got it from a PE with the error has the right values.
                if job.pe() == 1 {
                    assert_eq!(
                        told,
                        Err(Error::CollectiveMismatch {
                            operation: "a broadcast",
                            pe: 0,
                            theirs: format!("{len} bytes"),
                            ours: format!("{own} bytes"),
                        })
                    );
                }
                // A long message to a PE that got the error was not sent.
                if job.pe() == 0 {
                    assert!(
                        matches!(told, Ok(()) | Err(Error::PeerLeft { .. })),
                        "{told:?}"
                    );
                }
            });
        }
    }
}

/// PEs with other elements, another function, another operation or other roots get an error, and no
/// number. Here they hear of each other in the operation, or in the next one.
pub fn different_calls_are_told(setup: &Setup<'_>) {
    type Call = fn(&Job) -> crate::Result<()>;
    let sum: Call = |job| job.all_reduce(&mut [1_i64], op::sum);
    let calls: [(Call, &str, &str); 4] = [
        (
            |job| job.all_reduce(&mut [1_f64], op::sum),
            "sum of float64",
            "sum of int64",
        ),
        (
            |job| job.all_reduce(&mut [1_i64], op::min),
            "minimum of int64",
            "sum of int64",
        ),
        (
            |job| job.world().scan(&mut [1_i64], op::sum),
            "a scan of 8 bytes, sum of int64",
            "a reduction of 8 bytes, sum of int64",
        ),
        (
            |job| {
                job.broadcast(0, &mut [1_u8])?;
                job.all_reduce(&mut [1_i64], op::sum)
            },
            "other roots in earlier operations",
            "its own",
        ),
    ];
    for (number, (other, theirs, ours)) in calls.into_iter().enumerate() {
        setup.job(|job| {
            if job.pes() == 1 {
                return;
            }
            let told = match (job.pe(), number) {
                (0, _) => other(job),
                (_, 3) => job.broadcast(1, &mut [1_u8]).and_then(|()| sum(job)),
                _ => sum(job),
            };
            if job.pe() > 0 {
                assert_eq!(
                    told,
                    Err(Error::CollectiveMismatch {
                        operation: "a reduction",
                        pe: 0,
                        theirs: theirs.into(),
                        ours: ours.into(),
                    })
                );
            }
        });
    }
}
