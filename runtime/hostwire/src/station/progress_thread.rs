//! Progress while the program does not look: a thread that sleeps until a peer stores something.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire_transport::worker;

use super::Station;

/// It looks after this time in any case: damage in shared memory costs a second, and no hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// What such a thread needs at most.
const STACK_BYTES: usize = 256 << 10;

/// What has a station, and can make progress with it.
pub trait MakesProgress: Send + Sync + 'static {
    /// The station.
    fn station(&self) -> &Station;

    /// Makes progress. Whether anything has come of it. An error is not told here: the program gets it as well, and it may pass.
    fn turn(&self) -> bool;

    /// For how long the program makes progress by itself, and the thread need not be woken.
    fn rests(&self) -> Option<Duration> {
        None
    }
}

/// The thread, from outside.
pub struct ProgressThread {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl ProgressThread {
    /// Starts it. It takes no signals, because signals belong to the program.
    ///
    /// # Errors
    /// The error of the system.
    pub fn start(name: &str, owner: &Arc<impl MakesProgress>) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (inside, owner) = (Arc::clone(&stop), Arc::clone(owner));
        let thread = worker::start(name, STACK_BYTES, move || work(&*owner, &inside))?;
        Ok(Self { stop, thread })
    }

    /// Ends it. A copy of the process has none.
    pub fn stop(self, station: &Station) {
        if !station.is_here() {
            return core::mem::forget(self);
        }
        self.stop.store(true, Ordering::SeqCst);
        station.wake();
        // If it panicked, nothing of ours has to be repaired.
        let _ = self.thread.join();
    }
}

fn work(owner: &impl MakesProgress, stop: &AtomicBool) {
    let station = owner.station();
    while !stop.load(Ordering::SeqCst) {
        if let Some(rest) = owner.rests() {
            std::thread::sleep(rest);
            continue;
        }
        let limit = station.arm(SLEEP_MAX);
        if owner.turn() {
            // More is likely to follow: its sender need not ring for it.
            std::thread::yield_now();
        } else if !stop.load(Ordering::SeqCst) {
            station.sleep(limit);
        }
    }
}
