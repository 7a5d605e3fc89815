//! The cost of a run.

use std::fmt;
use std::time::Duration;

use super::hash::EventHash;
use super::time::Ps;

/// Figures of one run. `wall` differs from run to run; all other values are the same
/// for the same input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Events handled since the simulation was made.
    pub events: u64,
    /// Simulated time at the end.
    pub virtual_time: Ps,
    /// Real time spent in runs, with what programs on the modelled processors compute.
    pub wall: Duration,
    /// Hash over all events.
    pub hash: EventHash,
}

impl Summary {
    /// Events per second of real time.
    pub fn events_per_s(&self) -> f64 {
        self.events as f64 / self.wall.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Simulated seconds per real second.
    pub fn virtual_over_wall(&self) -> f64 {
        self.virtual_time.as_s() / self.wall.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} events in {:.3} s ({:.1} M events/s), {} simulated ({:.2e} of real time), hash {}",
            self.events,
            self.wall.as_secs_f64(),
            self.events_per_s() / 1e6,
            self.virtual_time,
            self.virtual_over_wall(),
            self.hash,
        )
    }
}
