//! Parameters of clusters of Opterons and of HTX boards.

use crate::engine::Ps;
use crate::models::ht::cable::TRACE_INCHES_MAX;
use crate::models::ht::opteron::LINE_BYTES;

use super::parameter::{Kind, Origin, Parameter, number, time};
use super::tca_parameters::TCA_LATER;

/// Longest time a parameter can be: 10 us. The poll loop goes through every
/// nanosecond of it.
const TIME_MAX: u64 = 10_000_000;
/// Longest time of an inch: 1 ns.
const INCH_MAX: u64 = 1_000;
/// Longest trace, as the planner has it.
const TRACE_UM_MAX: u64 = TRACE_INCHES_MAX as u64 * 25_400;
/// Longest cable: 100 m.
const LENGTH_UM_MAX: u64 = 100_000_000;
/// Longest training of memory: 1 s.
const MEMORY_INIT_MAX: u64 = 1_000_000_000_000;

/// A time of the processor.
macro_rules! processor {
    ($key:ident, $least:expr, $class:ident) => {
        time!(stringify!($key), processor.$key, $least, TIME_MAX, $class)
    };
}

macro_rules! credits {
    ($key:literal, $part:ident, $channel:literal) => {
        Parameter {
            key: $key,
            kind: Kind::Credits,
            least: 1,
            most: 255,
            class: Origin::Assumed,
            read: |models| u64::from(models.link.buffers[0].$part[$channel]),
            write: |models, value| {
                for buffers in &mut models.link.buffers {
                    buffers.$part[$channel] = u8::try_from(value).unwrap_or(u8::MAX);
                }
            },
        }
    };
}

/// Receive buffers of one kind: `buffers!("key", Assumed, |models| models.inner.data[0])`. Those of several
/// channels are all set.
macro_rules! buffers {
    ($key:literal, $class:ident, |$models:ident| $first:expr $(, $more:expr)*) => {
        Parameter {
            key: $key,
            kind: Kind::Credits,
            least: 1,
            most: 255,
            class: Origin::$class,
            read: |$models| u64::from($first),
            write: |$models, value| {
                let value = u8::try_from(value).unwrap_or(u8::MAX);
                $first = value;
                $($more = value;)*
            },
        }
    };
}

/// Clock cycles of the board.
macro_rules! cycles {
    ($key:ident, $class:ident) => {
        number!(Count, stringify!($key), nic.$key, 0, 10_000, $class)
    };
}

/// A parameter of all link ports of boards and switches.
macro_rules! port {
    ($kind:ident, $key:literal, $field:ident, $least:expr, $most:expr) => {
        Parameter {
            key: $key,
            kind: Kind::$kind,
            least: $least,
            most: $most,
            class: Origin::Assumed,
            read: |models| {
                let port = models.nic.ports.first();
                port.map_or(0, |port| port.$field as u64)
            },
            write: |models, value| {
                for port in &mut models.nic.ports {
                    port.$field = value as _;
                }
            },
        }
    };
}

const MEMORY_BANDWIDTH: Parameter = Parameter {
    key: "memory_bandwidth",
    kind: Kind::Bandwidth,
    least: 100_000_000,
    most: 1_000_000_000_000,
    class: Origin::Derived,
    // A line takes whole picoseconds.
    read: |models| LINE_BYTES * 1_000_000_000_000 / models.processor.memory_line.0.max(1),
    write: |models, value| {
        models.processor.memory_line = Ps(LINE_BYTES * 1_000_000_000_000 / value.max(1));
    },
};

const TRANSMIT_PLACES: Parameter = number!(
    Count,
    "transmit_places",
    processor.port_depth,
    1,
    1_024,
    Assumed
);

const POSTING: Parameter = number!(
    Bytes,
    "posting",
    processor.posting_bytes,
    64,
    1 << 30,
    Fitted
);

const WC_BUFFERS: Parameter = number!(
    Count,
    "write_combining_buffers",
    processor.wc_buffers,
    1,
    64,
    Published
);

