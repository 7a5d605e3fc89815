//! Experiments as files: a cluster, a workload, parameters of the models, and a
//! sweep over one key.
//!
//! [`read`] turns the bytes of a file into an [`Experiment`] or into diagnostics
//! that point into it; [`Experiment::run`] gives an [`Outcome`]. The format is
//! described in `docs/experiments.md`. Nothing here reads files or prints.
//!
//! ```
//! use hostwire_sim::experiments::file::{Monitor, read};
//! let text = r#"
//! cluster = "two-boards.toml"
//! [workload]
//! kind = "ping-pong"
//! from = "left"
//! to = "right"
//! size = "56B"
//! "#;
//! let cluster = include_bytes!("../../../clusters/two-boards.toml");
//! let experiment = read("ping.toml", text.as_bytes(), &|_| Ok(cluster.to_vec()))?;
//! let outcome = experiment.run(&Monitor::default(), None)?;
//! assert_eq!(outcome.results[0].metrics[0].name, "half_round_trip");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod below_parameters;
mod calls;
mod cluster_parameters;
mod configuration;
mod ethernet;
mod ethernet_parameters;
mod hardware;
mod hashed;
mod htea;
mod htea_parameters;
mod htx;
mod links;
mod links_parameters;
mod load;
mod memory;
mod memory_parameters;
mod memory_workload;
mod outcome;
mod parameter;
mod parameters;
mod points;
mod program;
mod range;
mod read;
mod read_htea;
mod read_load;
mod read_memory;
mod read_remote;
mod read_tca;
mod read_workload;
mod remote;
mod run;
mod sweep;
mod tca;
mod tca_parameters;
mod workload;

pub use configuration::{
    AdapterFigures, BoardsFigures, CableFigures, ClusterFigures, Configuration, DeviceFigures,
    NodeFigures,
};
pub use hardware::{Built, Hardware, Place, read_hardware};
pub use memory_workload::{MemoryFigures, RegionFigures};
pub use outcome::{Metric, Outcome, RegionUse, RunFigures, RunResult};
pub use parameter::{Origin, ParameterValue};
pub use program::{Program, ProgramRan};
pub use range::{RangeError, SweepRange};
pub use read::{BETWEEN_SWEEPS, BadExperiment, FILE_BYTES_MAX, Load, read, read_swept};
pub use workload::{HtxLink, Workload};

pub use super::jobs::Order;
pub use super::load::{Bucket, FlowUse};
pub use super::monitor::Monitor;

use hostwire_plan::{Cluster, Plan};

use crate::wire::CallCosts;

use parameters::Models;

/// Opens a trace by the path in the experiment.
pub type Open<'o> = &'o dyn Fn(&str) -> std::io::Result<Box<dyn std::io::BufRead>>;

/// Runs a program on the hardware of the point at this place; a text says what went wrong.
pub type Launch<'o> = &'o dyn Fn(usize, &Program) -> Result<ProgramRan, String>;

/// What an experiment needs of its surroundings.
#[derive(Clone, Copy)]
pub struct Surroundings<'o> {
    /// For traces.
    pub open: Open<'o>,
    /// For programs.
    pub launch: Launch<'o>,
}

impl<'o> Surroundings<'o> {
    /// Those that run no programs.
    pub fn opening(open: Open<'o>) -> Self {
        Self {
            open,
            launch: &|_, program| Err(format!("nobody runs {}", program.program.join(" "))),
        }
    }
}

/// An experiment that was read and checked: one point, or one per value of its
/// sweep.
#[derive(Clone, Debug)]
pub struct Experiment {
    title: String,
    sweep: Option<String>,
    points: Vec<Point>,
}

/// One run of an experiment.
#[derive(Clone, Debug)]
struct Point {
    /// Its place among the points that were read.
    place: usize,
    /// The swept value, as written.
    label: Option<String>,
    cluster: Option<Cluster>,
    workload: Workload,
    models: Models,
    events_max: u64,
    calls: CallCosts,
    configuration: Configuration,
}

impl Point {
    /// The plan of its cluster, if that has an address map.
    fn plan(&self) -> Option<&Plan> {
        self.cluster.as_ref().and_then(Cluster::plan)
    }
}

impl Experiment {
    /// What the file calls it.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The key that is swept, if any.
    pub fn sweep(&self) -> Option<&str> {
        self.sweep.as_deref()
    }

    /// Whether there are links that a recording could watch.
    pub fn has_links(&self) -> bool {
        self.points.iter().any(|point| point.workload.has_links())
    }

    /// Whether there are events that a recording could have.
    pub fn has_events(&self) -> bool {
        self.points.iter().any(|point| point.workload.has_events())
    }

    /// Whether a program is run, as a process of its own.
    pub fn runs_program(&self) -> bool {
        let mut points = self.points.iter();
        points.any(|point| matches!(point.workload, Workload::Program(_)))
    }

    /// The hardware of a point that runs a program; `None` for others.
    pub fn hardware(&self, place: usize) -> Option<Hardware> {
        let point = self.points.get(place)?;
        match (&point.workload, &point.cluster) {
            (Workload::Program(_), Some(cluster)) => Some(Hardware::new(
                cluster.clone(),
                point.models.clone(),
                point.calls,
            )),
            _ => None,
        }
    }

    /// Number of runs.
    pub fn points(&self) -> usize {
        self.points.len()
    }
}
