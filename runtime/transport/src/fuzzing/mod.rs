//! Checks of what comes from outside, one per fuzz target: each takes any bytes and must
//! return without a panic. `qa/fuzzing` runs them.

mod handover;
pub mod kit;
mod netlink;
mod ring;
mod ring_send;
mod text;
pub mod wire;

use kit::Target;

/// Every check of this crate.
pub const TARGETS: &[Target] = &[
    handover::FILES,
    handover::GATHERING,
    netlink::ANSWER,
    ring::RECEIVE,
    ring_send::SEND,
    text::FAULTS,
    text::TICKET,
];
