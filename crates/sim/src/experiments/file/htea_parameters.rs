//! Parameters of HyperTransport over Ethernet adapters.

use crate::engine::Ps;

use super::parameters::{Kind, Origin, Parameter};

/// A millisecond: no stage is slower.
const TIME_MAX: u64 = 1_000_000_000;

macro_rules! time {
    ($key:ident, $least:expr, $class:ident) => {
        Parameter {
            key: stringify!($key),
            kind: Kind::Time,
            least: $least,
            most: TIME_MAX,
            class: Origin::$class,
            read: |models| models.htea.timing.$key.0,
            write: |models, value| models.htea.timing.$key = Ps(value),
        }
    };
}

macro_rules! bytes {
    ($key:literal, $field:ident, $most:expr, $class:ident) => {
        Parameter {
            key: $key,
            kind: Kind::Bytes,
            least: 1,
            most: $most,
            class: Origin::$class,
            read: |models| models.htea.$field,
            write: |models, value| models.htea.$field = value,
        }
    };
}

/// For the study of lost frames.
macro_rules! count {
    ($key:ident, $least:expr) => {
        Parameter {
            key: stringify!($key),
            kind: Kind::Count,
            least: $least,
            most: 1 << 30,
            class: Origin::Assumed,
            read: |models| models.htea.$key,
            write: |models, value| models.htea.$key = value,
        }
    };
}

pub(super) const HTEA: &[Parameter] = &[
    time!(mapping, 0, Published),
    time!(encapsulation, 0, Published),
    time!(encapsulation_packet, 0, Assumed),
    time!(mac_out, 0, Published),
    time!(switch, 0, Published),
    time!(mac_in, 0, Published),
    time!(deencapsulation, 0, Published),
    time!(deencapsulation_packet, 0, Fitted),
    time!(nop, 0, Assumed),
    time!(queuing, 0, Published),
    time!(ht_packet, 1, Derived),
    Parameter {
        key: "port_gb_s",
        kind: Kind::Count,
        least: 1,
        most: 1_000,
        class: Origin::Published,
        read: |models| models.htea.timing.port_gb_s,
        write: |models, value| models.htea.timing.port_gb_s = value,
    },
    count!(incoming_frames, 0),
    count!(retry_frames, 1),
    Parameter {
        key: "retry_timeout",
        kind: Kind::Time,
        least: 1_000,
        most: TIME_MAX,
        class: Origin::Assumed,
        read: |models| models.htea.retry_timeout.0,
        write: |models, value| models.htea.retry_timeout = Ps(value),
    },
    bytes!("buffers_out", buffers_out_bytes, 1 << 40, Published),
    bytes!("buffers_in", buffers_in_bytes, 1 << 36, Published),
    bytes!("buffer", buffer_bytes, 1 << 20, Published),
];
