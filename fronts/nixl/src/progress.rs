//! Progress while the program does not look: a thread that sleeps until another agent stores something.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::engine::Engine;

/// It looks after this time in any case: damage in shared memory costs a second, and no hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// The program has looked by itself: for so long the thread leaves that to it, and is not woken by each store.
const REST: Duration = Duration::from_micros(200);

/// The thread, from outside.
pub(crate) struct Progress {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Progress {
    pub(crate) fn start(engine: &Arc<Engine>) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (inside, engine) = (Arc::clone(&stop), Arc::clone(engine));
        let thread = std::thread::Builder::new().name("hostwire-nixl".into());
        let thread = thread.spawn(move || work(&engine, &inside))?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread. A copy of the process has none.
    pub(crate) fn stop(self, engine: &Engine) {
        if !engine.station.is_here() {
            return core::mem::forget(self);
        }
        self.stop.store(true, Ordering::SeqCst);
        engine.station.wake();
        // If it panicked, nothing of ours has to be repaired.
        let _ = self.thread.join();
    }
}

fn work(engine: &Engine, stop: &AtomicBool) {
    let mut looks = engine.looks();
    while !stop.load(Ordering::SeqCst) {
        let now = engine.looks();
        if now != looks {
            looks = now;
            std::thread::sleep(REST);
            continue;
        }
        let limit = engine.station.arm(SLEEP_MAX);
        match engine.turn() {
            // More is likely to follow: its sender need not ring for it.
            Ok(true) => std::thread::yield_now(),
            _ if stop.load(Ordering::SeqCst) => return,
            // The program gets the error as well. It may pass.
            Ok(false) | Err(_) => engine.station.sleep(limit),
        }
    }
}
