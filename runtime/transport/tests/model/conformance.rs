//! The suite of the transports on modelled memory.

use hostwire_transport::Visibility;
use hostwire_transport::conformance::CASES;
use hostwire_transport::model::Modelled;

/// On a posted wire a quiet does not wait until packets have arrived, and no other PE knows
/// whether they have: see
/// `a_quiet_through_write_combining_windows_does_not_wait_for_packets`.
const NOT_ON_WRITE_COMBINING: &[&str] = &["what_is_quiet_is_visible"];

fn run(name: &str, visibility: Visibility) {
    if visibility == Visibility::WriteCombining && NOT_ON_WRITE_COMBINING.contains(&name) {
        return;
    }
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let fabric = Modelled {
        visibility,
        // Both processors, with every temper twice.
        seeds: 24,
        steps_max: 20_000_000,
    };
    for pes in 1..=3 {
        (case.run)(&fabric, pes);
    }
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

hostwire_transport::transport_cases!(over!(coherent, Coherent));
hostwire_transport::transport_cases!(over!(write_combining, WriteCombining));
hostwire_transport::transport_cases!(over!(flushed, Flushed));
