//! The suite of the transports over the toy wire, plain and with faults.

mod wire;

use std::sync::Arc;

use hostwire_transport::Wire;
use hostwire_transport::conformance::{CASES, Program, Testbed, Wrapping, run_on_threads};
use hostwire_transport::faults::Faulty;

/// PEs are threads of this process.
struct Toys {
    seed: u64,
    offloads: bool,
}

impl Testbed for Toys {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let wires = wire::connect(pes, segment_bytes, self.seed, self.offloads);
        run_on_threads(wires.expect("making the wire"), program);
    }
}

/// With faults that no program may see.
fn faulty(wire: Arc<dyn Wire>) -> Arc<dyn Wire> {
    let faults = "reorder=0.3,dup=0.3,seed=1".parse().unwrap();
    Arc::new(Faulty::new(wire, faults).unwrap())
}

fn run(name: &str, is_faulty: bool) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    for (seed, pes) in (1..).zip([1, 2, 3, 4]) {
        for offloads in [false, true] {
            let toys = Toys { seed, offloads };
            let wrapping = Wrapping {
                fabric: &toys,
                wrap: &faulty,
            };
            let fabric: &dyn Testbed = if is_faulty { &wrapping } else { &toys };
            (case.run)(fabric, pes);
        }
    }
}

macro_rules! over {
    ($wire:ident, $is_faulty:literal; $($case:ident,)*) => {
        mod $wire {
            $(#[test]
            fn $case() {
                super::run(stringify!($case), $is_faulty);
            })*
        }
    };
}

hostwire_transport::transport_cases!(over!(as_it_is, false));
hostwire_transport::transport_cases!(over!(faulty, true));
