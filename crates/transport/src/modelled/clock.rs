//! The time of the model, for a PE.

use core::time::Duration;

use crate::error::TransportError;
use crate::os;

use super::desk::{Desk, Part, Turn};
use super::request::{Kind, Words};

/// The moment when the time of a model begins, in seconds since 1970: 2000-01-01 00:00 UTC.
/// A fixed one, so that every run sees the same dates.
pub const EPOCH_S: u64 = 946_684_800;

/// What a look at the clock takes. Without it a program that waits for a time by looking at the
/// clock would wait for ever. Assumed: a `clock_gettime` without a system call on processors of
/// today takes 20 to 30 ns.
const LOOK_PS: u64 = 25_000;

const PS_PER_NS: u64 = 1_000;

/// How a process sees the time of the model, and waits for it: for code that has no attachment,
/// such as a library that stands before the C library's clocks.
#[derive(Debug, Clone)]
pub struct Clock(Desk);

impl Clock {
    /// That of this process, if it is a PE whose hardware is a model. The descriptors stay open for
    /// programs that this process turns into.
    ///
    /// # Errors
    /// As [`inherited`](super::inherited).
    pub fn inherited() -> Result<Option<Self>, TransportError> {
        let Some((desk, _)) = super::numbers()? else {
            return Ok(None);
        };
        let file = os::process::duplicate(desk).map_err(|cause| {
            TransportError::environment("finding the clock of the simulator", cause)
        })?;
        Ok(Some(Self(Desk::map(&file)?)))
    }

    /// The time since the model began. The look itself takes time while the PE takes part in the
    /// run, and afterwards. Before, how often it looks depends on the host.
    pub fn now(&self) -> Duration {
        let spent_ps = match self.0.part() {
            Part::Before => self.0.spent_ps(),
            Part::During | Part::After => self.0.spend_ps(LOOK_PS),
        };
        time(self.0.clock_ps().saturating_add(spent_ps))
    }

    /// Lets time pass, for the thread that uses the job, outside of calls of the library. Returns
    /// whether it has.
    pub fn sleep(&self, time: Duration) -> bool {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let time_ps = ns.saturating_mul(PS_PER_NS);
        match self.0.part() {
            // Nobody else sees it.
            Part::Before | Part::After => {
                self.0.spend_ps(time_ps);
                true
            }
            Part::During if self.0.thread() == Some(os::process::thread()) => {
                self.rest(time_ps);
                true
            }
            Part::During => false,
        }
    }

    fn rest(&self, time_ps: u64) {
        let words = Words {
            value: time_ps,
            ..Words::new(Kind::Nap)
        };
        self.0.set_request(words.to_words());
        self.0.hand_to(Turn::Model);
        while !self.0.wait_for(Turn::Pe, Duration::from_secs(1)) {}
    }
}

/// As the model counts it.
pub(super) fn time(time_ps: u64) -> Duration {
    Duration::from_nanos(time_ps / PS_PER_NS)
}
