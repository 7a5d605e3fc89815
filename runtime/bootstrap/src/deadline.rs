//! The deadline for waits for the launcher and for other processes.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::variables::ATTACH_TIMEOUT;

/// One moment for all waits of a process that joins a job. Every wait uses it, so that together
/// they never last longer than the user has set.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// As [`real_now`] counts.
    at: Duration,
    patience: Duration,
}

/// The time of this machine since it was started. Not [`Instant`]: in a process whose hardware is a
/// model, that is the time of the model, and each reading takes virtual time.
fn real_now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    let (secs, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Duration::new(secs.unwrap_or(0), nanos.unwrap_or(0))
}

impl Deadline {
    /// So much time from now.
    pub fn after(patience: Duration) -> Self {
        Self {
            at: real_now().saturating_add(patience),
            patience,
        }
    }

    /// The same time again, from now: for other waits than joining.
    pub fn renewed(self) -> Self {
        Self::after(self.patience)
    }

    /// The moment.
    pub fn at(self) -> Instant {
        let now = Instant::now();
        // A moment that cannot be represented counts as one in a year.
        let year = now + Duration::from_secs(365 * 86_400);
        now.checked_add(self.left()).unwrap_or(year)
    }

    /// The time that is left.
    pub fn left(self) -> Duration {
        self.at.saturating_sub(real_now())
    }

    /// The whole time, in seconds.
    pub fn patience_s(self) -> u64 {
        self.patience.as_secs()
    }

    /// Waits until `fd` is ready; `false` when the time is over.
    ///
    /// # Errors
    /// As poll(2).
    pub(crate) fn wait(self, fd: impl AsFd, flags: PollFlags) -> io::Result<bool> {
        self.wait_for_any(&mut [PollFd::new(&fd, flags)])
    }

    /// Waits until one of them is ready; `false` when the time is over.
    ///
    /// # Errors
    /// As poll(2).
    pub(crate) fn wait_for_any(self, fds: &mut [PollFd<'_>]) -> io::Result<bool> {
        loop {
            let left = self.left();
            let left = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            match poll(fds, Some(&left)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// The error if the launcher does not answer.
pub(crate) fn silence(asked: &str, waited_s: u64) -> String {
    format!(
        "no answer to {asked} within {waited_s} s: the launcher is silent, or processes of the job \
         have not come as far; {ATTACH_TIMEOUT} sets how many seconds to wait"
    )
}
