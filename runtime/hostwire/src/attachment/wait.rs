//! How a PE waits.

use std::time::Duration;

use hostwire_transport::wait::{Backoff, WaitLimits, WaitStep};

use super::{Attachment, Pace, Watch};
use crate::error::{Error, Result};

/// The longest nap in virtual time, where a PE sees the time only after a nap.
const NAP_MAX: Duration = Duration::from_micros(10);

impl Attachment {
    /// Polls until there is a result.
    ///
    /// # Errors
    /// What `poll` gives; [`Error::PeerLost`] or [`Error::PeerLeft`] when a watched PE is lost or
    /// leaves and `poll` still has no result.
    #[inline]
    pub fn wait<R>(&self, watch: Watch<'_>, poll: impl FnMut() -> Result<Option<R>>) -> Result<R> {
        self.wait_and(watch, |_| self.progress(), poll)
    }

    /// As [`wait`](Self::wait), with `progress` called meanwhile. The one place where a PE waits.
    #[inline]
    pub(crate) fn wait_and<R>(
        &self,
        watch: Watch<'_>,
        progress: impl Fn(Pace) -> Result<()>,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        self.wait_before(None, watch, progress, poll)
    }

    /// As [`wait_and`](Self::wait_and), where `poll` may have a result only because time has
    /// passed: no sleep lasts beyond `deadline`, in the time of
    /// [`Clock::now`](hostwire_transport::wire::Clock::now).
    #[inline]
    pub(crate) fn wait_before<R>(
        &self,
        deadline: Option<Duration>,
        watch: Watch<'_>,
        progress: impl Fn(Pace) -> Result<()>,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        self.wait_by(self.limits, deadline, watch, progress, poll)
    }

    /// As [`wait_before`](Self::wait_before), for a thread of the library: it leaves the core to the program.
    pub(crate) fn sleep_before<R>(
        &self,
        deadline: Duration,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        let limits = WaitLimits {
            spins: 0,
            pauses: 0,
            looks: 0,
            ..self.limits
        };
        let progress = |_| self.progress();
        self.wait_by(limits, Some(deadline), Watch::All(&[]), progress, poll)
    }

    #[inline]
    fn wait_by<R>(
        &self,
        limits: WaitLimits,
        deadline: Option<Duration>,
        watch: Watch<'_>,
        progress: impl Fn(Pace) -> Result<()>,
        mut poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        self.fork_guard.check()?;
        let mut backoff = Backoff::new(limits);
        loop {
            if let Some(result) = poll()? {
                return Ok(result);
            }
            match backoff.step() {
                WaitStep::Spin => {}
                WaitStep::Pause => core::hint::spin_loop(),
                WaitStep::Look => {
                    if self.wire.poll()? {
                        backoff.came();
                    }
                }
                WaitStep::Work => progress(Pace::Quick)?,
                WaitStep::Yield => {
                    match self.wire.poll()? {
                        true => backoff.came(),
                        false => self.wire.yield_now(),
                    }
                    progress(Pace::Quick)?;
                }
                WaitStep::Nap(time) => {
                    match self.wire.poll()? {
                        true => backoff.came(),
                        false => self.wire.nap(time),
                    }
                    progress(Pace::Quick)?;
                }
                WaitStep::Sleep(limit) => {
                    let how_long = (limit, deadline);
                    let slept =
                        self.sleep_once(watch, how_long, &mut backoff, &progress, &mut poll)?;
                    if let Some(result) = slept {
                        return Ok(result);
                    }
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn sleep_once<R>(
        &self,
        watch: Watch<'_>,
        (limit, deadline): (Duration, Option<Duration>),
        backoff: &mut Backoff,
        progress: &dyn Fn(Pace) -> Result<()>,
        poll: &mut dyn FnMut() -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        let pace = match limit < self.limits.sleep_max {
            true => Pace::Quick,
            false => Pace::Slow,
        };
        let limit = self.wire.arm(limit);
        if self.keeps_stores {
            // The awaited event may be the answer to a store that the wire still keeps.
            self.wire.fence()?;
        }
        progress(pace)?;
        if let Some(result) = poll()? {
            return Ok(Some(result));
        }
        // A sleep in virtual time has no limit. A PE that has already left rings no more; only its
        // end rings.
        let early = match watch {
            Watch::TheEnd(_) => None,
            _ if self.wire.is_in_virtual_time() => self.find_gone(watch)?,
            _ => None,
        };
        let begin = self.wire.now();
        let rung = early.is_none() && self.sleep(limit, deadline);
        if let Some(result) = poll()? {
            return Ok(Some(result));
        }
        if self.interrupt.get().is_some_and(|is_wanted| is_wanted()) {
            return Err(Error::Interrupted);
        }
        let slept = self.wire.now().saturating_sub(begin);
        backoff.woke(rung, slept);
        if self.is_in_virtual_time && slept < limit {
            // A sleep in virtual time may end at any store, and does not say so. Only time makes a wait long.
            backoff.came();
        }
        let gone = early.map_or_else(|| self.find_gone(watch), |gone| Ok(Some(gone)))?;
        let Some(gone) = gone else {
            return Ok(None);
        };
        // Its last stores have arrived by now.
        if let Some(result) = poll()? {
            return Ok(Some(result));
        }
        match watch {
            // The poll may have seen the part of this PE, so that only the other PE's part is
            // missing.
            Watch::Pair { .. } => self.find_gone(watch)?.map_or(Ok(None), Err),
            _ => Err(gone),
        }
    }

    /// Each thread that sleeps in a wait calls `is_wanted` after each sleep (0.1 s at most, less
    /// if a signal comes). If it returns true, the wait ends with [`Error::Interrupted`]. No lock
    /// is held during the call. For languages whose users stop programs by an interrupt. Only the
    /// first call of this function counts.
    pub fn end_waits_if(&self, is_wanted: impl Fn() -> bool + Send + Sync + 'static) {
        // Only the first call counts.
        let _ = self.interrupt.set(Box::new(is_wanted));
    }

    /// Sleeps until a peer stores, or for `limit`, and not beyond `deadline`. Returns whether a
    /// peer stored.
    fn sleep(&self, limit: Duration, deadline: Option<Duration>) -> bool {
        let Some(deadline) = deadline else {
            return self.wire.sleep(limit);
        };
        let left = deadline.saturating_sub(self.wire.now());
        if self.wire.is_in_virtual_time() {
            self.wire.nap(left.min(NAP_MAX));
            return false;
        }
        self.wire.sleep(limit.min(left))
    }

    /// Lets the wire and the agent work.
    pub fn progress(&self) -> Result<()> {
        self.fork_guard.check()?;
        self.wire.poll()?;
        self.agent.serve(&*self.wire)
    }
}
