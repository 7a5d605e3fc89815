//! Booted boards as a [`Testbed`], for the conformance suites.

use std::sync::Arc;

use hostwire_transport::Wire;
use hostwire_transport::conformance::{Program, Testbed};

use super::ExperimentError;
use super::curves::chain;
use super::tccluster::booted;
use crate::wire::{Settings, WireError, run};

/// A chain of single-socket boards with one link between neighbours, 16 bit at 800 MHz,
/// planned, built and booted anew for each run: one PE per board.
#[derive(Debug, Clone, Copy)]
pub struct Boards {
    /// Events after which a run is given up.
    pub events_max: u64,
}

impl Default for Boards {
    fn default() -> Self {
        Self {
            events_max: u64::MAX,
        }
    }
}

/// The reason why the boards did not run, or not to the end.
#[derive(Debug, thiserror::Error)]
enum BoardsError {
    #[error(transparent)]
    Boot(#[from] ExperimentError),
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl Boards {
    fn try_run(
        &self,
        pes: u32,
        segment_bytes: usize,
        program: &Program<'_>,
    ) -> Result<(), BoardsError> {
        let pes = pes as usize;
        let mut machine = booted(&chain(pes.max(2), 16, 800))?;
        let settings = Settings {
            events_max: self.events_max,
            ..Settings::new(pes, segment_bytes)
        };
        run(&mut machine, &settings, &|wire| {
            program(wire as Arc<dyn Wire>)
        })?;
        Ok(())
    }
}

impl Testbed for Boards {
    /// # Panics
    /// As every fabric; and if the job does not run to its end.
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        if let Err(error) = self.try_run(pes, segment_bytes, program) {
            panic!("{error}");
        }
    }
}
