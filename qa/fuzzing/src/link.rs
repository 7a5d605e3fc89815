//! The protocol engine: the checks are those of the property tests of the crate.

use crate::Target;

#[path = "../../../runtime/link/tests/checks/mod.rs"]
mod checks;
#[path = "../../../runtime/link/tests/seeds/mod.rs"]
mod seeds;

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "link_receive",
        check: checks::link_receive,
        seeds: || owned(seeds::receive()),
        cost: 4,
    },
    Target {
        name: "sealed_receive",
        check: checks::sealed_receive,
        seeds: || owned(seeds::sealed()),
        cost: 2,
    },
];

fn owned(seeds: Vec<(&'static str, Vec<u8>)>) -> crate::Seeds {
    let seeds = seeds.into_iter();
    seeds
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .collect()
}
