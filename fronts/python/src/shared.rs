//! The job, for as long as it is open: what all objects that were made of it look at.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::errors;

/// See the [module text](self).
///
/// The lock is taken with the interpreter's lock held, and for a few instructions. So no process is
/// copied by `os.fork` while it is held. No Python object is made or dropped meanwhile: a finaliser
/// could run, which may ask for the job.
pub(crate) struct SharedJob {
    job: Mutex<Option<Arc<hostwire::Job>>>,
    is_open: AtomicBool,
    /// How many of [`Operation`] there are.
    operations: AtomicUsize,
}

/// An operation that may wait, and has its own hold on the memory of the job: the job is not closed
/// meanwhile. It does not keep the job from being abandoned, which waits for nobody.
pub(crate) struct Operation<'a>(&'a SharedJob);

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        self.0.operations.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SharedJob {
    pub(crate) fn new(job: hostwire::Job) -> Arc<Self> {
        Arc::new(Self {
            job: Mutex::new(Some(Arc::new(job))),
            is_open: AtomicBool::new(true),
            operations: AtomicUsize::new(0),
        })
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<hostwire::Job>>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is open.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// An error if it is closed.
    #[inline]
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        match self.is_open() {
            true => Ok(()),
            false => Err(closed(py)),
        }
    }

    /// The job.
    ///
    /// # Errors
    /// If it is closed.
    pub(crate) fn job(&self, py: Python<'_>) -> PyResult<Arc<hostwire::Job>> {
        let job = self.slot().clone();
        job.ok_or_else(|| closed(py))
    }

    /// Begins an operation that does not hold the job itself.
    ///
    /// # Errors
    /// If it is closed.
    pub(crate) fn begin(&self, py: Python<'_>) -> PyResult<Operation<'_>> {
        self.check(py)?;
        self.operations.fetch_add(1, Ordering::Relaxed);
        Ok(Operation(self))
    }

    /// The job, to end it in order: no thread is in an operation of it.
    ///
    /// # Errors
    /// If it is closed, or another thread is in an operation of it.
    pub(crate) fn take_idle(&self, py: Python<'_>) -> PyResult<hostwire::Job> {
        // Both change with the interpreter's lock held only.
        match self.operations.load(Ordering::Relaxed) {
            0 => self.take(py),
            _ => Err(busy(py)),
        }
    }

    /// The job, to end it: no other thread has it.
    ///
    /// # Errors
    /// If it is closed, or another thread has it.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<hostwire::Job> {
        match self.take_unshared() {
            Some(job) => Ok(job),
            None if self.is_open() => Err(busy(py)),
            None => Err(closed(py)),
        }
    }

    fn take_unshared(&self) -> Option<hostwire::Job> {
        let mut slot = self.slot();
        match Arc::try_unwrap(slot.take()?) {
            Ok(job) => {
                self.is_open.store(false, Ordering::Relaxed);
                Some(job)
            }
            Err(shared) => {
                *slot = Some(shared);
                None
            }
        }
    }

    /// Gives the job up, as far as no thread uses it: the last one that does ends it.
    pub(crate) fn abandon(&self) -> Option<Arc<hostwire::Job>> {
        self.is_open.store(false, Ordering::Relaxed);
        self.slot().take()
    }
}

#[cold]
fn busy(py: Python<'_>) -> PyErr {
    let text = "another thread is in an operation of the job: wait for it first";
    errors::caller(py, text)
}

#[cold]
fn closed(py: Python<'_>) -> PyErr {
    errors::caller(py, "the job is closed")
}
