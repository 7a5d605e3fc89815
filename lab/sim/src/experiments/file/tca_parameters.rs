//! Parameters of TCA sub-clusters.

use crate::experiments::tca_peach2::ThreeCopies;
use crate::models::link::Damage;
use crate::models::pcie::peach2::kib_at;
use crate::tca::{Config, Engine};

use hostwire_plan::Diagnostic;
use hostwire_plan::file::{Findings, Section, display_bytes, span_of};

use super::parameter::{Kind, Origin, Parameter, number, time};
use super::read_tca::ENGINES;

/// Everything that parameters change in a sub-cluster.
#[derive(Clone, Debug)]
pub(super) struct TcaModels {
    pub(super) config: Config,
    /// The way by InfiniBand, without its hosts and its grade.
    pub(super) copies: ThreeCopies,
    damaged_tlps: u32,
    damaged_dllps: u32,
    seed: u64,
}

impl Default for TcaModels {
    fn default() -> Self {
        TcaModels {
            config: Config::default(),
            copies: ThreeCopies::default(),
            damaged_tlps: 0,
            damaged_dllps: 0,
            seed: 1,
        }
    }
}

impl TcaModels {
    /// The parameters with their damage.
    pub(super) fn resolved(&self) -> Config {
        let mut config = self.config.clone();
        let damage = |per_million: u32, kind: u64| {
            [0u64, 1].map(|direction| match per_million {
                0 => Damage::Never,
                // Cables add even numbers; kinds of damage lie far apart.
                hits => Damage::Random {
                    hits,
                    of: 1_000_000,
                    seed: self.seed.wrapping_add(kind << 32 | direction),
                },
            })
        };
        config.link.tlp_damage = damage(self.damaged_tlps, 0);
        config.link.dllp_damage = damage(self.damaged_dllps, 1);
        config
    }
}

/// Bytes that a data credit stands for.
const CREDIT_BYTES: u64 = 16;
/// Longest time of a training or a partial reconfiguration: a second.
const SLOW_MAX: u64 = 1_000_000_000_000;
/// Longest time.
const TIME_MAX: u64 = 1_000_000_000;

macro_rules! delay {
    ($key:literal, $($field:ident).+, $least:expr, $class:ident) => {
        time!($key, tca.config.$($field).+, $least, TIME_MAX, $class)
    };
}

macro_rules! slow {
    ($key:literal, $($field:ident).+, $least:expr) => {
        time!($key, tca.config.$($field).+, $least, SLOW_MAX, Assumed)
    };
}

macro_rules! rate {
    ($key:literal, $($field:ident).+, $class:ident) => {
        Parameter {
            key: $key,
            kind: Kind::Bandwidth,
            least: 1_000_000,
            most: 1_000_000_000_000,
            class: Origin::$class,
            // A KiB takes whole picoseconds; megabytes per second are shown.
            read: |models| {
                let kib = models.tca.config.$($field).+.0.max(1);
                (1024 * 1_000_000_000_000 / kib + 500_000) / 1_000_000 * 1_000_000
            },
            write: |models, value| models.tca.config.$($field).+ = kib_at(value),
        }
    };
}

macro_rules! count {
    ($key:literal, $($field:ident).+, $least:expr, $most:expr, $class:ident) => {
        number!(Count, $key, tca.config.$($field).+, $least, $most, $class)
    };
}

macro_rules! block {
    ($key:literal, $($field:ident).+, $least:expr, $most:expr, $class:ident) => {
        number!(Block, $key, tca.config.$($field).+, $least, $most, $class)
    };
}

macro_rules! per_million {
    ($key:literal, $field:ident) => {
        number!(Count, $key, tca.$field, 0, 1_000_000, Assumed)
    };
}

