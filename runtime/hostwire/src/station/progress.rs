//! Progress of a station: by a look, or by a wait.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hostwire_station::{News, PEERS_MAX};
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::{Loss, PeId, Route};

use super::{Finished, Station};
use crate::error::{Error, Result};
use crate::inner::Watch;
use crate::message::{Glance, Messages};

/// Looks in vain of who has a core of its own: longer than a message is on its way, and short beside the time that the
/// sender waits for a core where there are more programs than cores.
pub(super) const LOOKS: u32 = 4000;

/// What there is to take after a [turn](Station::turn).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Something [has ended](Station::finished).
    pub has_finished: bool,
    /// There are [events](Station::take_event) or [uses](Station::take_use).
    pub has_notes: bool,
}

impl Station {
    /// Makes progress, and gives the next that has ended, if there is one.
    ///
    /// # Errors
    /// [`Error::PeerMisbehaved`]; [`Error::Copied`].
    pub fn poll(&self) -> Result<Option<Finished>> {
        self.turn()?;
        Ok(self.finished())
    }

    /// Makes progress, unless something has ended already, and says what there is to take.
    ///
    /// # Errors
    /// As `poll`.
    pub fn turn(&self) -> Result<Progress> {
        if let Some(time) = &self.virtual_time {
            return self.turn_in_virtual_time(time);
        }
        self.in_spite_of_peers(|| {
            self.inner.check_is_here()?;
            self.hear()?;
            let is_enough = |messages: &Messages| messages.requests.has_finished(self.queue);
            let turn = self.inner.turn(is_enough, |messages| self.seen(messages))?;
            // Another thread makes progress.
            Ok(turn.unwrap_or_else(|| self.there_is()))
        })
    }

    /// A look at what a [turn](Self::turn) would look at, which calls next to nothing. As of
    /// [`send_at_once`](Self::send_at_once), all of it is in the function of the caller.
    #[inline(always)]
    pub fn glance(&self) -> Glance {
        if self.may_have_news() || !self.is_here() || self.looks_at_wire.load(Ordering::Relaxed) {
            return Glance::More;
        }
        match self.inner.messages_at_once() {
            Some(mut messages) => messages.glance(self.queue),
            None => Glance::More,
        }
    }

    /// What there is to take now.
    pub(super) fn there_is(&self) -> Progress {
        if !self.is_here() {
            return Progress::default();
        }
        self.seen(&self.inner.messages())
    }

    #[inline(always)]
    fn seen(&self, messages: &Messages) -> Progress {
        Progress {
            has_finished: messages.requests.has_finished(self.queue),
            has_notes: messages.remote.has_notes(),
        }
    }

    /// As [`poll`](Self::poll), and waits for at most `limit`, or until there is an
    /// [event](Self::take_event) or a [use](Self::take_use).
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn wait(&self, limit: Duration) -> Result<Option<Finished>> {
        self.wait_unless(limit, 0, || false)
    }

    /// As [`wait`](Self::wait), and looks between whether that is `enough`. Who makes it so in another
    /// thread calls [`wake`](Self::wake) then. So many events as `left` do not end it: those that the
    /// caller has [no room for](Self::events).
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn wait_unless(
        &self,
        limit: Duration,
        left: usize,
        enough: impl Fn() -> bool,
    ) -> Result<Option<Finished>> {
        let left = Cell::new(left);
        if let Some(time) = &self.virtual_time {
            return self.wait_in_virtual_time(time, limit, &left, &enough);
        }
        let deadline = Instant::now().checked_add(limit);
        let look = || match self.poll()? {
            Some(done) => Ok(Some(Some(done))),
            None => Ok((self.has_news(&left) || enough()).then_some(None)),
        };
        let wait = || {
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            let left = left.unwrap_or(limit);
            self.inner.wait_for(left, Watch::All(&[]), look)
        };
        Ok(self.in_spite_of_peers(wait)?.flatten())
    }

    /// Something has been done with memory here that nobody has taken note of, beside the events that
    /// are `left`. If another thread has taken some of them, fewer are.
    pub(super) fn has_news(&self, left: &Cell<usize>) -> bool {
        let remote = &self.inner.messages().remote;
        let events = remote.events.len();
        let is_more = events > left.get();
        left.set(events.min(left.get()));
        is_more || !remote.uses.is_empty()
    }

    /// Before [`sleep`](Self::sleep), and before the [`poll`](Self::poll) after which there is nothing
    /// to do: what comes from now on ends the sleep. Gives how long it is safe to sleep, of `limit`.
    pub fn arm(&self, limit: Duration) -> Duration {
        self.inner.wire().arm(limit)
    }

