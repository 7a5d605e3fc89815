//! Parameters of links of today, whatever their kind.

use super::parameter::{Parameter, number, time};

/// Longest time: a second.
const TIME_MAX: u64 = 1_000_000_000_000;

pub(super) const LINKS: &[Parameter] = &[
    time!("cable", links.cable, 0, TIME_MAX, Assumed),
    time!("switch", links.switch, 0, TIME_MAX, Assumed),
    number!(Bytes, "buffer", links.buffer_bytes, 1, 1 << 30, Assumed),
    number!(
        Count,
        "link_frames",
        links.link_retry.places,
        1,
        1 << 14,
        Assumed
    ),
    time!(
        "link_timeout",
        links.link_retry.timeout,
        1_000,
        TIME_MAX,
        Assumed
    ),
    time!("control_wait", links.control_wait, 0, TIME_MAX, Assumed),
    number!(
        Count,
        "window",
        links.end_to_end.window,
        1,
        1 << 20,
        Assumed
    ),
    number!(
        Count,
        "ack_packets",
        links.end_to_end.ack_pieces,
        1,
        1 << 20,
        Assumed
    ),
    time!("ack_wait", links.end_to_end.ack_wait, 0, TIME_MAX, Assumed),
    time!(
        "retry_timeout",
        links.end_to_end.timeout,
        1_000,
        TIME_MAX,
        Assumed
    ),
    number!(
        Count,
        "lost_per_billion",
        links.lost_per_billion,
        0,
        100_000_000,
        Assumed
    ),
    number!(
        Count,
        "damage_seed",
        links.damage_seed,
        0,
        i64::MAX as u64,
        Assumed
    ),
];
