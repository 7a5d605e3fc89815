use std::collections::{HashMap, VecDeque};

use super::*;

#[path = "tree_costs_tests.rs"]
mod costs;

/// Hosts of `each` PEs, in a row; or PEs dealt out to `hosts` hosts in turn.
#[derive(Clone, Copy)]
enum Places {
    Row(u32),
    Turn(u32),
}

impl Places {
    fn node(self, pe: PeId) -> u32 {
        match self {
            Self::Row(each) => pe / each,
            Self::Turn(hosts) => pe % hosts,
        }
    }
}

fn trees(pes: u32, places: Places) -> Vec<Tree> {
    let members: Vec<PeId> = (0..pes).collect();
    // Most of a tree is the same at all members.
    let first = Tree::of(&members, 0, |pe| Some(places.node(pe))).unwrap();
    let mut by_host = vec![Vec::new(); first.firsts.len()];
    for (rank, host) in first.host_of.iter().enumerate() {
        by_host[usize::from(*host)].push(rank as u32);
    }
    let tree = |rank: usize| Tree {
        own: by_host[usize::from(first.host_of[rank])].clone().into(),
        rank,
        firsts: Arc::clone(&first.firsts),
        host_of: Arc::clone(&first.host_of),
        is_in_order: first.is_in_order,
    };
    (0..pes as usize).map(tree).collect()
}

/// Messages of each member, and those between hosts.
#[derive(Default)]
struct Count {
    of: HashMap<usize, usize>,
    between: usize,
}

impl Count {
    fn note(&mut self, tree: &Tree, other: usize) {
        *self.of.entry(tree.rank).or_default() += 1;
        *self.of.entry(other).or_default() += 1;
        self.between += usize::from(tree.host_of[tree.rank] != tree.host_of[other]);
    }

    fn busiest(&self) -> usize {
        self.of.values().copied().max().unwrap_or(0)
    }
}

/// What a member holds: the ranks whose values are combined, which follow each other.
type Run = (usize, usize);

/// Runs the steps of all members until nothing happens any more. A member listens in its order, and then speaks.
fn run<V: Clone>(
    trees: &[Tree],
    steps: impl Fn(&Tree) -> Steps,
    mut values: Vec<Option<V>>,
    mut hear: impl FnMut(&mut Option<V>, V),
    count: &mut Count,
) -> Vec<Option<V>> {
    let steps: Vec<Steps> = trees.iter().map(steps).collect();
    let mut heard = vec![0; trees.len()];
    let mut mail = HashMap::<(usize, usize), V>::new();
    let mut ready: VecDeque<usize> = (0..trees.len()).collect();
    let mut has_spoken = vec![false; trees.len()];
    while let Some(rank) = ready.pop_front() {
        while let Some(from) = steps[rank].from.get(heard[rank]) {
            let Some(value) = mail.remove(&(*from, rank)) else {
                break;
            };
            hear(&mut values[rank], value);
            heard[rank] += 1;
        }
        if heard[rank] == steps[rank].from.len() && !has_spoken[rank] {
            has_spoken[rank] = true;
            for to in &steps[rank].to {
                let value = values[rank].clone().expect("something to say");
                assert!(mail.insert((rank, *to), value).is_none());
                count.note(&trees[rank], *to);
                ready.push_back(*to);
            }
        }
    }
    assert!(mail.is_empty() && has_spoken.iter().all(|has| *has));
    values
}

const JOBS: [(u32, Places); 9] = [
    (65, Places::Row(65)),
    (65, Places::Row(64)),
    (70, Places::Row(8)),
    (70, Places::Turn(2)),
    (100, Places::Row(1)),
    (1024, Places::Row(64)),
    (1000, Places::Turn(16)),
    (4096, Places::Row(48)),
    (1 << 16, Places::Row(64)),
];

fn log2(size: u32) -> usize {
    size.next_power_of_two().ilog2() as usize
}

fn hosts(trees: &[Tree]) -> usize {
    trees[0].firsts.len()
}

#[test]
fn all_comes_to_rank_0_in_the_order_of_ranks() {
    for (pes, places) in JOBS {
        let trees = trees(pes, places);
        let mut count = Count::default();
        let own = (0..pes as usize).map(|rank| Some((rank, rank + 1)));
        let values = run(
            &trees,
            Tree::up,
            own.collect(),
            |mine: &mut Option<Run>, theirs| {
                let (begin, end) = mine.unwrap();
                assert_eq!(end, theirs.0);
                *mine = Some((begin, theirs.1));
            },
            &mut count,
        );
        assert_eq!(values[0], Some((0, pes as usize)));
        assert!(
            count.busiest() <= log2(pes) + 1,
            "{pes}: {}",
            count.busiest()
        );
        if trees[0].is_in_order {
            assert_eq!(count.between, hosts(&trees) - 1);
        }
    }
}

#[test]
fn what_a_root_has_comes_to_all() {
    for (pes, places) in JOBS {
        let trees = trees(pes, places);
        for root in [0, 1, pes as usize / 2, pes as usize - 1] {
            let mut count = Count::default();
            let mut values = vec![None; pes as usize];
            values[root] = Some(root);
            let values = run(
                &trees,
                |tree| tree.down(root),
                values,
                |mine: &mut Option<usize>, theirs| *mine = Some(theirs),
                &mut count,
            );
            assert!(values.iter().all(|value| *value == Some(root)));
            assert!(
                count.busiest() <= log2(pes) + 2,
                "{pes}: {}",
                count.busiest()
            );
            assert_eq!(count.between, hosts(&trees) - 1);
        }
    }
}

/// As flags do: each word has one writer, and nobody passes before all have come.
#[test]
fn a_barrier_ends_when_all_have_come() {
    for (pes, places) in JOBS {
        let trees = trees(pes, places);
        let mut count = Count::default();
        let mut writers = HashMap::new();
        let mut only_writer = |reader: usize, word: usize, writer: usize| {
            assert_eq!(*writers.entry((reader, word)).or_insert(writer), writer);
        };
        let mut heard = vec![0; pes as usize];
        for tree in &trees {
            let meeting = tree.meeting();
            for (round, turn) in &meeting.gather {
                match turn {
                    Turn::Tell(to) => {
                        only_writer(*to, *round, tree.rank);
                        count.note(tree, *to);
                    }
                    Turn::Hear(from) => {
                        only_writer(tree.rank, *round, *from);
                        heard[tree.rank] += 1;
                    }
                }
            }
            for (round, (to, from)) in meeting.across.iter().enumerate() {
                only_writer(*to, 100 + round, tree.rank);
                only_writer(tree.rank, 100 + round, *from);
                count.note(tree, *to);
            }
            assert_eq!(
                meeting.release.from.is_empty(),
                !meeting.across.is_empty() || hosts(&trees) == 1 && tree.rank == 0
            );
            for to in &meeting.release.to {
                only_writer(*to, 200, tree.rank);
                count.note(tree, *to);
            }
        }
        // Each but the first of each host is heard of once.
        assert_eq!(heard.iter().sum::<usize>(), pes as usize - hosts(&trees));
        let rounds = log2(hosts(&trees) as u32);
        assert_eq!(count.between, hosts(&trees) * rounds);
        assert!(
            count.busiest() <= 2 * log2(pes) + 2,
            "{pes}: {}",
            count.busiest()
        );
    }
}
