//! Checks of what comes from outside, one per fuzz target: each takes any bytes and must
//! return without a panic. `qa/fuzzing` runs them.

mod agent;
mod job;
mod records;
mod settings;
mod stores;

use hostwire_transport::fuzzing::kit::Target;

/// Every check of this crate.
pub const TARGETS: &[Target] = &[
    agent::ASK,
    agent::SERVE,
    job::JOB,
    records::ANNOUNCEMENT,
    records::BOARD,
    records::COUNTERS,
    settings::SETTINGS,
    crate::tca::fuzzing::TARGET,
];
