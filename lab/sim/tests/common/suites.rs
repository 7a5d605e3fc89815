//! The suites for transports and for the API, on clusters of a test.

use hostwire::AgentMode;
use hostwire::conformance::Setup;
use hostwire_testing::or_long;
use hostwire_transport::conformance::{CASES, Testbed};

/// Makes modules `wire` and `api` with a test for each case: on all of `$clusters`, and on those with so many PEs in
/// `$api`, an array. Without that on all with two, and with three in `make test-long`.
macro_rules! suites {
    ($clusters:expr) => {
        suites!(
            $clusters,
            $clusters.map(|cluster| (cluster, hostwire_testing::or_long(2, 3)))
        );
    };
    ($clusters:expr, $api:expr) => {
        mod wire {
            use super::*;

            fn run(name: &str) {
                $crate::common::suites::wire(name, &$clusters);
            }

            hostwire_transport::transport_cases!(cases!());
        }

        mod api {
            use super::*;

            fn run(name: &str) {
                $crate::common::suites::api(name, &$api);
            }

            hostwire::conformance_cases!(cases!());
        }
    };
}

pub fn wire(name: &str, clusters: &[impl Testbed]) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    for cluster in clusters {
        for &pes in or_long(&[3][..], &[2, 3]) {
            (case.run)(cluster, pes);
        }
    }
}

pub fn api(name: &str, clusters: &[(impl Testbed, u32)]) {
    let mut cases = hostwire::conformance::CASES.iter();
    let case = cases.find(|case| case.name == name).unwrap();
    // The clusters differ only in the wire, which has its own suite on all of them.
    for (cluster, pes) in &clusters[..or_long(1, clusters.len())] {
        (case.run)(&Setup::new(cluster, *pes, AgentMode::Polled));
    }
}