pub(super) const TCA: &[Parameter] = &[
    delay!("host_out", host.out, 0, Assumed),
    delay!("host_inbound", host.inbound, 0, Assumed),
    delay!("host_poll", host.poll, 0, Assumed),
    delay!("host_read", host.read, 0, Assumed),
    delay!("interrupt", host.interrupt, 0, Fitted),
    delay!("completion_gap", host.completion_gap, 0, Assumed),
    rate!("gpu_read", host.gpu_read_kib, Fitted),
    rate!("qpi_write", host.qpi_write_kib, Assumed),
    rate!("qpi_read", host.qpi_read_kib, Assumed),
    count!("ingress_cycles", chip.ingress_cycles, 0, 10_000, Fitted),
    count!("egress_cycles", chip.egress_cycles, 0, 10_000, Fitted),
    delay!("host_hold", chip.host_hold, 0, Assumed),
    delay!("dma_gap", chip.dma_gap, 0, Fitted),
    count!("dma_places", chip.dma_places, 1, 1_024, Assumed),
    number!(
        Bytes,
        "dma_buffer",
        tca.config.chip.dma_buffer_bytes,
        4_096,
        1 << 20,
        Assumed
    ),
    count!("read_tags", chip.read_tags, 1, 200, Assumed),
    count!("table_reads", chip.table_reads, 1, 16, Assumed),
    number!(
        Rate,
        "link_rate",
        tca.config.link.speed.rate_mt_s,
        2_500,
        32_000,
        Published
    ),
    number!(
        Lanes,
        "link_lanes",
        tca.config.link.speed.lanes,
        1,
        16,
        Published
    ),
    block!("payload", chip.payload_bytes, 128, 4_096, Published),
    block!("read_request", chip.read_bytes, 128, 4_096, Assumed),
    block!("table_read", chip.table_read_bytes, 16, 4_096, Assumed),
    block!("completion", host.completion_bytes, 64, 4_096, Assumed),
    number!(
        Clock,
        "chip_clock",
        tca.config.chip.clock_mhz,
        1,
        10_000,
        Published
    ),
    number!(
        Block,
        "chip_bus",
        tca.config.chip.bus_bytes,
        4,
        256,
        Assumed
    ),
    number!(
        Bytes,
        "chip_memory",
        tca.config.chip.memory_bytes,
        1 << 20,
        1 << 40,
        Assumed
    ),
    slow!("training", link.training, 1),
    slow!("reconfiguration", chip.reconfiguration, 0),
    slow!("training_limit", chip.training_limit, 1),
    delay!("driver_poll", driver_poll, 100_000, Assumed),
    count!(
        "instruction_cycles",
        chip.instruction_cycles,
        1,
        10_000,
        Assumed
    ),
    count!("register_cycles", chip.register_cycles, 0, 10_000, Assumed),
    delay!("retraining", link.retrain, 0, Assumed),
    count!("retrainings_max", link.retrains_max, 0, 255, Assumed),
    delay!("cable", link.propagation, 0, Assumed),
    delay!("dllp_wait", link.dllp_wait, 0, Assumed),
    delay!("replay_timeout", link.replay_timeout, 100_000, Assumed),
    count!("replay_places", link.replay_places, 1, 2_047, Assumed),
    Parameter {
        key: "header_credits",
        kind: Kind::Credits,
        least: 1,
        most: 127,
        class: Origin::Assumed,
        read: |models| u64::from(models.tca.config.link.credits[0].header[0]),
        write: |models, value| {
            for credits in &mut models.tca.config.link.credits {
                credits.header = [u8::try_from(value).unwrap_or(127); 3];
            }
        },
    },
    Parameter {
        key: "data_credits",
        kind: Kind::Credits,
        // That it is enough for the payload is checked below.
        least: 1,
        most: 2_047,
        class: Origin::Assumed,
        read: |models| u64::from(models.tca.config.link.credits[0].data[0]),
        write: |models, value| {
            for credits in &mut models.tca.config.link.credits {
                credits.data = [u16::try_from(value).unwrap_or(2_047); 3];
            }
        },
    },
    per_million!("damaged_tlps_per_million", damaged_tlps),
    per_million!("damaged_dllps_per_million", damaged_dllps),
    number!(Count, "damage_seed", tca.seed, 0, i64::MAX as u64, Assumed),
];

/// Parameters of DMA controllers; newer than hashes of results.
pub(super) const TCA_LATER: &[Parameter] = &[count!(
    "descriptors_ahead",
    chip.descriptors_ahead,
    1,
    1_024,
    Assumed
)];

/// Parameters of [`TCA`], [`TCA_JOBS`] and [`TCA_LATER`] of chips below bridges, and of the links there: sockets stand in
/// the place of hosts, and drivers have been loaded.
pub(super) const PEACH2_BELOW: &[&str] = &[
    "ingress_cycles",
    "egress_cycles",
    "link_rate",
    "link_lanes",
    "chip_clock",
    "chip_bus",
    "retraining",
    "retrainings_max",
    "cable",
    "dllp_wait",
    "replay_timeout",
    "replay_places",
    "header_credits",
    "data_credits",
    "damaged_tlps_per_million",
    "damaged_dllps_per_million",
    "damage_seed",
    "dma_gap",
    "dma_places",
    "dma_buffer",
    "read_tags",
    "table_reads",
    "descriptors_ahead",
    "payload",
    "read_request",
    "table_read",
    "dma_from",
];

