//! Rings of hosts with PEACH2 chips as a [`Testbed`], for the conformance suites.

use std::sync::Arc;

use hostwire_plan::Rejected;
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Program, Testbed};

use crate::tca::{BuildError, Config, SubCluster};
use crate::wire::{Settings, WireError, run};

/// Rings of hosts, built anew for each run.
#[derive(Debug, Clone)]
pub struct SubClusters {
    /// PEs on each host.
    pub pes_per_node: usize,
    /// Parameters of the hosts, chips and links.
    pub config: Config,
    /// Events after which a run is given up.
    pub events_max: u64,
}

impl Default for SubClusters {
    fn default() -> Self {
        Self {
            pes_per_node: 1,
            config: Config::default(),
            events_max: u64::MAX,
        }
    }
}

/// The reason why a ring did not run, or not to the end.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// No such ring can be planned.
    #[error(transparent)]
    Plan(#[from] Rejected),
    /// It cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The job did not run to its end.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl SubClusters {
    /// A ring with room for so many PEs, and the nodes of the PEs.
    ///
    /// # Errors
    /// [`RingError::Plan`] or [`RingError::Build`].
    pub fn ring(&self, pes: usize) -> Result<(SubCluster<'static>, Vec<usize>), RingError> {
        let per_node = self.pes_per_node.max(1);
        let nodes = pes.div_ceil(per_node).max(2);
        let file = format!(
            "fabric = \"peach2\"\n[topology]\nkind = \"ring\"\nnodes = {nodes}\n\
             [topology.node]\nmemory = \"8GiB\"\n"
        );
        let plan = hostwire_plan::plan("ring", file.as_bytes())?;
        let cluster = SubCluster::new(&plan, &self.config)?;
        Ok((cluster, (0..pes).map(|pe| pe / per_node).collect()))
    }

    fn try_run(
        &self,
        pes: u32,
        segment_bytes: usize,
        program: &Program<'_>,
    ) -> Result<(), RingError> {
        let (mut cluster, nodes) = self.ring(pes as usize)?;
        let settings = Settings {
            sockets: nodes,
            events_max: self.events_max,
            ..Settings::new(0, segment_bytes)
        };
        run(&mut cluster, &settings, &|wire| {
            program(wire as Arc<dyn Wire>)
        })?;
        Ok(())
    }
}

impl Testbed for SubClusters {
    /// # Panics
    /// As every fabric; and if the job does not run to its end.
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        if let Err(error) = self.try_run(pes, segment_bytes, program) {
            panic!("{error}");
        }
    }
}
