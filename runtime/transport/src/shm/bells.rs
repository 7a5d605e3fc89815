//! How PEs of several kernels wake each other: by something that rings.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::wait::Doorbell;
use crate::window::Ring;

/// What wakes each PE, and where the threads of this one sleep.
#[derive(Debug)]
pub struct Bells {
    /// By PE.
    pub rings: Box<[Arc<dyn Ring>]>,
    /// The sleeping threads of this PE. The thread that gets the ring wakes them.
    pub sleepers: Arc<Sleepers>,
}

/// Threads that sleep until the doorbell of their PE is rung.
#[derive(Debug, Default)]
pub struct Sleepers {
    lock: Mutex<()>,
    rung: Condvar,
}

impl Sleepers {
    /// Makes all of them check the doorbell.
    pub fn wake(&self) {
        // A thread that holds the lock has checked the doorbell but does not sleep yet.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.rung.notify_all();
    }

    /// Sleeps until the doorbell is not armed any more, or for `limit`. Returns whether it was
    /// rung.
    pub fn sleep(&self, doorbell: Doorbell<'_>, limit: Duration) -> bool {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let slept = self
            .rung
            .wait_timeout_while(lock, limit, |()| doorbell.is_armed());
        drop(slept.unwrap_or_else(PoisonError::into_inner));
        doorbell.is_awake()
    }
}

/// The bell of the PE itself, because its own threads store to its segment too.
impl Ring for Sleepers {
    fn ring(&self) {
        self.wake();
    }
}