/// Parameters of programs on the hosts.
pub(super) const TCA_JOBS: &[Parameter] = &[
    count!(
        "write_buffers",
        host.processor.write_buffers,
        1,
        1_024,
        Published
    ),
    delay!("store_issue", host.processor.store_issue, 0, Derived),
    delay!("sfence", host.processor.fence, 0, Assumed),
    delay!("local_store", host.processor.local_store, 0, Assumed),
    rate!("local_bandwidth", host.processor.local_kib, Assumed),
    number!(
        Bytes,
        "dma_from",
        tca.config.puts.dma_from_bytes,
        0,
        1 << 40,
        Derived
    ),
    Parameter {
        key: "put_engine",
        kind: Kind::Engine,
        least: 0,
        most: 1,
        class: Origin::Published,
        read: |models| u64::from(models.tca.config.puts.engine == Engine::Pipelined),
        write: |models, value| {
            let (_, engine) = ENGINES[usize::from(value == 1)];
            models.tca.config.puts.engine = engine;
        },
    },
];

macro_rules! copies {
    ($kind:ident, $key:literal, $($field:ident).+, $least:expr, $most:expr, $class:ident) => {
        number!($kind, $key, tca.copies.$($field).+, $least, $most, $class)
    };
}

/// Parameters of the way by InfiniBand.
pub(super) const TCA_COPIES: &[Parameter] = &[
    copies!(
        Rate,
        "gpu_link_rate",
        gpu_link.rate_mt_s,
        2_500,
        32_000,
        Published
    ),
    copies!(Lanes, "gpu_link_lanes", gpu_link.lanes, 1, 16, Published),
    copies!(
        Rate,
        "adapter_link_rate",
        adapter_link.rate_mt_s,
        2_500,
        32_000,
        Published
    ),
    copies!(
        Lanes,
        "adapter_link_lanes",
        adapter_link.lanes,
        1,
        16,
        Published
    ),
    copies!(
        Block,
        "engine_payload",
        mover.payload_bytes,
        128,
        4_096,
        Assumed
    ),
    copies!(
        Block,
        "engine_read_request",
        mover.read_bytes,
        128,
        4_096,
        Assumed
    ),
    copies!(Count, "engine_read_tags", mover.read_tags, 1, 200, Assumed),
    copies!(Count, "engine_places", mover.places, 1, 1_024, Assumed),
    copies!(Bytes, "network_packet", packet_bytes, 64, 1 << 20, Assumed),
    copies!(
        Bytes,
        "network_overhead",
        overhead_bytes,
        0,
        1 << 12,
        Published
    ),
    time!("network_latency", tca.copies.latency, 0, TIME_MAX, Assumed),
    time!("copy_call", tca.copies.copy_call, 0, TIME_MAX, Fitted),
    time!("mpi", tca.copies.mpi, 0, TIME_MAX, Assumed),
];

/// Whether the receive buffers take the largest TLP of a GPU or an InfiniBand adapter.
pub(super) fn check_copies(models: &TcaModels, section: &Section<'_>, out: &mut Findings) {
    check_credits(models, models.copies.mover.payload_bytes, section, out);
}

/// Whether the receive buffers take the largest TLP of a sub-cluster.
pub(super) fn check(models: &TcaModels, section: &Section<'_>, out: &mut Findings) {
    let config = &models.config;
    let largest = config.chip.payload_bytes.max(config.host.completion_bytes);
    check_credits(models, largest, section, out);
}

/// Whether the receive buffers take TLPs of so many bytes.
pub(super) fn check_credits(
    models: &TcaModels,
    largest: u64,
    section: &Section<'_>,
    out: &mut Findings,
) {
    let units = models.config.link.credits[0].data[0];
    let room = u64::from(units) * CREDIT_BYTES;
    if largest <= room {
        return;
    }
    let keys = ["data_credits", "payload", "completion", "engine_payload"];
    let named = keys.into_iter().find_map(|wanted| {
        let mut entries = section.entries();
        entries.find(|(key, _)| key.value == wanted)
    });
    let place = named.map_or(section.span(), |(_, value)| span_of(value));
    let tlps = display_bytes(largest);
    out.push(
        Diagnostic::error(
            "no-credit",
            format!("`data_credits` of {units} keeps TLPs of {tlps} waiting for ever"),
        )
        .label(place, format!("there is room for {}", display_bytes(room)))
        .note("a link sends a TLP only into buffers that the other end has announced")
        .help(format!("use at least {}", largest.div_ceil(CREDIT_BYTES))),
    );
}
