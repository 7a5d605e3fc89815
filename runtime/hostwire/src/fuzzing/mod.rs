//! Checks of what comes from outside, one per fuzz target: any bytes go in, and it comes back
//! in order. For `qa/fuzzing`, which runs them.

mod agent;
mod environment;
mod hosts;
mod job;
mod pmi;
mod records;
mod slurm;
mod stores;

use hostwire_transport::fuzzing::kit::Target;

/// Every check of this crate.
pub const TARGETS: &[Target] = &[
    agent::ASK,
    agent::SERVE,
    environment::SETTINGS,
    environment::VARIABLES,
    hosts::CARD,
    hosts::NODES,
    job::JOB,
    pmi::CLIENT,
    pmi::CLIENT2,
    pmi::LINE,
    pmi::MESSAGE,
    pmi::WORDS,
    records::ANNOUNCEMENT,
    records::BOARD,
    records::COUNTERS,
    slurm::EXCHANGE,
    slurm::FRAME,
    crate::tca::fuzzing::TARGET,
];
