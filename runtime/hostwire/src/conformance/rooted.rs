//! Collective operations with a root, and with pieces of different lengths, against plain loops.

use super::collective::{Affine, compose, composed};
use super::{Setup, values};
use crate::{Error, Job, Team, op};

/// On both sides of the lengths at which operations change their way.
const WORDS: &[usize] = &[0, 1, 64, 65, 129, 520, 9001];

/// What the PE with this rank has in this round.
fn of_rank(rank: u32, round: usize, len: usize) -> Vec<u32> {
    values(rank, round, len)
}

/// Gather, scatter and reduce, with every root.
pub fn rooted_collectives(setup: &Setup<'_>) {
    setup.job(|job| {
        for (round, len) in WORDS.iter().copied().enumerate() {
            for root in 0..job.pes() {
                gather_and_scatter(job.world(), root, round, len);
                reduce(job.world(), root, round, len);
            }
        }
        roots_and_lengths_that_do_not_fit(job);
    });
}

fn gather_and_scatter(team: &Team, root: u32, round: usize, len: usize) {
    let size = team.size();
    let all = (0..size).map(|rank| of_rank(rank, round, len));
    let all = all.collect::<Vec<_>>().concat();
    let own = of_rank(team.rank(), round, len);
    let is_root = team.rank() == root;
    let mut got = vec![0; if is_root { all.len() } else { 0 }];
    team.gather(root, &own, &mut got).unwrap();
    assert!(!is_root || got == all, "gather of {len} at {root}");
    let mut piece = vec![0; len];
    team.scatter(root, &got, &mut piece).unwrap();
    assert!(piece == own, "scatter of {len} from {root}");
}

fn reduce(team: &Team, root: u32, round: usize, len: usize) {
    let own: Vec<Affine> = values(team.rank(), round, len);
    let mut got = own.clone();
    team.reduce(root, &mut got, compose).unwrap();
    let expected = match team.rank() == root {
        true => composed(team.size() - 1, round, len),
        false => own,
    };
    assert!(got == expected, "reduce of {len} at {root}");
}

fn roots_and_lengths_that_do_not_fit(job: &Job) {
    let pes = job.pes();
    let team = job.world();
    let no_root = |result: crate::Result<()>| matches!(result, Err(Error::NoSuchPe { .. }));
    assert!(no_root(team.gather(pes, &[1u8], &mut [])));
    assert!(no_root(team.scatter(pes, &[1u8], &mut [0])));
    assert!(no_root(team.reduce(pes, &mut [1u8], op::sum)));
    let length = |result: crate::Result<()>| matches!(result, Err(Error::Length { .. }));
    let counts = vec![1; pes as usize];
    assert!(length(team.all_gather_v(
        &[1u8, 2],
        &counts,
        &mut vec![0; pes as usize]
    )));
    assert!(length(team.all_gather_v(&[1u8], &counts[1..], &mut [0])));
    assert!(length(team.reduce_scatter(
        &vec![1u8; pes as usize + 1],
        &mut [0],
        op::sum
    )));
    let huge = vec![usize::MAX; pes as usize];
    assert!(length(team.gather_v(0, &[1u8], &huge, &mut [0])));
}

/// Reduce-scatter and the scan without the own values.
pub fn reductions_in_pieces(setup: &Setup<'_>) {
    setup.job(|job| {
        let team = job.world();
        let (rank, size) = (team.rank(), team.size());
        for (round, len) in WORDS.iter().copied().enumerate() {
            let own: Vec<Affine> = values(rank, round, len * size as usize);
            let mut got: Vec<Affine> = vec![[9; 2]; len];
            team.reduce_scatter(&own, &mut got, compose).unwrap();
            let all = composed(size - 1, round, len * size as usize);
            assert!(
                got == all[rank as usize * len..][..len],
                "reduce-scatter of {len}"
            );

            let mut got: Vec<Affine> = values(rank, round, len);
            team.exclusive_scan(&mut got, [1, 0], compose).unwrap();
            let expected = match rank {
                0 => vec![[1, 0]; len],
                _ => composed(rank - 1, round, len),
            };
            assert!(got == expected, "exclusive scan of {len}");
        }
        let mut bits = [1_u32 << rank, !0];
        job.all_reduce(&mut bits, op::or).unwrap();
        assert_eq!(bits, [(1 << size) - 1, !0]);
    });
}

/// Ranks with more and with fewer values, and with none.
pub fn pieces_of_different_lengths(setup: &Setup<'_>) {
    setup.job(|job| {
        for (round, unit) in [1, 40, 3000].into_iter().enumerate() {
            for root in [0, job.pes() - 1] {
                vectors(job.world(), root, round, unit);
            }
            exchange_vectors(job.world(), round, unit);
        }
    });
}

fn vectors(team: &Team, root: u32, round: usize, unit: usize) {
    let (own, size) = (team.rank(), team.size());
    let count = |rank: u32| (rank as usize + round) % 3 * unit;
    let counts: Vec<usize> = (0..size).map(count).collect();
    let mine = of_rank(own, round, count(own));
    let all = (0..size).map(|rank| of_rank(rank, round, count(rank)));
    let all = all.collect::<Vec<_>>().concat();

    let mut got = vec![0; all.len()];
    team.all_gather_v(&mine, &counts, &mut got).unwrap();
    assert!(got == all, "all-gather of {counts:?}");
    got.fill(0);
    team.gather_v(root, &mine, &counts, &mut got).unwrap();
    assert!(own != root || got == all, "gather of {counts:?}");
    let mut piece = vec![0; mine.len()];
    team.scatter_v(root, &got, &counts, &mut piece).unwrap();
    assert!(piece == mine, "scatter of {counts:?}");
}

fn exchange_vectors(team: &Team, round: usize, unit: usize) {
    let (own, size) = (team.rank(), team.size());
    let count = |from: u32, to: u32| (from + 2 * to) as usize % 3 * unit;
    let piece = |from: u32, to: u32| of_rank(from, round * 1000 + to as usize, count(from, to));
    let out = (0..size)
        .map(|to| piece(own, to))
        .collect::<Vec<_>>()
        .concat();
    let expected = (0..size).map(|from| piece(from, own));
    let expected = expected.collect::<Vec<_>>().concat();
    let going: Vec<usize> = (0..size).map(|to| count(own, to)).collect();
    let coming: Vec<usize> = (0..size).map(|from| count(from, own)).collect();
    let mut into = vec![0; expected.len()];
    team.all_to_all_v(&out, &going, &mut into, &coming).unwrap();
    assert!(into == expected, "all-to-all of {going:?}");
}
