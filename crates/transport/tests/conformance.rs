//! The suite of the transports over shared memory. What it takes on other memory is tested on
//! a model of it: see `tests/model.rs`.

use hostwire_transport::Visibility;
use hostwire_transport::conformance::copies::copies_of_a_pe_are_refused;
use hostwire_transport::conformance::{CASES, Threads};
use hostwire_transport::shm::ShmOptions;

fn run(name: &str, options: ShmOptions) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    for pes in 1..=8 {
        (case.run)(&Threads { options }, pes);
    }
}

macro_rules! over {
    ($wire:ident, $visibility:ident, $stores_only:literal; $($case:ident,)*) => {
        mod $wire {
            use super::*;

            const OPTIONS: ShmOptions = ShmOptions {
                visibility: Visibility::$visibility,
                stores_only: $stores_only,
            };

            $(#[test]
            fn $case() {
                run(stringify!($case), OPTIONS);
            })*
        }
    };
}

hostwire_transport::transport_cases!(over!(coherent, Coherent, false));
hostwire_transport::transport_cases!(over!(stores_only, Coherent, true));

#[test]
fn copies_are_refused() {
    for stores_only in [false, true] {
        let options = ShmOptions {
            stores_only,
            ..ShmOptions::default()
        };
        copies_of_a_pe_are_refused(&Threads { options }, 2);
    }
}
