//! How a thread sleeps until another one changes a word: by a futex, which works between
//! processes.
//!
//! Without Linux there is no futex, and no wire between processes. Waits are those of
//! simulated wires, which sleep in their own ways. A thread that still gets here sleeps for
//! its whole limit, because nothing wakes it. The limit is a millisecond there, because
//! [`heavy_fence`](crate::sync::heavy_fence) promises nothing.

use core::time::Duration;

use crate::sync::AtomicU32;

/// Sleeps while `word` is `value`, for `limit` at most. May return at any time.
#[cfg(target_os = "linux")]
pub fn wait(word: &AtomicU32, value: u32, limit: Duration) {
    use rustix::thread::futex;
    #[cfg(memory_model)]
    if crate::model::door::wait(word.as_ptr().addr(), value) {
        return;
    }
    #[cfg(memory_model)]
    let word = word.real();
    let timeout = futex::Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    // Whatever it returns (rung, interrupted, timed out, value changed), the
    // caller polls again. Not a private futex: the waker is another process.
    let _ = futex::wait(word, futex::Flags::empty(), value, Some(&timeout));
}

/// Wakes all threads that sleep on `word`.
#[cfg(target_os = "linux")]
pub fn wake(word: &AtomicU32) {
    use rustix::thread::futex;
    #[cfg(memory_model)]
    if crate::model::door::wake(word.as_ptr().addr()) {
        return;
    }
    #[cfg(memory_model)]
    let word = word.real();
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}

/// Sleeps for `limit`, unless `word` is not `value`.
#[cfg(not(target_os = "linux"))]
pub fn wait(word: &AtomicU32, value: u32, limit: Duration) {
    if word.load(crate::sync::Ordering::SeqCst) == value {
        std::thread::sleep(limit);
    }
}

/// Nobody sleeps on a word here.
#[cfg(not(target_os = "linux"))]
pub fn wake(_word: &AtomicU32) {}
