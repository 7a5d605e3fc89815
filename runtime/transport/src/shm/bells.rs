//! How PEs of several kernels wake each other: by something that rings.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::wait::Doorbell;
use crate::window::Ring;

/// What wakes each PE, and what this one sleeps on.
#[derive(Debug)]
pub struct Bells {
    /// By PE.
    pub rings: Box<[Arc<dyn Ring>]>,
    /// The threads of this PE that sleep. Who hears the bell wakes them.
    pub sleepers: Arc<Sleepers>,
}

/// Threads that sleep until the doorbell of their PE is rung.
#[derive(Debug, Default)]
pub struct Sleepers {
    lock: Mutex<()>,
    rung: Condvar,
}

impl Sleepers {
    /// Has all of them look at the doorbell.
    pub fn wake(&self) {
        // Who holds the lock has looked at the doorbell, and does not sleep yet.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.rung.notify_all();
    }

    /// Sleeps until the doorbell is not armed any more, or for `limit`. Whether it was rung.
    pub fn sleep(&self, doorbell: Doorbell<'_>, limit: Duration) -> bool {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let slept = self
            .rung
            .wait_timeout_while(lock, limit, |()| doorbell.is_armed());
        drop(slept.unwrap_or_else(PoisonError::into_inner));
        doorbell.is_awake()
    }
}

/// The bell of the PE itself: its other threads store to it, too.
impl Ring for Sleepers {
    fn ring(&self) {
        self.wake();
    }
}
