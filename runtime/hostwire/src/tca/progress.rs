//! How far a stream is: the state that its owner and the engine share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostwire_transport::PeId;

use crate::error::Error;

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct StreamProgress {
    pub(super) id: u64,
    /// Pieces of work that were given.
    given: AtomicU64,
    /// Pieces of work that the engine has ended.
    ended: AtomicU64,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    /// The first error since the owner was last told.
    error: Option<Error>,
    /// PEs that were written to since the last synchronization.
    pes: Vec<PeId>,
    /// The owner has dropped it and cannot synchronize it any more.
    is_dropped: bool,
}

impl StreamProgress {
    pub(super) fn new(id: u64) -> Self {
        Self {
            id,
            given: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            told: Mutex::default(),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One piece of work was given.
    pub(super) fn give_one(&self) {
        self.given.fetch_add(1, Ordering::Relaxed);
    }

    /// One piece of work has ended.
    pub(super) fn end_one(&self) {
        self.ended.fetch_add(1, Ordering::Release);
    }

    /// The stream has failed: its remaining work will not be done.
    pub(super) fn fail(&self, error: Error) {
        self.told().error.get_or_insert(error);
    }

    /// Whether it has failed, and nobody was told.
    pub(super) fn has_error(&self) -> bool {
        self.told().error.is_some()
    }

    /// Its error, as long as nobody was told. If its owner has dropped it, this counts as telling
    /// it.
    pub(super) fn tell(&self) -> Option<Error> {
        let mut told = self.told();
        match told.is_dropped {
            true => told.error.take(),
            false => told.error.clone(),
        }
    }

    /// As [`tell`](Self::tell), to its owner.
    pub(super) fn tell_owner(&self) -> Option<Error> {
        self.told().error.take()
    }

    /// Its owner cannot synchronize it any more.
    pub(super) fn drop_owner(&self) {
        self.told().is_dropped = true;
    }

    /// These PEs are written to.
    pub(super) fn writes_to(&self, more: &[PeId]) {
        let pes = &mut self.told().pes;
        for pe in more {
            if !pes.contains(pe) {
                pes.push(*pe);
            }
        }
    }

    /// PEs that were written to since the last synchronization, which begins now.
    pub(super) fn take_written_to(&self) -> Vec<PeId> {
        std::mem::take(&mut self.told().pes)
    }

    /// PEs that were written to since the last synchronization.
    pub(super) fn written_to(&self) -> Vec<PeId> {
        self.told().pes.clone()
    }

    pub(super) fn is_done(&self) -> bool {
        self.ended.load(Ordering::Acquire) == self.given.load(Ordering::Acquire)
    }
}
