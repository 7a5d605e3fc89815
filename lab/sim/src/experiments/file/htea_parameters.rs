//! Parameters of HyperTransport over Ethernet adapters.

use super::parameter::{Parameter, number, time};

/// A millisecond: no stage is slower.
const TIME_MAX: u64 = 1_000_000_000;

macro_rules! stage {
    ($key:ident, $least:expr, $class:ident) => {
        time!(stringify!($key), htea.timing.$key, $least, TIME_MAX, $class)
    };
}

macro_rules! bytes {
    ($key:literal, $field:ident, $most:expr) => {
        number!(Bytes, $key, htea.$field, 1, $most, Published)
    };
}

/// For the study of lost frames.
macro_rules! frames {
    ($key:ident, $least:expr) => {
        number!(Count, stringify!($key), htea.$key, $least, 1 << 30, Assumed)
    };
}

pub(super) const HTEA: &[Parameter] = &[
    stage!(mapping, 0, Published),
    stage!(encapsulation, 0, Published),
    stage!(encapsulation_packet, 0, Assumed),
    stage!(mac_out, 0, Published),
    stage!(switch, 0, Published),
    stage!(mac_in, 0, Published),
    stage!(deencapsulation, 0, Published),
    stage!(deencapsulation_packet, 0, Fitted),
    stage!(nop, 0, Assumed),
    stage!(queuing, 0, Published),
    stage!(ht_packet, 1, Derived),
    number!(
        Count,
        "port_gb_s",
        htea.timing.port_gb_s,
        1,
        1_000,
        Published
    ),
    frames!(incoming_frames, 0),
    frames!(retry_frames, 1),
    time!(
        "retry_timeout",
        htea.retry_timeout,
        1_000,
        TIME_MAX,
        Assumed
    ),
    bytes!("buffers_out", buffers_out_bytes, 1 << 40),
    bytes!("buffers_in", buffers_in_bytes, 1 << 36),
    bytes!("buffer", buffer_bytes, 1 << 20),
];
