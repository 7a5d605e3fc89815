//! The suite of the transports over shared memory, as it is and with something around it, and over
//! a region with each contract. What
//! it takes on other memory is tested on a model of it: see `tests/model.rs`.

use std::sync::Arc;
use std::time::Duration;

use hostwire_transport::conformance::copies::copies_of_a_pe_are_refused;
use hostwire_transport::conformance::{CASES, Case, Fabric, InRegion, Threads, Wrapping};
use hostwire_transport::faults::Faulty;
use hostwire_transport::record::{self, Recorder};
use hostwire_transport::wrap::StoresOnly;
use hostwire_transport::{Transport, Visibility};

type Wire = Arc<dyn Transport>;

/// Beside the suite, which also runs where PEs are no processes.
const COPIES: Case = Case {
    name: "copies_are_refused",
    run: copies_of_a_pe_are_refused,
};

fn coherent(wire: Wire) -> Wire {
    wire
}

fn stores_only(wire: Wire) -> Wire {
    Arc::new(StoresOnly::new(wire).unwrap())
}

/// Only what a wire may do.
fn faulty(wire: Wire) -> Wire {
    let faults = "reorder=0.3,dup=0.3,seed=7".parse().unwrap();
    Arc::new(Faulty::new(wire, faults).unwrap())
}

/// Nobody reads the files: tests that run at the same time write to the same ones.
fn recorded(wire: Wire) -> Wire {
    let options = record::Options {
        folder: env!("CARGO_TARGET_TMPDIR").into(),
        limit_bytes: 1 << 20,
        epoch: Duration::ZERO,
    };
    Arc::new(Recorder::new(wire, &options).unwrap())
}

fn run(name: &str, wrap: fn(Wire) -> Wire) {
    let fabric: &dyn Fabric = &Threads::default();
    let fabric = Wrapping {
        fabric,
        wrap: &wrap,
    };
    run_over(name, &fabric);
}

fn run_over(name: &str, fabric: &dyn Fabric) {
    let case = CASES.iter().chain([&COPIES]).find(|case| case.name == name);
    for pes in 1..=8 {
        (case.unwrap().run)(fabric, pes);
    }
}

macro_rules! over {
    ($wire:ident; $($case:ident,)*) => {
        mod $wire {
            use super::run;

            $(#[test]
            fn $case() {
                run(stringify!($case), super::$wire);
            })*

            #[test]
            fn copies_are_refused() {
                run("copies_are_refused", super::$wire);
            }
        }
    };
}

hostwire_transport::transport_cases!(over!(coherent));
hostwire_transport::transport_cases!(over!(stores_only));
hostwire_transport::transport_cases!(over!(faulty));
hostwire_transport::transport_cases!(over!(recorded));

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
                run_over(stringify!($case), &FABRIC);
            })*

            #[test]
            fn copies_are_refused() {
                run_over("copies_are_refused", &FABRIC);
            }
        }
    };
}

hostwire_transport::transport_cases!(in_region!(region_coherent, Coherent, false));
hostwire_transport::transport_cases!(in_region!(region_flushed, Flushed, false));
hostwire_transport::transport_cases!(in_region!(region_write_combining, WriteCombining, false));
hostwire_transport::transport_cases!(in_region!(region_with_bells, Coherent, true));
