//! The suites for transports and for the API, on booted boards in virtual time.

use hostwire::AgentMode;
use hostwire::conformance::Setup;
use hostwire_sim::experiments::boards::Boards;
use hostwire_transport::conformance::Case as WireCase;

/// Alone, a pair, odd, even. Without optimisation more would take minutes.
const PES: &[u32] = match cfg!(debug_assertions) {
    true => &[1, 2, 3],
    false => &[1, 2, 3, 4],
};
/// For cases that move megabytes.
const PES_OF_LONG_CASES: &[u32] = match cfg!(debug_assertions) {
    true => &[2],
    false => PES,
};
const LONG_CASES: &[&str] = &[
    "memory_is_zeroed_and_reused",
    "messages_between_all_kinds_of_memory",
    "messages_of_all_lengths",
    "order_is_kept_per_pair",
    "puts_and_gets_of_all_sizes",
];
/// No case needs so many; a job that polls for ever ends here.
const BOARDS: Boards = Boards {
    events_max: 500_000_000,
};

mod wire {
    use super::*;

    fn run(name: &str) {
        let cases: &[WireCase] = hostwire_transport::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        for &pes in PES {
            (case.run)(&BOARDS, pes);
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
    hostwire_transport::transport_cases!(cases!());
}

mod api {
    use super::*;

    fn run(name: &str) {
        let cases = hostwire::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let pes = match LONG_CASES.contains(&name) {
            true => PES_OF_LONG_CASES,
            false => PES,
        };
        for &pes in pes {
            (case.run)(&Setup::new(&BOARDS, pes, AgentMode::Polled));
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
}
