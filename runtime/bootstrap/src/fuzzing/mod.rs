//! Checks of what comes from outside, for `qa/fuzzing`.

mod environment;
mod nodes;
mod pmi;
mod slurm;
mod starter;

use hostwire_transport::fuzzing::kit::Target;

/// Every check of this crate.
pub const TARGETS: &[Target] = &[
    environment::VARIABLES,
    nodes::NODES,
    pmi::CLIENT,
    pmi::CLIENT2,
    pmi::LINE,
    pmi::MESSAGE,
    pmi::WORDS,
    slurm::EXCHANGE,
    slurm::FRAME,
    starter::ORDERS,
    starter::REPORTS,
];
