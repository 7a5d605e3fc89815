//! The suites for transports and for the API in virtual time: on booted boards, and on hosts with
//! PEACH2 chips.

use hostwire::AgentMode;
use hostwire::conformance::Setup;
use hostwire::settings::Devices;
use hostwire_sim::experiments::boards::Boards;
use hostwire_sim::experiments::sub_clusters::SubClusters;
use hostwire_sim::tca::{Config, Engine, Puts};
use hostwire_testing::or_long;
use hostwire_transport::conformance::Case as WireCase;
use hostwire_transport::conformance::Testbed;

/// A run is the same each time, so one number of PEs is enough. More numbers are tried in `make test-long`.
fn pes() -> &'static [u32] {
    or_long(&[3], &[1, 2, 3, 4])
}

/// For cases that move megabytes.
fn pes_of_long_cases() -> &'static [u32] {
    or_long(&[2], pes())
}

const LONG_CASES: &[&str] = &[
    "memory_is_zeroed_and_reused",
    "messages_between_all_kinds_of_memory",
    "messages_of_all_lengths",
    "order_is_kept_per_pair",
    "puts_and_gets_of_all_sizes",
];
/// No case needs so many; a job that polls for ever ends here.
const EVENTS_MAX: u64 = 500_000_000;
const BOARDS: Boards = Boards {
    events_max: EVENTS_MAX,
};

/// A PE on each host, with the usual parameters; and two on each, whose longer puts go by DMA.
fn sub_clusters() -> [SubClusters; 3] {
    let ring = |pes_per_node, dma_from_bytes, engine| SubClusters {
        pes_per_node,
        config: Config {
            puts: Puts {
                dma_from_bytes,
                engine,
            },
            ..Config::default()
        },
        events_max: EVENTS_MAX,
    };
    [
        SubClusters {
            events_max: EVENTS_MAX,
            ..SubClusters::default()
        },
        ring(2, 1000, Engine::Pipelined),
        ring(2, 0, Engine::TwoPhase),
    ]
}

mod wire {
    use super::*;

    fn run(name: &str) {
        let cases: &[WireCase] = hostwire_transport::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        for &pes in pes() {
            (case.run)(&BOARDS, pes);
        }
        for ring in sub_clusters() {
            for &pes in pes() {
                (case.run)(&ring, pes);
            }
        }
    }

    hostwire_transport::transport_cases!(cases!());
}

mod api {
    use super::*;

    fn run(name: &str) {
        let cases = hostwire::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let pes = match LONG_CASES.contains(&name) {
            true => pes_of_long_cases(),
            false => pes(),
        };
        // The ring with both kinds of puts and two PEs on each host; the wire has its own suite on all.
        let rings = sub_clusters();
        let rings = rings[1..].iter().chain(&rings[..1]);
        let rings = rings.map(|ring| ring as &dyn Testbed).take(or_long(1, 3));
        for fabric in [&BOARDS as &dyn Testbed].into_iter().chain(rings) {
            for &pes in pes {
                (case.run)(&Setup::new(fabric, pes, AgentMode::Polled));
            }
        }
    }

    hostwire::conformance_cases!(cases!());

    /// Chains by the controllers of chips, and copies by puts.
    #[test]
    fn chains_are_copies_in_order() {
        let rings = sub_clusters();
        let rings = rings.iter().map(|ring| ring as &dyn Testbed);
        for fabric in [&BOARDS as &dyn Testbed].into_iter().chain(rings) {
            for pes in [2, 3] {
                let setup = Setup::new(fabric, pes, AgentMode::Polled);
                hostwire::conformance::random_copies(&setup, Devices::None, 10_016);
            }
        }
    }
}
