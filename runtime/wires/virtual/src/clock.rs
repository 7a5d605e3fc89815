//! The time of the model, for a PE.

use core::time::Duration;

use hostwire_transport::error::TransportError;
use hostwire_transport::os;

use super::computing;
use super::desk::{Desk, Part, Turn};
use super::request::{Kind, Words};

/// The moment when the time of a model begins, in seconds since 1970: 2000-01-01 00:00 UTC.
/// A fixed one, so that every run sees the same dates.
pub const EPOCH_S: u64 = 946_684_800;

/// The virtual time of a reading of the clock. Without it a program that polls the clock would wait for
/// ever. Assumed: a `clock_gettime` without a system call takes 20 to 30 ns on present processors.
const LOOK_PS: u64 = 25_000;

const PS_PER_NS: u64 = 1_000;

/// The role of a thread in the time of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A thread of a PE that does not take part, not yet or no longer.
    Alone,
    /// The thread that uses the job.
    User,
    /// Another thread of the same PE.
    Beside,
}

/// How a process reads the time of the model, and waits in it. For code without an attachment, such as a
/// library that replaces the C library's clocks.
#[derive(Debug, Clone)]
pub struct Clock(Desk);

impl Clock {
    /// The clock of this process, if it is a PE whose hardware is a model. The descriptors stay open for
    /// programs that this process executes.
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

    /// Bytes that the modelled hardware has for the segment of this PE, if the launcher has said so.
    pub fn room_bytes(&self) -> Option<u64> {
        self.0.room_bytes()
    }

    /// The role of the calling thread.
    pub fn who(&self) -> Who {
        match self.0.part() {
            Part::Before | Part::After => Who::Alone,
            Part::During if computing::is_user(&self.0) => Who::User,
            Part::During => Who::Beside,
        }
    }

    /// The time since the model began. Where computing takes time, it includes what the thread that uses
    /// the job had computed at its own last look.
    pub fn time(&self) -> Duration {
        self.catch_up();
        time(self.0.time_ps())
    }

    /// Where computing takes time: lets the time pass that this thread has computed, and returns it. Zero
    /// if it is not the thread that uses the job.
    pub fn catch_up(&self) -> Duration {
        time(computing::count(&self.0))
    }

    /// The time since the model began. The reading itself takes time in the thread that uses the job, and
    /// in all threads after the job. Before the job, and in other threads, it takes none, because the
    /// number of readings there depends on the host.
    pub fn now(&self) -> Duration {
        match (self.0.part(), self.who()) {
            (Part::Before, _) | (_, Who::Beside) => {}
            (Part::During | Part::After, _) => drop(self.0.spend_ps(LOOK_PS)),
        }
        self.time()
    }

    /// The virtual time of [`now`](Self::now).
    pub const fn look() -> Duration {
        Duration::from_nanos(LOOK_PS / PS_PER_NS)
    }

    /// Lets time pass: for the thread that uses the job, outside of calls of the library, and for all
    /// threads before and after the job. Returns whether it did.
    pub fn sleep(&self, time: Duration) -> bool {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let time_ps = ns.saturating_mul(PS_PER_NS);
        match self.who() {
            // No other PE sees it.
            Who::Alone => {
                self.0.spend_ps(time_ps);
                true
            }
            Who::User => {
                self.rest(time_ps);
                true
            }
            Who::Beside => false,
        }
    }

    /// For another thread: whether the thread that uses the job sleeps while the PE has the turn. Then it
    /// waits for something outside of the model, such as the end of a thread.
    pub fn user_is_asleep(&self) -> bool {
        let thread = self.0.thread();
        self.0.is_turn_of(Turn::Pe) && thread.is_some_and(os::process::is_asleep)
    }

    /// Lets time pass to this moment, for another thread while the thread that uses the job sleeps.
    pub fn pass_until(&self, moment: Duration) {
        let left = moment.saturating_sub(self.time());
        let ns = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
        self.0.spend_ps(ns.saturating_mul(PS_PER_NS));
    }

    fn rest(&self, time_ps: u64) {
        self.catch_up();
        let words = Words {
            value: time_ps,
            ..Words::new(Kind::Nap)
        };
        self.0.set_request(words.to_words());
        self.0.hand_to(Turn::Model);
        while !self.0.wait_for(Turn::Pe, Duration::from_secs(1)) {}
        computing::begin(&self.0);
    }
}

/// The time in the model's units.
pub(super) fn time(time_ps: u64) -> Duration {
    Duration::from_nanos(time_ps / PS_PER_NS)
}
