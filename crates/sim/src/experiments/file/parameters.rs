//! Parameters of the models that a file may set.

use hostwire_plan::file::{BANDWIDTH, Findings, Quantity, SIZE, Section, TIME, display_bytes};
use hostwire_plan::{Diagnostic, diagnostic::Located};
use serde::Serialize;

use crate::devices::link::{Buffers, Damage, LinkConfig};
use crate::devices::nic::NicConfig;
use crate::devices::opteron::{LINE_BYTES, OpteronConfig};
use crate::engine::Ps;
use crate::htea;

use super::htea_parameters::HTEA;
use super::memory_parameters::{MEMORY, MemoryModels};
use super::tca_parameters::{TCA, TcaModels};

/// What is modelled; each kind has its own parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Opterons and links of a planned cluster.
    Cluster,
    /// An HTX board in its host.
    Htx,
    /// A memory system.
    Memory,
    /// A TCA sub-cluster.
    Tca,
    /// Two PEACH2 boards in one host.
    TcaHost,
    /// Ethernet adapters.
    Htea,
}

/// Everything that parameters change.
#[derive(Clone, Debug)]
pub(super) struct Models {
    pub(super) processor: OpteronConfig,
    pub(super) link: LinkConfig,
    pub(super) nic: NicConfig,
    pub(super) memory: MemoryModels,
    pub(super) tca: TcaModels,
    pub(super) htea: htea::Config,
    damage_per_million: u32,
    damage_seed: u64,
}

/// Where a default comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Printed in the paper or in public documentation.
    Published,
    /// Follows from published numbers.
    Derived,
    /// Measured by others on the hardware.
    Measured,
    /// Set so that one published number comes out; it predicts nothing.
    Fitted,
    /// A guess.
    Assumed,
}

/// A parameter with the value of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParameterValue {
    /// Key in `[parameters]`.
    pub key: &'static str,
    /// Its value, with unit.
    pub value: String,
    /// The value without the file, with unit.
    pub default: String,
    /// Where the default comes from.
    pub class: Origin,
    /// The value is not the default.
    pub overridden: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Time,
    Bandwidth,
    Bytes,
    Count,
    /// Buffers that credits stand for.
    Credits,
}

impl Kind {
    fn quantity(self) -> Option<&'static Quantity> {
        match self {
            Kind::Time => Some(&TIME),
            Kind::Bandwidth => Some(&BANDWIDTH),
            Kind::Bytes => Some(&SIZE),
            Kind::Count | Kind::Credits => None,
        }
    }

    fn display(self, value: u64) -> String {
        match self {
            Kind::Time => decimal(value, 1_000, "ns"),
            Kind::Bandwidth => decimal(value / 1_000_000, 1_000, "GB/s"),
            Kind::Bytes => display_bytes(value),
            Kind::Count | Kind::Credits => value.to_string(),
        }
    }
}

/// Thousandths without trailing zeros.
fn decimal(value: u64, scale: u64, unit: &str) -> String {
    let fraction = format!("{:03}", value % scale);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}{unit}", value / scale)
}

pub(super) struct Parameter {
    pub(super) key: &'static str,
    pub(super) kind: Kind,
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) class: Origin,
    pub(super) read: fn(&Models) -> u64,
    pub(super) write: fn(&mut Models, u64),
}

/// Longest time a parameter can be: 10 us. The poll loop goes through every
/// nanosecond of it.
const TIME_MAX: u64 = 10_000_000;

