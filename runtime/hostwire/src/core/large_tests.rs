//! Large teams on several hosts. PEs are threads, and there are only stores between them.

use std::sync::Arc;

use hostwire_bootstrap::Nodes;
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Testbed, Threads, Wrapping};
use hostwire_transport::wrap::StoresOnly;
use zerocopy::IntoBytes;

use super::*;
use crate::{AgentMode, Job, Layout, Sizes};

const PES: u32 = 70;

fn run(hosts: impl Fn(PeId) -> u32 + Sync, program: impl Fn(&Job) + Sync) {
    let sizes = Sizes {
        heap_bytes: 1 << 20,
        ..Sizes::default()
    };
    let layout = Layout::new(PES, sizes).unwrap();
    let stores_only =
        |wire: Arc<dyn Wire>| -> Arc<dyn Wire> { Arc::new(StoresOnly::new(wire).unwrap()) };
    let fabric = Wrapping {
        fabric: &Threads::default(),
        wrap: &stores_only,
    };
    fabric.run(PES, layout.segment_bytes(), &|wire| {
        let nodes = Nodes::numbered((0..PES).map(&hosts));
        let job = Job::over_hosts(wire, sizes, AgentMode::Polled, nodes).unwrap();
        program(&job);
        job.finalize().unwrap();
    });
}

/// An element: the first and the last of the ranks whose values it combines.
type Run = [u64; 2];

/// Fails unless the second element follows the first.
fn join(sum: &mut [u8], values: Values<'_>) {
    let mut theirs: Vec<Run> = vec![[0; 2]; sum.len() / size_of::<Run>()];
    values.copy_to(theirs.as_mut_bytes());
    let mut ours: Vec<Run> = vec![[0; 2]; theirs.len()];
    ours.as_mut_bytes().copy_from_slice(sum);
    for (ours, theirs) in ours.iter_mut().zip(&theirs) {
        assert_eq!(ours[1] + 1, theirs[0]);
        ours[1] = theirs[1];
    }
    sum.copy_from_slice(ours.as_bytes());
}

const JOIN: Combine<'static> = Combine {
    function: &join,
    element_bytes: size_of::<Run>(),
    operands: Operands::UNKNOWN,
};

fn in_a_row(pe: PeId) -> u32 {
    pe / 8
}

fn in_turn(pe: PeId) -> u32 {
    pe % 9
}

#[test]
fn reductions_combine_neighbours_in_the_order_of_ranks() {
    for hosts in [in_a_row, in_turn] {
        run(hosts, |job| {
            let (team, inner) = (&job.world().core, &*job.inner);
            let tree = team.tree().unwrap();
            let rank = u64::from(job.pe());
            for count in [1, 3, 500] {
                let all = vec![[0, u64::from(PES) - 1]; count];
                let mut values = vec![[rank; 2]; count];
                let tag = Tag::new(Kind::Reduce, count);
                let bytes = values.as_mut_bytes();
                team.reduce_along(inner, (tree, tag), bytes, JOIN).unwrap();
                assert_eq!(values, all);
                // Of symmetric memory: along the tree, or each a part.
                let memory = job.alloc::<Run>(2 * count).unwrap();
                memory.put(job.pe(), 0, &vec![[rank; 2]; count]).unwrap();
                let source = memory.offset_bytes;
                let target = source + count * size_of::<Run>();
                let places = (source, target);
                team.fold(inner, count, places, JOIN, Fold::All).unwrap();
                assert_eq!(memory.to_vec().unwrap()[count..], all);
            }
        });
    }
}

#[test]
fn scans_combine_neighbours_in_the_order_of_ranks() {
    for hosts in [in_a_row, in_turn] {
        run(hosts, |job| {
            let (team, inner) = (&job.world().core, &*job.inner);
            let rank = u64::from(job.pe());
            for count in [0, 1, 500] {
                for (fold, expected) in [
                    (Fold::UpTo, [0, rank]),
                    (Fold::Before, [0, rank.saturating_sub(1)]),
                ] {
                    let mut values = vec![[rank; 2]; count];
                    let bytes = values.as_mut_bytes();
                    team.scan_private(inner, bytes, JOIN, fold).unwrap();
                    assert_eq!(values, vec![expected; count], "{fold:?}");
                }
            }
        });
    }
}

#[test]
fn members_of_a_colour_find_each_other() {
    run(in_turn, |job| {
        let world = job.world();
        // Even PEs from the last to the first; PE 1 and those behind 65 are in none.
        let color = (job.pe() != 1 && job.pe() <= 65).then_some(job.pe() % 2);
        let team = world.split(color, PES - job.pe()).unwrap();
        assert_eq!(team.is_some(), color.is_some());
        if let (Some(team), Some(color)) = (team, color) {
            let members = (0..=65).rev().filter(|pe| pe % 2 == color && *pe != 1);
            assert_eq!(team.core.members(), members.collect::<Vec<_>>());
            team.barrier().unwrap();
        }
    });
}

#[test]
fn symmetric_memory_is_passed_on() {
    run(in_a_row, |job| {
        let (team, inner) = (&job.world().core, &*job.inner);
        let memory = job.alloc::<u8>(12000).unwrap();
        let source = memory.offset_bytes;
        for (round, root) in (1..).zip([0, 5, 8, 69, 33]) {
            for len in [1, 48, 49, 4000] {
                // Two from the same root follow each other at once.
                let own = |turn| if job.pe() == root { round + turn } else { 0 };
                memory.put(job.pe(), 0, &vec![own(0); 4000]).unwrap();
                memory.put(job.pe(), 4000, &vec![own(100); 4000]).unwrap();
                job.barrier().unwrap();
                let target = source + 8000;
                let root = root as usize;
                for turn in [0, 4000] {
                    team.broadcast(inner, root, len, source + turn, target)
                        .unwrap();
                }
                let got = memory.to_vec().unwrap();
                let got = &got[8000..8000 + len];
                assert!(got.iter().all(|byte| *byte == round + 100), "{got:?}");
                job.barrier().unwrap();
            }
        }
    });
}
