//! The timer that ends a wait of the agent.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

const NS_PER_S: u64 = 1_000_000_000;

/// A timer of the system on which the agent waits. Other threads may move it. So a thread that
/// stores need not wake the agent to tell it the time, and the system adds no timer slack.
#[derive(Debug, Clone)]
pub(super) struct Alarm {
    timer: Arc<OwnedFd>,
}

impl Alarm {
    pub(super) fn new() -> Result<Self, std::io::Error> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self {
            timer: Arc::new(timer),
        })
    }

    /// Goes off once, at this time of the monotonic clock, or at once if the time is over.
    pub(super) fn set(&self, at_ns: u64) {
        // 0 would disarm it.
        let at_ns = at_ns.max(1);
        let once = Itimerspec {
            it_interval: Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: Timespec {
                tv_sec: i64::try_from(at_ns / NS_PER_S).unwrap_or(i64::MAX),
                tv_nsec: (at_ns % NS_PER_S) as i64,
            },
        };
        // It fails for no valid time on such a timer.
        let set = rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once);
        debug_assert!(set.is_ok(), "{set:?}");
    }

    /// How long until it goes off; 0 if it has.
    #[cfg(test)]
    pub(super) fn remaining(&self) -> std::time::Duration {
        let left = rustix::time::timerfd_gettime(&self.timer).unwrap().it_value;
        std::time::Duration::new(left.tv_sec as u64, left.tv_nsec as u32)
    }

    /// Goes off at once.
    pub(super) fn ring(&self) {
        self.set(1);
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}
