//! Automatic progress: a thread of an endpoint that makes progress whether the program reads or
//! not. It sleeps until a peer stores something.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ep::Endpoint;
use crate::object::Code;
use crate::thread;

/// It looks after this time in any case: damage in shared memory costs a second, and no hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// The thread, from outside.
pub(crate) struct Progress {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Progress {
    pub(crate) fn start(endpoint: &Arc<Endpoint>) -> Result<Self, Code> {
        let stop = Arc::new(AtomicBool::new(false));
        let (inside, endpoint) = (Arc::clone(&stop), Arc::clone(endpoint));
        let thread = thread::spawn("hostwire-progress", move || work(&endpoint, &inside))?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread. A copy of the process has none.
    pub(crate) fn stop(self, endpoint: &Endpoint) {
        if !endpoint.is_here() {
            return core::mem::forget(self);
        }
        self.stop.store(true, Ordering::SeqCst);
        endpoint.station.wake();
        // If it panicked, nothing of ours has to be repaired.
        let _ = self.thread.join();
    }
}

fn work(endpoint: &Endpoint, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        let limit = endpoint.station.arm(SLEEP_MAX);
        match endpoint.progress(None) {
            // More is likely to follow: its sender need not ring for it.
            Ok(true) => std::thread::yield_now(),
            Ok(false) if stop.load(Ordering::SeqCst) => return,
            Ok(false) => endpoint.station.sleep(limit),
            // A reader gets the error as well. It may pass.
            Err(_) => endpoint.station.sleep(limit),
        }
    }
}
