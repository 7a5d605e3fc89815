//! The suites for transports and for the API, on booted boards in virtual time.

use hostwire::AgentMode;
use hostwire::conformance::{CASES, Setup};
use hostwire_sim::wire::Boards;

/// Alone, a pair, odd, even.
const PES: [u32; 4] = [1, 2, 3, 4];
/// No case needs that many; a job that polls for ever ends there.
const EVENTS_MAX: u64 = 500_000_000;

fn run(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let boards = Boards {
        events_max: EVENTS_MAX,
    };
    for pes in PES {
        (case.run)(&Setup::new(&boards, pes, AgentMode::Polled));
    }
}

macro_rules! cases {
    (; $($case:ident,)*) => {
        $(#[test]
        fn $case() {
            run(stringify!($case));
        })*
    };
}

hostwire::conformance_cases!(cases!());