    /// Sleeps until something comes, since it was [armed](Self::arm), or for `limit`. Makes no progress
    /// and takes no lock.
    pub fn sleep(&self, limit: Duration) {
        let _ = self.inner.wire().sleep(limit);
    }

    /// Ends sleeps and waits of other threads here: they look again.
    pub fn wake(&self) {
        self.inner.segment().notify();
    }

    /// How often in a row a program may look in vain before it should give its core away between two looks. It
    /// waits for a process that may need that core, if it has met more of this host than there are cores.
    #[inline(always)]
    pub fn looks_max(&self) -> u32 {
        self.looks_max.load(Ordering::Relaxed)
    }

    /// Whether this is the process that opened it, not a copy of it.
    #[inline(always)]
    pub fn is_here(&self) -> bool {
        self.inner.is_here()
    }

    /// The next that has ended already. Makes no progress: see [`poll`](Self::poll).
    pub fn finished(&self) -> Option<Finished> {
        self.inner.check_is_here().ok()?;
        self.inner.messages().requests.finished(self.queue)
    }

    /// Makes progress, and then gives what `find` finds.
    pub(super) fn look<R>(&self, find: impl Fn() -> Result<Option<R>>) -> Result<Option<R>> {
        if let Some(time) = &self.virtual_time {
            return self.look_in_virtual_time(time, find);
        }
        self.get_on()?;
        find()
    }

    pub(super) fn get_on(&self) -> Result<()> {
        self.in_spite_of_peers(|| {
            self.inner.check_is_here()?;
            self.hear()?;
            self.inner.progress()
        })
    }

    /// Does it again without those that break the protocol or are lost meanwhile: what needs them fails,
    /// and nothing else does.
    #[inline]
    pub(super) fn in_spite_of_peers<R>(&self, act: impl Fn() -> Result<R>) -> Result<R> {
        match act() {
            Err(error @ (Error::PeerMisbehaved { .. } | Error::PeerLost { .. })) => {
                self.act_without_peers(error, act)
            }
            done => done,
        }
    }

    /// It has failed with that error.
    #[cold]
    fn act_without_peers<R>(&self, mut error: Error, act: impl Fn() -> Result<R>) -> Result<R> {
        let mut lost = BTreeSet::new();
        for _ in 0..PEERS_MAX {
            match error {
                Error::PeerMisbehaved { .. } => {
                    self.part_for(error);
                }
                // The link to it has closed, and this station has not heard of it yet.
                Error::PeerLost { pe, .. } if pe != self.inner.pe() && lost.insert(pe) => {
                    self.contacts.part(pe);
                    // What else has come to pass does not change that it is done again.
                    if let Err(error) = self.hear() {
                        self.part_for(error);
                    }
                }
                other => return Err(other),
            }
            match act() {
                Err(again) => error = again,
                done => return done,
            }
        }
        Err(error)
    }

    #[inline(always)]
    pub(super) fn may_have_news(&self) -> bool {
        let news = self.news.as_deref();
        news.is_none_or(|news| news.load(Ordering::Acquire))
    }

    /// Takes note of who has come and gone.
    #[inline]
    pub(super) fn hear(&self) -> Result<()> {
        match self.may_have_news() {
            true => self.take_news(),
            false => Ok(()),
        }
    }

    #[cold]
    fn take_news(&self) -> Result<()> {
        let news = self.contacts.take_news();
        if news.is_empty() {
            return Ok(());
        }
        let messages = &mut *self.inner.messages();
        // News is told once: what is wrong with one peer keeps nothing from the others.
        let mut heard = Ok(());
        for what in news {
            let done = match what {
                News::Met(pe) => messages.met(&self.inner, pe),
                News::Ended(pe) => {
                    let ended = messages.ended(&self.inner, pe, &self.lost(pe));
                    self.inner.lost.end(pe, Loss::Ended);
                    ended
                }
            };
            heard = heard.and(done);
        }
        let wire = self.inner.wire();
        let is_far = |pe: PeId| matches!(wire.route(pe), Some(Route::Carried));
        if (0..messages.known()).any(is_far) {
            self.looks_at_wire.store(true, Ordering::Relaxed);
        }
        let is_beside = |pe: &PeId| {
            self.inner.is_there(*pe) && matches!(wire.route(*pe), Some(Route::Mapped(_)))
        };
        let beside = (0..messages.known()).filter(is_beside).count();
        if self.virtual_time.is_none() {
            let looks = match WaitLimits::for_pes(beside as u32) {
                WaitLimits::SHARED => WaitLimits::SHARED.spins,
                _ => LOOKS,
            };
            self.looks_max.store(looks, Ordering::Relaxed);
        }
        heard
    }
}
