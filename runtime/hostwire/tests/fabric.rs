//! The suite of the API over libfabric: PEs of one process, dealt out to hosts.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

use hostwire::AgentMode;
use hostwire::conformance::{CASES, Setup};
use hostwire_testing::{left_out, need, or_long};
use hostwire_transport::conformance::{Program, Testbed, run_on_threads};

const PROVIDER: &str = "tcp;ofi_rxm";
/// PEs and hosts.
const SHAPES: [(u32, u32); 2] = [(3, 2), (2, 2)];

/// So many hosts.
struct Hosts(u32);

impl Testbed for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let choice = PROVIDER.parse().unwrap();
        let made = hostwire_fabric::local(pes, self.0, segment_bytes, &choice);
        run_on_threads(made.expect("making the wire"), program);
    }
}

fn run(name: &str) {
    let offers = match hostwire_fabric::offers() {
        Ok((_, offers)) => offers,
        Err(error) => return left_out(&need::LIBFABRIC, error),
    };
    if !offers.iter().any(|offer| offer.provider == PROVIDER) {
        return left_out(&need::LIBFABRIC_PROVIDER, PROVIDER);
    }
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    for (pes, hosts) in &SHAPES[..or_long(1, 2)] {
        (case.run)(&Setup::new(&Hosts(*hosts), *pes, AgentMode::Thread));
    }
}

macro_rules! cases {
    (; $($case:ident,)*) => { $(
        #[test]
        fn $case() {
            run(stringify!($case));
        }
    )* };
}

hostwire::conformance_cases!(cases!());
