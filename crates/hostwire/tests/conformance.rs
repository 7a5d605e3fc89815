//! The suite of the API over shared memory that declares the contract of every kind of
//! wire.

use hostwire::AgentMode;
use hostwire::conformance::{CASES, Setup};
use hostwire_transport::Visibility;
use hostwire_transport::conformance::Threads;
use hostwire_transport::shm::ShmOptions;

/// Alone, a pair, odd, even, and more than there are cores.
const PES: [u32; 5] = [1, 2, 3, 4, 8];

fn run(name: &str, options: ShmOptions, mode: AgentMode) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let fabric = Threads { options };
    for pes in PES {
        (case.run)(&Setup::new(&fabric, pes, mode));
    }
}

macro_rules! over {
    ($wire:ident, $visibility:ident, $stores_only:literal, $mode:ident; $($case:ident,)*) => {
        mod $wire {
            use super::*;

            const OPTIONS: ShmOptions = ShmOptions {
                visibility: Visibility::$visibility,
                stores_only: $stores_only,
            };

            $(#[test]
            fn $case() {
                run(stringify!($case), OPTIONS, AgentMode::$mode);
            })*
        }
    };
}

hostwire::conformance_cases!(over!(coherent, Coherent, false, Thread));
// What it takes on such memory is tested in `model.rs`: this memory forgives whatever is forgotten.
hostwire::conformance_cases!(over!(declared_flushed, Flushed, false, Thread));
hostwire::conformance_cases!(over!(stores_only, Coherent, true, Thread));
hostwire::conformance_cases!(over!(stores_only_polled, Coherent, true, Polled));
