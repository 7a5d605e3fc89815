//! Parameters of hosts with the project's own links, and of their network.

use hostwire_link::Config as LinkConfig;

use crate::engine::Ps;
use crate::models::ethernet::{HostConfig, SwitchConfig};

use super::parameter::{Kind, Origin, Parameter, number, time};

/// Everything that parameters change on an Ethernet.
#[derive(Clone, Debug)]
pub(super) struct EthernetModels {
    pub(super) link: LinkConfig,
    pub(super) port: HostConfig,
    pub(super) switch: SwitchConfig,
}

impl Default for EthernetModels {
    fn default() -> Self {
        // 10 Gb/s.
        let bytes_per_s = 1_250_000_000;
        EthernetModels {
            link: LinkConfig::default(),
            port: HostConfig {
                bytes_per_s,
                cable: Ps::from_ns(10),
            },
            switch: SwitchConfig {
                bytes_per_s,
                latency: Ps::from_ns(800),
                cuts_through: false,
                buffer_bytes: 1 << 20,
                lost_per_million: 0,
                doubled_per_million: 0,
                delayed_per_million: 0,
                delay: Ps::from_us(20),
                seed: 1,
            },
        }
    }
}

/// Longest time: a second.
const TIME_MAX: u64 = 1_000_000_000_000;

/// A time of the links, which count whole nanoseconds.
macro_rules! link_time {
    ($key:literal, $field:ident, $least:expr) => {
        Parameter {
            key: $key,
            kind: Kind::Time,
            least: $least,
            most: TIME_MAX,
            class: Origin::Assumed,
            read: |models| models.ethernet.link.$field.saturating_mul(1_000),
            write: |models, value| models.ethernet.link.$field = value / 1_000,
        }
    };
}

/// Of posted packets.
macro_rules! posted {
    ($key:literal, $field:ident) => {
        Parameter {
            key: $key,
            kind: Kind::Credits,
            least: 1,
            most: 32_767,
            class: Origin::Assumed,
            read: |models| u64::from(models.ethernet.link.$field[0]),
            write: |models, value| {
                models.ethernet.link.$field[0] = u16::try_from(value).unwrap_or(u16::MAX);
            },
        }
    };
}

macro_rules! per_million {
    ($key:literal, $field:ident) => {
        number!(Count, $key, ethernet.switch.$field, 0, 1_000_000, Assumed)
    };
}

pub(super) const ETHERNET: &[Parameter] = &[
    Parameter {
        key: "port",
        kind: Kind::Bandwidth,
        least: 1_000_000,
        most: 1_000_000_000_000,
        class: Origin::Assumed,
        read: |models| models.ethernet.port.bytes_per_s,
        write: |models, value| {
            models.ethernet.port.bytes_per_s = value;
            models.ethernet.switch.bytes_per_s = value;
        },
    },
    time!("cable", ethernet.port.cable, 0, TIME_MAX, Assumed),
    time!("switch", ethernet.switch.latency, 0, TIME_MAX, Assumed),
    number!(
        Bytes,
        "switch_buffer",
        ethernet.switch.buffer_bytes,
        0,
        1 << 40,
        Assumed
    ),
    per_million!("lost_per_million", lost_per_million),
    per_million!("doubled_per_million", doubled_per_million),
    per_million!("delayed_per_million", delayed_per_million),
    time!("delay", ethernet.switch.delay, 0, TIME_MAX, Assumed),
    number!(
        Count,
        "damage_seed",
        ethernet.switch.seed,
        0,
        i64::MAX as u64,
        Assumed
    ),
    number!(
        Bytes,
        "frame",
        ethernet.link.frame_len_max,
        hostwire_link::FRAME_LEN_MIN as u64,
        9_000,
        Assumed
    ),
    number!(
        Count,
        "frames_in_flight",
        ethernet.link.frames_in_flight_max,
        1,
        hostwire_link::FRAMES_IN_FLIGHT_MAX as u64,
        Assumed
    ),
    posted!("credits", buffers),
    posted!("credit_batch", credit_batch),
    link_time!("credit_delay", credit_delay_ns, 1_000),
    link_time!("ack_delay", ack_delay_ns, 1_000),
    number!(
        Count,
        "ack_frames",
        ethernet.link.ack_frames,
        1,
        1_024,
        Assumed
    ),
    link_time!("retry_first", rto_initial_ns, 1_000),
    link_time!("retry_min", rto_min_ns, 1_000),
];
