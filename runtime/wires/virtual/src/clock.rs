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

/// What a look at the clock takes. Without it a program that waits for a time by looking at the
/// clock would wait for ever. Assumed: a `clock_gettime` without a system call on processors of
/// today takes 20 to 30 ns.
const LOOK_PS: u64 = 25_000;

const PS_PER_NS: u64 = 1_000;

/// A thread, as the time of the model is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// One of a PE that does not take part, not yet or no longer.
    Alone,
    /// The one that uses the job.
    User,
    /// Another one of the same PE.
    Beside,
}

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

    /// Who asks for the time, or waits for it.
    pub fn who(&self) -> Who {
        match self.0.part() {
            Part::Before | Part::After => Who::Alone,
            Part::During if computing::is_user(&self.0) => Who::User,
            Part::During => Who::Beside,
        }
    }

    /// The time since the model began, as it is. What the thread that uses the job has computed is a part
    /// of it, where that takes time, as of its own last look.
    pub fn time(&self) -> Duration {
        self.catch_up();
        time(self.0.time_ps())
    }

    /// Where computing takes time: lets pass what this thread has computed, and says how much that is.
    /// Nothing if it is not the one that uses the job.
    pub fn catch_up(&self) -> Duration {
        time(computing::count(&self.0))
    }

    /// The time since the model began, for a look that itself takes time: that of the thread that uses
    /// the job, and all looks after the job. Before it, how often a PE looks depends on the host, and
    /// so it does in other threads.
    pub fn now(&self) -> Duration {
        match (self.0.part(), self.who()) {
            (Part::Before, _) | (_, Who::Beside) => {}
            (Part::During | Part::After, _) => drop(self.0.spend_ps(LOOK_PS)),
        }
        self.time()
    }

    /// What a [look](Self::now) takes.
    pub const fn look() -> Duration {
        Duration::from_nanos(LOOK_PS / PS_PER_NS)
    }

    /// Lets time pass, for the thread that uses the job, outside of calls of the library, and before
    /// and after the job for all. Returns whether it has.
    pub fn sleep(&self, time: Duration) -> bool {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let time_ps = ns.saturating_mul(PS_PER_NS);
        match self.who() {
            // Nobody else sees it.
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

    /// For another thread: whether the one that uses the job sleeps while the PE has the turn. It then
    /// waits for something that is not of the model, such as the end of a thread.
    pub fn user_is_asleep(&self) -> bool {
        let thread = self.0.thread();
        self.0.is_turn_of(Turn::Pe) && thread.is_some_and(os::process::is_asleep)
    }

    /// Lets time pass to this moment, for another thread while the one that uses the job sleeps.
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

/// As the model counts it.
pub(super) fn time(time_ps: u64) -> Duration {
    Duration::from_nanos(time_ps / PS_PER_NS)
}
