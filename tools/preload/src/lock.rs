//! A lock that one function can take and another give back, as the handlers of a fork do.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A value that one thread at a time uses.
pub(crate) struct Lock<T> {
    is_taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` gives the value to one thread at a time, and `T` may go from one to another.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Self {
        Self {
            is_taken: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes it. Waits while another thread asks the pager for something, which is short.
    pub fn take(&self) {
        while self.is_taken.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    /// Gives it back. The caller must have taken it.
    pub fn give_back(&self) {
        self.is_taken.store(false, Ordering::Release);
    }

    /// Uses the value. Must not be nested.
    pub fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        self.take();
        // SAFETY: this thread has the lock, so no other reference to the value exists.
        let result = body(unsafe { &mut *self.value.get() });
        self.give_back();
        result
    }

    /// Uses the value, for the child of a fork whose parent has taken the lock.
    ///
    /// # Safety
    /// The calling thread must be the only one that runs, and nobody may be within [`with`](Self::with).
    pub unsafe fn with_taken<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller promises that nobody else has a reference to the value.
        body(unsafe { &mut *self.value.get() })
    }
}
