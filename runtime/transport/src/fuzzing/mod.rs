//! Checks of what comes from outside, one per fuzz target: any bytes go in, and it comes back
//! in order. For `qa/fuzzing`, which runs them.

mod control;
mod frame;
mod handover;
pub mod kit;
mod queue;
mod region;
mod ring;
mod station;
mod stream;
mod text;
pub mod wire;

use kit::Target;

/// Every check of this crate.
pub const TARGETS: &[Target] = &[
    control::GREETING,
    frame::APPLY,
    frame::NETLINK,
    frame::PLACE,
    frame::RUNS,
    handover::FILES,
    handover::GATHERING,
    queue::QUEUE,
    region::LINES,
    region::TICKET,
    ring::RECEIVE,
    ring::SEND,
    station::CALL,
    stream::FRAMES,
    text::ADDRESS,
    text::FAULTS,
    text::ROUTES,
    text::TICKET,
];
