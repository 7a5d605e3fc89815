//! The suite of the API on modelled memory: see `hostwire_transport::model`. Run by
//! `scripts/model.sh`; in other builds there is nothing here.
//!
//! Not on flushed memory: there a line has one writing host, and the suite, like most programs,
//! has PEs store to neighbouring elements. See `docs/memory-model.md`.

#![cfg(memory_model)]

use hostwire::AgentMode;
use hostwire::conformance::{CASES, Setup};
use hostwire_transport::Visibility;
use hostwire_transport::model::Modelled;

/// Those in which it matters that there are more than two; the model moves words one by one,
/// and some of the others move many.
const OF_THREE: [&str; 5] = [
    "barriers_separate",
    "broadcasts",
    "reductions_in_the_order_of_ranks",
    "scans",
    "signals_of_all_pes_add_up",
];

fn run(name: &str, visibility: Visibility) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let (pes, seeds) = match OF_THREE.contains(&name) {
        true => (3, 12),
        false => (2, 2),
    };
    let fabric = Modelled {
        visibility,
        seeds,
        steps_max: 30_000_000,
    };
    (case.run)(&Setup::new(&fabric, pes, AgentMode::Polled));
}

macro_rules! over {
    ($wire:ident, $visibility:ident; $($case:ident,)*) => {
        mod $wire {
            use super::*;

            $(#[test]
            fn $case() {
                run(stringify!($case), Visibility::$visibility);
            })*
        }
    };
}

hostwire::conformance_cases!(over!(coherent, Coherent));
hostwire::conformance_cases!(over!(write_combining, WriteCombining));