pub(super) const CLUSTER: &[Parameter] = &[
    WC_BUFFERS,
    POSTING,
    processor!(store_line, 1, Fitted),
    processor!(send_work, 0, Fitted),
    processor!(sfence, 0, Fitted),
    processor!(out, 0, Fitted),
    processor!(inbound, 0, Fitted),
    processor!(hop, 0, Assumed),
    processor!(memory_write, 0, Assumed),
    MEMORY_BANDWIDTH,
    processor!(memory_read, 1_000, Measured),
    TRANSMIT_PLACES,
    credits!("posted_command_credits", command, 0),
    credits!("nonposted_command_credits", command, 1),
    credits!("response_command_credits", command, 2),
    credits!("posted_data_credits", data, 0),
    credits!("nonposted_data_credits", data, 1),
    credits!("response_data_credits", data, 2),
    number!(
        Count,
        "retry_attempts_max",
        link.retry_attempts_max,
        0,
        255,
        Published
    ),
    number!(
        Count,
        "damaged_packets_per_million",
        damage_per_million,
        0,
        1_000_000,
        Assumed
    ),
    number!(
        Count,
        "damage_seed",
        damage_seed,
        0,
        i64::MAX as u64,
        Assumed
    ),
];

pub(super) const HTX: &[Parameter] = &[
    Parameter {
        class: Origin::Published,
        ..WC_BUFFERS
    },
    Parameter {
        class: Origin::Assumed,
        ..POSTING
    },
    processor!(store_line, 1, Assumed),
    processor!(sfence, 0, Assumed),
    processor!(out, 0, Fitted),
    processor!(inbound, 0, Fitted),
    processor!(memory_write, 0, Assumed),
    Parameter {
        class: Origin::Assumed,
        ..MEMORY_BANDWIDTH
    },
    processor!(memory_read, 1_000, Measured),
    processor!(io_read, 0, Fitted),
    processor!(io_read_first, 0, Fitted),
    TRANSMIT_PLACES,
    cycles!(core_in_cycles, Published),
    cycles!(core_out_cycles, Published),
    cycles!(read_cycles, Fitted),
    cycles!(requester_cycles, Assumed),
    cycles!(network_out_cycles, Assumed),
    cycles!(network_in_cycles, Assumed),
    cycles!(completer_cycles, Assumed),
    number!(
        Count,
        "receive_messages",
        nic.receive_messages_max,
        1,
        1_024,
        Assumed
    ),
    port!(Bytes, "frame_overhead", overhead_bytes, 0, 1_024),
    port!(Count, "frames_in_flight", frames_in_flight_max, 1, 32_767),
    port!(Count, "port_messages", messages_max, 1, 65_536),
    Parameter {
        key: "serdes",
        kind: Kind::Time,
        least: 0,
        // Far below the least timeout of a frame.
        most: 1_000_000,
        class: Origin::Assumed,
        read: |models| models.nic.ports.first().map_or(0, |port| port.serdes.0),
        write: |models, value| {
            for port in &mut models.nic.ports {
                port.serdes = Ps(value);
            }
        },
    },
    Parameter {
        key: "frame_timeout",
        kind: Kind::Time,
        // A full frame there and an acknowledgement back, and more.
        least: 2_000_000,
        most: 1_000_000_000,
        class: Origin::Assumed,
        read: |models| models.nic.ports.first().map_or(0, |port| port.timeout.0),
        write: |models, value| {
            for port in &mut models.nic.ports {
                port.timeout = Ps(value);
            }
        },
    },
];

/// The paper's board had none.
pub(super) const HTX_CROSSBAR: &[Parameter] = &[cycles!(crossbar_cycles, Published)];

/// Parameters of boards with more than one cable, and of the switches between them.
pub(super) const BOARDS_NETWORK: &[Parameter] = &[
    cycles!(crossbar_cycles, Assumed),
    number!(
        Count,
        "switch_cycles",
        switch.crossbar_cycles,
        0,
        10_000,
        Assumed
    ),
    number!(
        Count,
        "switch_messages",
        switch.input_messages_max,
        1,
        1_024,
        Assumed
    ),
];

/// Parameters of programs on hosts with boards.
pub(super) const HTX_JOBS: &[Parameter] = &[processor!(send_work, 0, Assumed)];

/// Parameters of [`HTX`] of a board that is a window below a socket: the socket's are those of the
/// cluster, and no board answers reads.
pub(super) const HTX_BELOW: &[&str] = &[
    "core_in_cycles",
    "core_out_cycles",
    "requester_cycles",
    "network_out_cycles",
    "network_in_cycles",
    "completer_cycles",
    "receive_messages",
    "frame_overhead",
    "frames_in_flight",
    "port_messages",
    "serdes",
    "frame_timeout",
];

