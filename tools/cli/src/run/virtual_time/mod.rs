//! `--cluster`: the hardware of the job is a model, and its time is that of the model.
//!
//! The models come from outside ([`Models`]): the program `hostwire-lab`, which has this command, too, brings them.
//!
//! | file | |
//! |---|---|
//! | [`options`] | the command line |
//! | [`clocks`] | what a program is given instead of the clocks of the machine |
//! | [`simulator`], [`taps`] | the thread that simulates, what it reports, and the outputs that it reads |
//! | this one | the connection from a PE to the simulator, and what a simulator has to be |

mod clocks;
mod options;
mod simulator;
mod taps;

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

pub use clocks::{Clocks, is_dynamic};
pub use hostwire_virtual::Seat;
use hostwire_virtual::VARIABLE;
pub use options::{Compute, Options};
pub use simulator::{Launcher, Report, Simulator};

use super::mark::Mark;
use super::start_error::StartError;

/// Reads cluster files and simulates the hardware that they describe.
pub trait Models {
    /// The hardware of the file `cluster` with the other `options`, for so many PEs, each with a heap of `heap_bytes` if the
    /// launcher was told.
    ///
    /// # Errors
    /// [`StartError::Cluster`] or [`StartError::Place`].
    fn hardware(
        &self,
        cluster: &Path,
        options: &Options,
        pes: u32,
        heap_bytes: Option<usize>,
    ) -> Result<Box<dyn Hardware>, StartError>;
}

/// Modelled hardware that a job can run on.
pub trait Hardware: Send {
    /// Bytes that it has for the segment of each PE, at least.
    fn room_bytes(&self) -> u64;

    /// Simulates the PEs at `seats`, in their order, to their end, and returns what there is to say of the run.
    /// Looks often whether the launcher wants it to [end](Launcher::stops).
    ///
    /// # Errors
    /// Why the run cannot go on.
    fn run(&mut self, seats: Vec<Seat>, launcher: &Launcher) -> Result<Vec<String>, String>;
}

/// A job in virtual time, before it starts.
pub struct VirtualTime {
    /// The hardware.
    pub hardware: Box<dyn Hardware>,
    /// How long computing takes.
    pub compute: Compute,
    /// Whether lines of output begin with their time.
    pub stamps: bool,
}

/// The connection from a PE to the simulator.
pub struct Line {
    /// The PE's ends, to be inherited.
    pub there: [Arc<OwnedFd>; 2],
    /// The simulator's end.
    pub seat: Seat,
}

impl Line {
    /// The connection of a PE that is about to be started: its number, of how many, and the mark of their job.
    pub fn new(time: &VirtualTime, pe: (u32, u32), mark: &Mark) -> Result<Self, StartError> {
        let (seat, there) = Seat::new().map_err(|cause| StartError::Cluster(cause.to_string()))?;
        seat.assign(pe, mark.number());
        seat.set_room(time.hardware.room_bytes());
        if let Compute::Measured { ns_per_s } = time.compute {
            seat.measure_computing(ns_per_s);
        }
        let there = there.map(Arc::new);
        Ok(Self { there, seat })
    }

    /// The variable that names the PE's ends.
    pub fn variable(&self) -> (&'static str, String) {
        let [desk, socket] = &self.there;
        (
            VARIABLE,
            format!("{},{}", desk.as_raw_fd(), socket.as_raw_fd()),
        )
    }
}
