//! The suite of the transports over the toy wire.

mod wire;

use hostwire_transport::conformance::{CASES, Fabric, Program, run_on_threads};

/// PEs are threads of this process.
struct Toys {
    seed: u64,
    offloads: bool,
}

impl Fabric for Toys {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let wires = wire::connect(pes, segment_bytes, self.seed, self.offloads);
        run_on_threads(wires.expect("making the wire"), program);
    }
}

macro_rules! over {
    (; $($case:ident,)*) => {
        $(#[test]
        fn $case() {
            let case = CASES.iter().find(|case| case.name == stringify!($case)).unwrap();
            for (seed, pes) in (1..).zip([1, 2, 3, 4]) {
                for offloads in [false, true] {
                    (case.run)(&Toys { seed, offloads }, pes);
                }
            }
        })*
    };
}

hostwire_transport::transport_cases!(over!());
