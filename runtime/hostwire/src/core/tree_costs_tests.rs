//! The messages of the busiest PE in `docs/costs.md`. `HOSTWIRE_BLESS=1` writes them anew.

use super::*;
use crate::settings::page::with_block;

/// PEs of each host.
const EACH: u32 = 64;

/// How many messages the PE that sends and receives most has in a barrier, a broadcast and an all-reduce of a short value, and how many
/// signals a host sends and receives in the barrier.
fn counts(pes: u32) -> [usize; 4] {
    let trees = trees(pes, Places::Row(EACH));
    let steps = |count: &mut Count, steps: &dyn Fn(&Tree) -> Steps| {
        for tree in &trees {
            for to in steps(tree).to {
                count.note(tree, to);
            }
        }
    };
    let (mut barrier, mut all_reduce) = (Count::default(), Count::default());
    for tree in &trees {
        let Meeting {
            gather,
            across,
            release,
        } = tree.meeting();
        let told = gather.iter().filter_map(|(_, turn)| match turn {
            Turn::Tell(to) => Some(*to),
            Turn::Hear(_) => None,
        });
        let across = across.iter().map(|(to, _)| *to);
        for to in told.chain(across).chain(release.to) {
            barrier.note(tree, to);
        }
    }
    steps(&mut all_reduce, &Tree::up);
    steps(&mut all_reduce, &|tree| tree.down(0));
    let broadcasts = [0, 1, pes as usize / 2, pes as usize - 1].map(|root| {
        let mut count = Count::default();
        steps(&mut count, &|tree| tree.down(root));
        count.busiest()
    });
    [
        barrier.busiest(),
        broadcasts.into_iter().max().unwrap(),
        all_reduce.busiest(),
        2 * barrier.between / hosts(&trees),
    ]
}

#[test]
fn the_page_of_costs_has_the_messages_of_the_busiest_pe() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/costs.md");
    let mut block = "| PEs | barrier | broadcast | all-reduce | of each host to others, barrier |\n|---|---|---|---|---|\n".to_owned();
    for pes in [256, 1024, 4096, 16_384, 65_536] {
        let [barrier, broadcast, all_reduce, between] = counts(pes);
        block += &format!("| {pes} | {barrier} | {broadcast} | {all_reduce} | {between} |\n");
    }
    let page = std::fs::read_to_string(path).unwrap();
    let wanted = with_block(&page, "messages", &block).unwrap();
    if std::env::var_os("HOSTWIRE_BLESS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    } else {
        assert_eq!(page, wanted);
    }
}
