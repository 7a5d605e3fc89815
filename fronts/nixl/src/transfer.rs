//! Reads and writes: each is several operations of a station, and has ended when all of them have.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire::PeId;

use crate::status::Status;

/// A notification for when the rest has ended.
pub(crate) struct Last {
    pub(crate) to: PeId,
    pub(crate) bytes: Vec<u8>,
}

/// See the [module text](self). Any thread may use it.
pub struct Transfer {
    /// Operations that have not ended, and one while more may be added.
    left: AtomicUsize,
    /// The first error.
    status: AtomicI32,
    has_ended: AtomicBool,
    last: Mutex<Option<Last>>,
}

impl Transfer {
    /// One that was never started.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            left: AtomicUsize::new(0),
            status: AtomicI32::new(0),
            has_ended: AtomicBool::new(true),
            last: Mutex::default(),
        })
    }

    fn last(&self) -> MutexGuard<'_, Option<Last>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts it, or starts it again: it ends not before [`end_one`](Self::end_one) is called once for this and once for each
    /// [`add_one`](Self::add_one).
    ///
    /// # Errors
    /// [`Status::ACTIVE`] if it has not ended.
    pub(crate) fn start(&self, last: Option<Last>) -> Result<(), Status> {
        if !self.has_ended.swap(false, Ordering::AcqRel) {
            return Err(Status::ACTIVE);
        }
        *self.last() = last;
        self.status.store(0, Ordering::Relaxed);
        self.left.store(1, Ordering::Release);
        Ok(())
    }

    pub(crate) fn add_one(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// One part of it has ended. Gives what has to be sent then, as another part: its end has to be told, too.
    pub(crate) fn end_one(&self, result: Result<(), Status>) -> Option<Last> {
        if let Err(Status(code)) = result {
            let first = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.status.compare_exchange(0, code, first.0, first.1);
        }
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return None;
        }
        let last = self.last().take();
        if let Some(last) = last
            && self.status.load(Ordering::Relaxed) == 0
        {
            self.left.store(1, Ordering::Relaxed);
            return Some(last);
        }
        self.has_ended.store(true, Ordering::Release);
        None
    }

    /// How it has ended, or that it has not.
    pub(crate) fn status(&self) -> Status {
        match self.has_ended.load(Ordering::Acquire) {
            true => Status(self.status.load(Ordering::Relaxed)),
            false => Status::IN_PROGRESS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> Option<Last> {
        Some(Last {
            to: 1,
            bytes: vec![1],
        })
    }

    #[test]
    fn it_ends_with_its_last_part_and_can_be_started_again() {
        let transfer = Transfer::new();
        for _ in 0..2 {
            transfer.start(None).unwrap();
            assert_eq!(transfer.start(None), Err(Status::ACTIVE));
            transfer.add_one();
            assert!(transfer.end_one(Ok(())).is_none());
            assert_eq!(transfer.status(), Status::IN_PROGRESS);
            assert!(transfer.end_one(Ok(())).is_none());
            assert_eq!(transfer.status(), Status::SUCCESS);
        }
    }

    #[test]
    fn its_notification_is_its_last_part() {
        let transfer = Transfer::new();
        transfer.start(last()).unwrap();
        assert_eq!(transfer.end_one(Ok(())).unwrap().bytes, [1]);
        assert_eq!(transfer.status(), Status::IN_PROGRESS);
        assert!(transfer.end_one(Err(Status::LOST)).is_none());
        assert_eq!(transfer.status(), Status::LOST);
    }

    #[test]
    fn what_has_failed_is_not_notified_of_and_tells_the_first_error() {
        let transfer = Transfer::new();
        transfer.start(last()).unwrap();
        transfer.add_one();
        transfer.add_one();
        assert!(transfer.end_one(Err(Status::LOST)).is_none());
        assert!(transfer.end_one(Err(Status::NOT_FOUND)).is_none());
        assert!(transfer.end_one(Ok(())).is_none());
        assert_eq!(transfer.status(), Status::LOST);
        transfer.start(None).unwrap();
        assert!(transfer.end_one(Ok(())).is_none());
        assert_eq!(transfer.status(), Status::SUCCESS);
    }
}
