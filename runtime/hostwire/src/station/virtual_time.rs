//! How a station looks for what comes where time is that of a model.
//!
//! Who polls a queue looks at memory, and that takes time: otherwise nothing would ever come. A look that
//! finds nothing is short as long as the program has not looked often; then each one lasts an eighth of
//! the time since the first, so that a long wait is few hand-overs of the turn, or until something
//! comes. What comes is seen when the hardware shows it, whichever look it was. A program that waits for
//! a time sees it late by an eighth at most. One that has looked in vain very often, and never at
//! a clock, can only wait for a peer: it sleeps until one does something, so that PEs that wait for
//! each other are found.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostwire_station::ModelledContacts;
use hostwire_transport::wire::Clock;

use super::{Progress, Station};
use crate::error::Result;
use crate::message::Finished;

/// Looks in vain that take what a look takes. Assumed, as the other two: a program may do something
/// else after some.
const SHORT_LOOKS: u32 = 64;
/// The longest of the others: for programs that do something else after very many.
const LOOK_MAX: Duration = Duration::from_micros(10);
/// Looks in vain after which a program will do nothing else.
const LOOKS_MAX: u32 = 100_000;

/// The time of a model, for a station.
pub(super) struct VirtualTime {
    contacts: Arc<ModelledContacts>,
    backoff: Mutex<Backoff>,
}

/// How long a program has looked in vain.
#[derive(Debug, Default)]
struct Backoff {
    looks: u32,
    since: Duration,
    /// It has looked at a clock between two of them.
    asks_for_time: bool,
}

impl Backoff {
    /// How long the look may take that finds nothing `now`, before which the program has asked for the
    /// time or not.
    fn limit(&mut self, now: Duration, has_asked: bool) -> Duration {
        match self.looks {
            0 => (self.since, self.asks_for_time) = (now, false),
            _ => self.asks_for_time |= has_asked,
        }
        self.looks = self.looks.saturating_add(1);
        match self.looks {
            0..=SHORT_LOOKS => Duration::ZERO,
            LOOKS_MAX.. if !self.asks_for_time => Duration::MAX,
            _ => (now.saturating_sub(self.since) / 8).min(LOOK_MAX),
        }
    }
}

impl VirtualTime {
    pub(super) fn new(contacts: Arc<ModelledContacts>) -> Self {
        let backoff = Mutex::default();
        Self { contacts, backoff }
    }

    fn backoff(&self) -> MutexGuard<'_, Backoff> {
        self.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Station {
    /// See [`progress`](Self::turn).
    pub(super) fn turn_in_virtual_time(&self, time: &VirtualTime) -> Result<Progress> {
        let there_is = self.there_is();
        if there_is.has_finished {
            return Ok(there_is);
        }
        let look = || {
            let turn = self.there_is();
            Ok(turn.has_finished.then_some(turn))
        };
        let found = self.look_in_virtual_time(time, look)?;
        Ok(found.unwrap_or_else(|| self.there_is()))
    }

    /// Looks once, for a program that looks again.
    pub(super) fn look_in_virtual_time<R>(
        &self,
        time: &VirtualTime,
        find: impl Fn() -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        let found = self.look_within(
            time,
            |now, has_asked| time.backoff().limit(now, has_asked),
            || match find()? {
                None if self.has_news(&Cell::new(0)) => Ok(Some(None)),
                found => Ok(found.map(Some)),
            },
        )?;
        if found.is_some() {
            time.backoff().looks = 0;
        }
        Ok(found.flatten())
    }

    /// See [`wait_unless`](Self::wait_unless).
    pub(super) fn wait_in_virtual_time(
        &self,
        time: &VirtualTime,
        limit: Duration,
        left: &Cell<usize>,
        enough: &dyn Fn() -> bool,
    ) -> Result<Option<Finished>> {
        let deadline = time.contacts.wire().now().saturating_add(limit);
        loop {
            let found = self.look_within(
                time,
                |now, _| deadline.saturating_sub(now),
                || match self.finished() {
                    None if self.has_news(left) || enough() => Ok(Some(None)),
                    done => Ok(done.map(Some)),
                },
            )?;
            if found.is_some() || time.contacts.wire().now() >= deadline {
                return Ok(found.flatten());
            }
        }
    }

    /// Makes progress, and gives what `find` finds. If that is nothing, time passes until something
    /// comes, or for `limit`, which gets the time and whether the program has asked for it.
    fn look_within<R>(
        &self,
        time: &VirtualTime,
        limit: impl FnOnce(Duration, bool) -> Duration,
        find: impl Fn() -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        self.inner.check_is_here()?;
        time.contacts.take_part()?;
        let wire = time.contacts.wire();
        let has_asked = wire.has_spent();
        self.inner.wire().arm(Duration::MAX);
        self.get_on()?;
        let found = find()?;
        if found.is_none() {
            wire.doze(limit(wire.now(), has_asked))?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_short_then_an_eighth_then_end_when_something_comes() {
        let mut backoff = Backoff::default();
        let us = Duration::from_micros;
        for _ in 0..SHORT_LOOKS {
            assert_eq!(backoff.limit(us(8), false), Duration::ZERO);
        }
        assert_eq!(backoff.limit(us(16), false), us(1));
        assert_eq!(backoff.limit(us(24), false), us(2));
        assert_eq!(backoff.limit(us(8_000), false), LOOK_MAX);
        for _ in SHORT_LOOKS + 4..LOOKS_MAX {
            backoff.limit(us(8_000), false);
        }
        assert_eq!(backoff.limit(us(8_000), false), Duration::MAX);
        backoff.looks = 0;
        assert_eq!(backoff.limit(us(8_000), false), Duration::ZERO);
    }

    #[test]
    fn who_looks_at_clocks_is_woken() {
        let mut backoff = Backoff::default();
        let now = Duration::from_secs(1);
        for look in 0..2 * LOOKS_MAX {
            // The first one may have come long after something else.
            let limit = backoff.limit(now * look, look == 0 || look == 100);
            assert!(limit <= LOOK_MAX);
        }
    }
}
