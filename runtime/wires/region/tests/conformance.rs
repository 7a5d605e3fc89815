//! The suite of the transports over a region, with each contract.

// Not on modelled memory.
#![cfg(not(memory_model))]

use hostwire_region::InRegion;
use hostwire_testing::or_long;
use hostwire_transport::Visibility;
use hostwire_transport::conformance::CASES;
use hostwire_transport::conformance::copies;

/// A pair, and a third party.
const FEW: &[u32] = &[2, 3];
const ALL: &[u32] = &[1, 2, 3, 4, 5, 6, 7, 8];

fn run(name: &str, fabric: &InRegion) {
    let case = CASES
        .iter()
        .chain([&copies::CASE])
        .find(|case| case.name == name);
    for pes in or_long(FEW, ALL) {
        (case.unwrap().run)(fabric, *pes);
    }
}

macro_rules! in_region {
    ($wire:ident, $contract:ident, $has_bells:literal; $($case:ident,)*) => {
        mod $wire {
            use super::*;

            const FABRIC: InRegion = InRegion {
                contract: Visibility::$contract,
                has_bells: $has_bells,
            };

            $(#[test]
            fn $case() {
                run(stringify!($case), &FABRIC);
            })*

            #[test]
            fn copies_are_refused() {
                run("copies_are_refused", &FABRIC);
            }
        }
    };
}

hostwire_transport::transport_cases!(in_region!(coherent, Coherent, false));
hostwire_transport::transport_cases!(in_region!(flushed, Flushed, false));
hostwire_transport::transport_cases!(in_region!(write_combining, WriteCombining, false));
hostwire_transport::transport_cases!(in_region!(with_bells, Coherent, true));