/// Parameters of cables of HyperTransport and of HTX boards.
pub(super) const WIRING: &[Parameter] = &[
    time!("phys", wiring.phys, 0, TIME_MAX, Assumed),
    time!("cable_inch", wiring.cable_inch, 0, INCH_MAX, Published),
    number!(
        Length,
        "cable_length",
        wiring.cable_um,
        0,
        LENGTH_UM_MAX,
        Assumed
    ),
];

/// Parameters of traces between processors, southbridges and adapters.
pub(super) const TRACES: &[Parameter] = &[
    time!("trace_inch", wiring.trace_inch, 0, INCH_MAX, Published),
    number!(
        Length,
        "trace_length",
        wiring.trace_um,
        0,
        TRACE_UM_MAX,
        Assumed
    ),
];

/// Parameters of the firmware.
pub(super) const BOOT: &[Parameter] = &[
    time!("rom_access", boot.rom_access, 0, TIME_MAX, Assumed),
    time!("memory_access", boot.memory_access, 0, TIME_MAX, Assumed),
    time!("memory_init", boot.memory_init, 0, MEMORY_INIT_MAX, Assumed),
];

/// Parameters of a board in the slot of a host.
pub(super) const HTX_HOST: &[Parameter] = &[
    time!("slot", nic.slot, 0, TIME_MAX, Assumed),
    number!(Bytes, "status", nic.status_bytes, 8, 64, Assumed),
];

/// Most owed buffers of a channel that a NOP announces: its fields have two bits.
const NOP_CREDITS_MAX: u64 = 3;

/// Parameters of loads of a processor.
pub(super) const LOADS: &[Parameter] = &[
    number!(
        Count,
        "load_issue_per_mille",
        processor.load_issue_per_mille,
        0,
        10_000,
        Assumed
    ),
    number!(
        Count,
        "memory_sample_per_mille",
        processor.memory_sample_per_mille,
        0,
        1_000,
        Assumed
    ),
];

/// Parameters of all links of a cluster, and of its links that are no cables.
pub(super) const LINKS_OF_CLUSTERS: &[Parameter] = &[
    number!(
        Count,
        "nop_credits",
        link.nop_credits,
        1,
        NOP_CREDITS_MAX,
        Assumed
    ),
    buffers!("inner_posted_command_credits", Assumed, |models| models
        .inner
        .command[0]),
    buffers!("inner_nonposted_command_credits", Assumed, |models| models
        .inner
        .command[1]),
    buffers!("inner_response_command_credits", Assumed, |models| models
        .inner
        .command[2]),
    buffers!("inner_posted_data_credits", Assumed, |models| models
        .inner
        .data[0]),
    buffers!("inner_nonposted_data_credits", Assumed, |models| models
        .inner
        .data[1]),
    buffers!("inner_response_data_credits", Assumed, |models| models
        .inner
        .data[2]),
    buffers!(
        "adapter_command_credits",
        Assumed,
        |models| models.adapter.command[0],
        models.adapter.command[1],
        models.adapter.command[2]
    ),
    buffers!(
        "adapter_data_credits",
        Assumed,
        |models| models.adapter.data[0],
        models.adapter.data[1],
        models.adapter.data[2]
    ),
];

/// Parameters of the HT-Core of a board, and of its link.
pub(super) const HT_CORE: &[Parameter] = &[
    buffers!("core_command_credits", Published, |models| models
        .nic
        .core_command_credits),
    buffers!("core_data_credits", Published, |models| models
        .nic
        .core_data_credits),
    number!(Count, "core_places", nic.core_places, 1, 1_024, Published),
    number!(
        Count,
        "nop_credits",
        nic.nop_credits,
        1,
        NOP_CREDITS_MAX,
        Assumed
    ),
];

/// Those of [`HT_CORE`] that a board below a socket has.
pub(super) const HT_CORE_BELOW: &[&str] =
    &["core_command_credits", "core_data_credits", "core_places"];

/// Keys that are newer than hashes of results. They are part of the hash of a configuration only if they are not the
/// default, so that older results keep their hashes.
pub(super) const LATER: &[&[Parameter]] = &[
    WIRING,
    TRACES,
    BOOT,
    HTX_HOST,
    LOADS,
    LINKS_OF_CLUSTERS,
    HT_CORE,
    TCA_LATER,
];

/// Parameters of boards that reach memory of other hosts.
pub(super) const REMOTE: &[Parameter] = &[
    number!(
        Count,
        "source_tags",
        processor.source_tags,
        1,
        32,
        Published
    ),
    number!(Count, "read_tags", nic.read_tags, 1, 32, Published),
];
