//! The suite of the transports over shared memory, plain and inside wrappers. Other kinds of memory
//! are tested on a model: see `tests/model.rs`.

use std::sync::Arc;
use std::time::Duration;

use hostwire_testing::or_long;
use hostwire_transport::Wire;
use hostwire_transport::conformance::copies;
use hostwire_transport::conformance::{CASES, Testbed, Threads, Wrapping};
use hostwire_transport::faults::Faulty;
use hostwire_transport::record::{self, Recorder};
use hostwire_transport::wrap::StoresOnly;

type Brought = Arc<dyn Wire>;

fn coherent(wire: Brought) -> Brought {
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

/// The files are not read, because tests that run at the same time write to the same ones.
fn recorded(wire: Brought) -> Brought {
    let options = record::Options {
        folder: env!("CARGO_TARGET_TMPDIR").into(),
        limit_bytes: 1 << 20,
        epoch: Duration::ZERO,
    };
    Arc::new(Recorder::new(wire, &options).unwrap())
}

/// On the memory that most programs use: alone, a pair, odd, and more than there are cores.
const MOST: &[u32] = &[1, 2, 3, 8];
/// A pair, and a third party.
const FEW: &[u32] = &[2, 3];
const ALL: &[u32] = &[1, 2, 3, 4, 5, 6, 7, 8];

fn run(name: &str, wrap: fn(Brought) -> Brought, pes: &[u32]) {
    let fabric: &dyn Testbed = &Threads::default();
    let fabric = Wrapping {
        fabric,
        wrap: &wrap,
    };
    run_over(name, &fabric, or_long(pes, ALL));
}

fn run_over(name: &str, fabric: &dyn Testbed, pes: &[u32]) {
    let case = CASES
        .iter()
        .chain([&copies::CASE])
        .find(|case| case.name == name);
    for pes in pes {
        (case.unwrap().run)(fabric, *pes);
    }
}

macro_rules! over {
    ($wire:ident, $pes:ident; $($case:ident,)*) => {
        mod $wire {
            use super::{$pes, run};

            $(#[test]
            fn $case() {
                run(stringify!($case), super::$wire, $pes);
            })*

            #[test]
            fn copies_are_refused() {
                run("copies_are_refused", super::$wire, $pes);
            }
        }
    };
}

hostwire_transport::transport_cases!(over!(coherent, MOST));
hostwire_transport::transport_cases!(over!(stores_only, FEW));
hostwire_transport::transport_cases!(over!(faulty, FEW));
hostwire_transport::transport_cases!(over!(recorded, FEW));
