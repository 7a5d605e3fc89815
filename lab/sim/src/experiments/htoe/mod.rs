//! Experiments of the HyperTransport over Ethernet paper: nodes that send a database to the
//! accelerator of one of them.

mod bottlenecks;
mod claims;

use serde::Serialize;

use crate::engine::Ps;
use crate::models::htea::fast::{Config, HteaError, PAYLOAD_BYTES, Report, Timing, run};

pub use bottlenecks::{Bottleneck, bottlenecks, bottlenecks_of};
pub use claims::{claims, reproduce};

/// The paper's measurements of a query on a C2070 GPU, for 10^9 bytes of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Query {
    /// As in TPC-H.
    pub name: &'static str,
    /// Transfer over PCI Express.
    pub transfer_s: f64,
    /// Computation.
    pub compute_s: f64,
}

/// TPC-H query 1.
pub const Q1: Query = Query {
    name: "Q1",
    transfer_s: 0.175_347,
    compute_s: 0.002_844,
};
/// TPC-H query 21.
pub const Q21: Query = Query {
    name: "Q21",
    transfer_s: 0.331_495,
    compute_s: 0.069_619,
};

/// Bits that the paper takes for 1 GB, in units of 10^6.
const QUERY_MEGABITS: f64 = 8_000.0;

impl Query {
    /// A time for all of the data as a rate, the way the paper prints it: 1 GB are 8000 Mb,
    /// and 1 Gb is 1024 Mb.
    pub fn printed_gb_s(seconds: f64) -> f64 {
        QUERY_MEGABITS / 1024.0 / seconds
    }

    /// The same, with 1 Gb of 10^9 bits.
    pub fn decimal_gb_s(seconds: f64) -> f64 {
        QUERY_MEGABITS / 1000.0 / seconds
    }
}

/// The rate of the way from the adapter to the accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transfer {
    /// As much as HyperTransport brings.
    Unlimited,
    /// The time of PCI Express for the data of query 1.
    Q1,
    /// The time for those of query 21.
    Q21,
}

impl Transfer {
    /// With their names in files.
    pub const ALL: [(&'static str, Transfer); 3] = [
        ("unlimited", Transfer::Unlimited),
        ("q1", Transfer::Q1),
        ("q21", Transfer::Q21),
    ];

    /// How long a packet takes.
    pub fn packet(self) -> Ps {
        let of = |query: Query| {
            let packets = 1e9 / PAYLOAD_BYTES as f64;
            Ps((query.transfer_s * 1e12 / packets).round() as u64)
        };
        match self {
            Transfer::Unlimited => Ps::ZERO,
            Transfer::Q1 => of(Q1),
            Transfer::Q21 => of(Q21),
        }
    }
}

/// The paper's optimisations: parallel stages and ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimised {
    /// One of each.
    Nothing,
    /// Four for de-encapsulation.
    Incoming,
    /// Four for encapsulation.
    Outgoing,
    /// Four of each.
    Both,
}

impl Optimised {
    /// With their names in reports.
    pub const ALL: [(&'static str, Optimised); 4] = [
        ("none", Optimised::Nothing),
        ("outgoing", Optimised::Outgoing),
        ("incoming", Optimised::Incoming),
        ("both", Optimised::Both),
    ];

    /// A run of the paper's 1 GB with these stages.
    pub fn config(self, nodes: u64, packets_per_frame: u64, nops_per_frame: u64) -> Config {
        let stages = |optimised| if optimised { 4 } else { 1 };
        Config {
            nodes,
            packets_per_frame,
            nops_per_frame,
            stages_in: stages(matches!(self, Self::Incoming | Self::Both)),
            stages_out: stages(matches!(self, Self::Outgoing | Self::Both)),
            ..Config::default()
        }
    }
}

/// Latency of one packet through two adapters and the switch: Table I.
///
/// # Errors
/// [`HteaError`] if the run does not come to its end.
pub fn one_packet() -> Result<Report, HteaError> {
    run(Config {
        nodes: 2,
        packets: 1,
        ..Config::default()
    })
}

/// The limit of the database's way to the query, from the paper's figure 3.
fn stage_gb_s(service: Ps, packets: u64) -> f64 {
    (packets * PAYLOAD_BYTES * 8) as f64 / service.as_ns()
}

/// The default timing, for what is computed from it.
const TIMING: Timing = Timing::PAPER;
