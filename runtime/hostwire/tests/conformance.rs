//! The suite of the API over shared memory that declares the contract of each kind of
//! wire, and over shared memory inside wrappers.

use std::sync::Arc;

use hostwire::AgentMode;
use hostwire::conformance::{CASES, Setup};
use hostwire_region::InRegion;
use hostwire_testing::or_long;
use hostwire_transport::conformance::{Threads, Wrapping};
use hostwire_transport::faults::Faulty;
use hostwire_transport::shm::ShmOptions;
use hostwire_transport::wrap::StoresOnly;
use hostwire_transport::{Visibility, Wire};

type Brought = Arc<dyn Wire>;

/// On the memory that most programs use: alone, a pair, odd, and more than there are cores.
fn most() -> &'static [u32] {
    or_long(&[1, 2, 3, 8], ALL)
}

/// An odd number, with a third party. Errors of a pair show on the memory above.
fn few() -> &'static [u32] {
    or_long(&[3], ALL)
}

const ALL: &[u32] = &[1, 2, 3, 4, 8];

fn as_it_is(wire: Brought) -> Brought {
    wire
}

fn stores_only(wire: Brought) -> Brought {
    Arc::new(StoresOnly::new(wire).unwrap())
}

/// Only faults that a wire may have.
fn faulty(wire: Brought) -> Brought {
    let faults = "reorder=0.3,dup=0.3,seed=7".parse().unwrap();
    Arc::new(Faulty::new(wire, faults).unwrap())
}

type Wrap = fn(Brought) -> Brought;

fn run(name: &str, visibility: Visibility, (wrap, mode): (Wrap, AgentMode), pes: &[u32]) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let threads = Threads {
        options: ShmOptions { visibility },
    };
    let fabric = Wrapping {
        fabric: &threads,
        wrap: &wrap,
    };
    for pes in pes {
        (case.run)(&Setup::new(&fabric, *pes, mode));
    }
}

macro_rules! over {
    ($wire:ident, $visibility:ident, $wrap:ident, $mode:ident, $pes:ident; $($case:ident,)*) => {
        mod $wire {
            use super::*;

            $(#[test]
            fn $case() {
                let around = ($wrap as Wrap, AgentMode::$mode);
                run(stringify!($case), Visibility::$visibility, around, $pes());
            })*
        }
    };
}

hostwire::conformance_cases!(over!(coherent, Coherent, as_it_is, Thread, most));
// `model.rs` tests what such memory requires: this memory works even if a flush or a
// fence is missing.
hostwire::conformance_cases!(over!(declared_flushed, Flushed, as_it_is, Thread, few));
hostwire::conformance_cases!(over!(stores_only, Coherent, stores_only, Thread, few));
hostwire::conformance_cases!(over!(
    stores_only_polled,
    Coherent,
    stores_only,
    Polled,
    few
));
hostwire::conformance_cases!(over!(reordered_and_doubled, Coherent, faulty, Thread, few));

/// PEs that wake each other as PEs of several kernels do.
macro_rules! with_bells {
    (; $($case:ident,)*) => {
        mod with_bells {
            use super::*;

            $(#[test]
            fn $case() {
                let fabric = InRegion {
                    contract: Visibility::Coherent,
                    has_bells: true,
                };
                let case = CASES.iter().find(|case| case.name == stringify!($case)).unwrap();
                for pes in few() {
                    (case.run)(&Setup::new(&fabric, *pes, AgentMode::Thread));
                }
            })*
        }
    };
}

hostwire::conformance_cases!(with_bells!());
