//! The time of the model, for a PE.

use core::time::Duration;

use super::desk::{Desk, Turn};
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
    /// That of a PE.
    pub fn new(desk: Desk) -> Self {
        Self(desk)
    }

    /// The time since the model began. The look itself takes time.
    pub fn now(&self) -> Duration {
        let spent_ps = self.0.spend_ps(LOOK_PS);
        time(self.0.clock_ps().saturating_add(spent_ps))
    }

    /// Lets time pass. Returns whether it has: not before the PE takes part, nor afterwards.
    ///
    /// Call it from the thread that uses the library, and not from inside of it.
    pub fn sleep(&self, time: Duration) -> bool {
        if !self.0.takes_part() {
            return false;
        }
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let words = Words {
            value: ns.saturating_mul(PS_PER_NS),
            ..Words::new(Kind::Nap)
        };
        self.0.set_request(words.to_words());
        self.0.hand_to(Turn::Model);
        while !self.0.wait_for(Turn::Pe, Duration::from_secs(1)) {}
        true
    }
}

/// As the model counts it.
pub(super) fn time(time_ps: u64) -> Duration {
    Duration::from_nanos(time_ps / PS_PER_NS)
}
