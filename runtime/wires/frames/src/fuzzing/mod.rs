//! Checks of what comes from outside, for `qa/fuzzing`.

mod card;
mod control;
mod frame;
mod queue;
mod stream;
mod text;

use hostwire_transport::fuzzing::kit::Target;

/// Every check of this crate.
pub const TARGETS: &[Target] = &[
    card::CARD,
    control::GREETING,
    frame::APPLY,
    frame::PLACE,
    frame::RUNS,
    queue::QUEUE,
    stream::FRAMES,
    text::ADDRESS,
    text::ROUTES,
];
