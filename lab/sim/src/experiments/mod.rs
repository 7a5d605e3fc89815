//! The numbers of the papers, out of simulated events.
//!
//! Published values, tolerances and classes are in `experiments/*/claims.toml`;
//! the functions here run machines and measure. [`Row`] is one line of a result.
//!
//! ```no_run
//! let rows = hostwire_sim::experiments::htx_board::reproduce()?;
//! assert!(rows.iter().all(|row| !row.verdict.is_failure()));
//! # Ok::<(), hostwire_sim::experiments::ExperimentError>(())
//! ```

#[cfg(test)]
mod assumptions;
pub mod boards;
mod claims;
pub mod curves;
pub mod elsewhere;
mod ethernet;
pub mod file;
pub mod htoe;
pub mod htx_board;
mod htx_host;
pub mod htx_ping_pong;
pub mod htx_rtl;
pub mod jobs;
pub mod link_use;
mod links;
mod load;
mod monitor;
pub mod pgas_cluster;
mod programs;
pub mod remote;
mod stream;
pub mod sub_clusters;
pub mod tca_peach2;
pub mod tccluster;
pub mod traffic;

pub use claims::{Assumed, Bound, Claim, Claims, Class, ClassCount, Row, Source, Summary, Verdict};
pub use monitor::Monitor;

use crate::engine::{Ps, RunError};
use crate::firmware::BootError;
use crate::machine::BuildError;

/// Where experiments write in a node's memory.
pub(crate) const MEMORY_OFFSET: u64 = 0x10_0000;

/// Why an experiment gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The file of published values is wrong.
    #[error("claims of {paper}: {message}")]
    Claims {
        /// Which paper.
        paper: String,
        /// What is wrong.
        message: String,
    },
    /// The cluster cannot be planned.
    #[error("{0}")]
    Plan(String),
    /// The plan cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The cluster does not boot.
    #[error(transparent)]
    Boot(#[from] Box<BootError>),
    /// The run did not end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A program got an error.
    #[error(transparent)]
    Program(#[from] hostwire::Error),
    /// A job of programs did not run to its end.
    #[error(transparent)]
    Wire(#[from] crate::wire::WireError),
    /// A memory system cannot be built, or did not come to its end.
    #[error(transparent)]
    Memory(#[from] crate::models::memory::MemoryError),
    /// Adapters cannot be built, or did not come to their end.
    #[error(transparent)]
    Htea(#[from] crate::models::htea::fast::HteaError),
    /// A trace of memory accesses or messages cannot be read.
    #[error("{file}: {message}")]
    Trace {
        /// As the experiment names it.
        file: String,
        /// Where and what.
        message: String,
    },
    /// Links over Ethernet did not carry what they had to.
    #[error("{0}")]
    Ethernet(String),
    /// A program that was started did not come to its end.
    #[error("{0}")]
    Started(String),
    /// Links of today did not carry what they had to.
    #[error("{0}")]
    Links(String),
    /// A sub-cluster of PEACH2 chips cannot be built.
    #[error(transparent)]
    SubCluster(#[from] crate::tca::BuildError),
    /// A call of the TCA programming interface failed.
    #[error(transparent)]
    Tca(#[from] crate::tca::TcaError),
    /// A board that is RTL cannot be had, or has failed.
    #[error(transparent)]
    Board(#[from] crate::machine::htx::BoardError),
    /// The run could not be recorded.
    #[error(transparent)]
    Record(#[from] crate::record::RecordError),
    /// Somebody ended the run.
    #[error("interrupted at {time} after {events} events")]
    Cancelled {
        /// Events handled.
        events: u64,
        /// Simulated time reached.
        time: Ps,
    },
    /// The run ended without a measurement.
    #[error("{0}: nothing was measured")]
    NoMeasurement(&'static str),
}

/// Bytes per second to MiB per second.
pub(crate) fn mib_per_s(bytes: u64, time: Ps) -> f64 {
    bytes as f64 / time.as_s() / f64::from(1 << 20)
}

/// Bytes per second to 10^6 bytes per second.
pub(crate) fn mb_per_s(bytes: u64, time: Ps) -> f64 {
    bytes as f64 / time.as_s() / 1e6
}
