//! The suite of the API between hosts, by UDP on the loopback interface.

use hostwire::AgentMode;
use hostwire::conformance::{CASES, Setup};
use hostwire_frames::{LocalOptions, LocalWire};
use hostwire_testing::or_long;
use hostwire_transport::conformance::{Program, Testbed, run_on_threads};

/// PEs are threads of this process, dealt out to hosts.
struct Hosts(u32);

impl Testbed for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let made = hostwire_frames::local(
            pes,
            self.0,
            segment_bytes,
            &LocalWire::Udp,
            &LocalOptions::default(),
        );
        let made = made.expect("making the wire").into_iter();
        run_on_threads(made.map(|pe| pe.wires).collect(), program);
    }
}

macro_rules! over {
    ($hosts:literal, $pes:expr; $($case:ident,)*) => {
        $(#[test]
        fn $case() {
            let case = CASES.iter().find(|case| case.name == stringify!($case)).unwrap();
            for &pes in $pes {
                (case.run)(&Setup::new(&Hosts($hosts), pes, AgentMode::Thread));
            }
        })*
    };
}

/// Two PEs on each of two hosts, or one on one of them.
mod mixed {
    use super::*;
    hostwire::conformance_cases!(over!(2, or_long(&[3][..], &[2, 3, 4])));
}