macro_rules! time {
    ($key:ident, $least:expr, $class:ident) => {
        Parameter {
            key: stringify!($key),
            kind: Kind::Time,
            least: $least,
            most: TIME_MAX,
            class: Origin::$class,
            read: |models| models.processor.$key.0,
            write: |models, value| models.processor.$key = Ps(value),
        }
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

macro_rules! cycles {
    ($key:ident, $class:ident) => {
        Parameter {
            key: stringify!($key),
            kind: Kind::Count,
            least: 0,
            most: 10_000,
            class: Origin::$class,
            read: |models| models.nic.$key,
            write: |models, value| models.nic.$key = value,
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

const TRANSMIT_PLACES: Parameter = Parameter {
    key: "transmit_places",
    kind: Kind::Count,
    least: 1,
    most: 1_024,
    class: Origin::Assumed,
    read: |models| models.processor.port_depth as u64,
    write: |models, value| models.processor.port_depth = value as usize,
};

const POSTING: Parameter = Parameter {
    key: "posting",
    kind: Kind::Bytes,
    least: 64,
    most: 1 << 30,
    class: Origin::Fitted,
    read: |models| models.processor.posting_bytes as u64,
    write: |models, value| models.processor.posting_bytes = value as usize,
};

const WC_BUFFERS: Parameter = Parameter {
    key: "write_combining_buffers",
    kind: Kind::Count,
    least: 1,
    most: 64,
    class: Origin::Published,
    read: |models| models.processor.wc_buffers as u64,
    write: |models, value| models.processor.wc_buffers = value as usize,
};

const CLUSTER: &[Parameter] = &[
    WC_BUFFERS,
    POSTING,
    time!(store_line, 1, Fitted),
    time!(sfence, 0, Fitted),
    time!(out, 0, Fitted),
    time!(inbound, 0, Fitted),
    time!(hop, 0, Assumed),
    time!(memory_write, 0, Assumed),
    MEMORY_BANDWIDTH,
    time!(memory_read, 1_000, Measured),
    TRANSMIT_PLACES,
    credits!("posted_command_credits", command, 0),
    credits!("nonposted_command_credits", command, 1),
    credits!("response_command_credits", command, 2),
    credits!("posted_data_credits", data, 0),
    credits!("nonposted_data_credits", data, 1),
    credits!("response_data_credits", data, 2),
    Parameter {
        key: "retry_attempts_max",
        kind: Kind::Count,
        least: 0,
        most: 255,
        class: Origin::Published,
        read: |models| u64::from(models.link.retry_attempts_max),
        write: |models, value| {
            models.link.retry_attempts_max = u8::try_from(value).unwrap_or(u8::MAX);
        },
    },
    Parameter {
        key: "damaged_packets_per_million",
        kind: Kind::Count,
        least: 0,
        most: 1_000_000,
        class: Origin::Assumed,
        read: |models| u64::from(models.damage_per_million),
        write: |models, value| {
            models.damage_per_million = u32::try_from(value).unwrap_or(u32::MAX);
        },
    },
    Parameter {
        key: "damage_seed",
        kind: Kind::Count,
        least: 0,
        most: i64::MAX as u64,
        class: Origin::Assumed,
        read: |models| models.damage_seed,
        write: |models, value| models.damage_seed = value,
    },
];

const HTX: &[Parameter] = &[
    Parameter {
        class: Origin::Published,
        ..WC_BUFFERS
    },
    Parameter {
        class: Origin::Assumed,
        ..POSTING
    },
    time!(store_line, 1, Assumed),
    time!(sfence, 0, Assumed),
    time!(out, 0, Fitted),
    time!(inbound, 0, Fitted),
    time!(memory_write, 0, Assumed),
    Parameter {
        class: Origin::Assumed,
        ..MEMORY_BANDWIDTH
    },
    time!(memory_read, 1_000, Measured),
    time!(io_read, 0, Fitted),
    time!(io_read_first, 0, Fitted),
    TRANSMIT_PLACES,
    cycles!(core_in_cycles, Published),
    cycles!(core_out_cycles, Published),
    cycles!(read_cycles, Fitted),
    cycles!(requester_cycles, Assumed),
    cycles!(network_out_cycles, Assumed),
    cycles!(network_in_cycles, Assumed),
    cycles!(completer_cycles, Assumed),
    cycles!(crossbar_cycles, Published),
];

impl Models {
    fn new(family: Family) -> Models {
        Models {
            processor: match family {
                Family::Htx => OpteronConfig::opteron_246(),
                _ => OpteronConfig::shanghai(),
            },
            link: LinkConfig {
                buffers: [Buffers::FAM10H; 2],
                ..LinkConfig::default()
            },
            nic: NicConfig::htx_board(0),
            memory: MemoryModels::default(),
            tca: TcaModels::default(),
            htea: htea::Config::default(),
            damage_per_million: 0,
            damage_seed: 1,
        }
    }

    /// Whether links damage packets.
    pub(super) fn damages(&self) -> bool {
        self.damage_per_million > 0
    }

    /// Damage of the two directions of a link; links differ, equal seeds repeat.
    pub(super) fn damage(&self, wire: usize) -> [Damage; 2] {
        [0u64, 1].map(|direction| match self.damage_per_million {
            0 => Damage::Never,
            per_million => Damage::Random {
                per_million,
                seed: self
                    .damage_seed
                    .wrapping_add((wire as u64) << 1 | direction),
            },
        })
    }
}

/// Reads `[parameters]` for one kind of workload.
pub(super) fn read(
    section: Option<Section<'_>>,
    family: Family,
    out: &mut Findings,
) -> (Models, Vec<ParameterValue>) {
    let table = match family {
        Family::Cluster => CLUSTER,
        Family::Htx => HTX,
        Family::Memory => MEMORY,
        Family::Tca | Family::TcaHost => TCA,
        Family::Htea => HTEA,
    };
    let default = Models::new(family);
    let mut models = default.clone();
    if let Some(mut section) = section {
        for parameter in table {
            if let Some(value) = parameter.value(&mut section, out) {
                (parameter.write)(&mut models, value);
            }
        }
        section.finish(out);
    }
    let values = table.iter().map(|parameter| {
        let (value, usual) = ((parameter.read)(&models), (parameter.read)(&default));
        ParameterValue {
            key: parameter.key,
            value: parameter.kind.display(value),
            default: parameter.kind.display(usual),
            class: parameter.class,
            overridden: value != usual,
        }
    });
    let values = values.collect();
    (models, values)
}

impl Parameter {
    fn value(&self, section: &mut Section<'_>, out: &mut Findings) -> Option<u64> {
        let (least, most) = (self.least, self.most);
        let Some(quantity) = self.kind.quantity() else {
            let value = section.count(self.key, 0, most, out)?;
            if value.value < least {
                self.refuse(&value, out);
                return None;
            }
            return Some(value.value);
        };
        let value = section.quantity(self.key, quantity, out)?;
        if !(least..=most).contains(&value.value) {
            self.refuse(&value, out);
            return None;
        }
        Some(value.value)
    }

    fn refuse(&self, value: &Located<u64>, out: &mut Findings) {
        let [least, most] = [self.least, self.most].map(|bound| self.kind.display(bound));
        let refused = match self.kind {
            Kind::Credits => Diagnostic::error(
                "no-credit",
                format!("`{}` of 0 stops every packet of that channel", self.key),
            )
            .label(value.span, format!("expected {least} to {most}"))
            .note("a link sends a packet only into a buffer that the other end has announced"),
            _ => Diagnostic::error("value", format!("`{}` is out of range", self.key))
                .label(value.span, format!("expected {least} to {most}")),
        };
        out.push(refused.help(format!("use {least} to {most}")));
    }
}
