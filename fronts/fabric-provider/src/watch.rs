//! A thread that turns the doorbell of a station into alarms, while nobody makes progress for it.
//!
//! A peer rings a doorbell, which is a futex in shared memory, and no descriptor can be made of that.
//! So a thread sleeps on it for those that sleep on descriptors. It starts with the first of them,
//! makes no progress, takes no lock of the station, and does nothing unless it was asked since the
//! last ring.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ep::Endpoint;
use crate::object::Code;
use crate::thread;
use crate::wait::Alarm;

/// It rings after this time in any case: damage in shared memory costs a second, and no hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// The thread, from outside.
pub(crate) struct Watcher {
    shared: Arc<WatchShared>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct WatchShared {
    books: Mutex<Books>,
    changed: Condvar,
}

#[derive(Default)]
struct Books {
    /// The alarms to raise at the next ring.
    alarms: Vec<Arc<Alarm>>,
    /// How long it is safe to sleep.
    limit: Duration,
    stop: bool,
}

impl WatchShared {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, endpoint: &Endpoint) {
        loop {
            let mut books = self.books();
            while books.alarms.is_empty() && !books.stop {
                let waited = self.changed.wait(books);
                books = waited.unwrap_or_else(PoisonError::into_inner);
            }
            if books.stop {
                return;
            }
            let limit = books.limit;
            drop(books);
            // It is armed: the thread that added the first alarm did this before its last look.
            endpoint.station.sleep(limit);
            let alarms = core::mem::take(&mut self.books().alarms);
            for alarm in alarms {
                alarm.raise();
            }
        }
    }
}

impl Watcher {
    pub(crate) fn start(endpoint: &Arc<Endpoint>) -> Result<Self, Code> {
        let shared = Arc::new(WatchShared::default());
        let (inside, endpoint) = (Arc::clone(&shared), Arc::clone(endpoint));
        let thread = thread::spawn("hostwire-watch", move || inside.watch(&endpoint))?;
        Ok(Self { shared, thread })
    }

    /// Raises that alarm at the next ring.
    pub(crate) fn add(&self, endpoint: &Endpoint, alarm: &Arc<Alarm>) {
        let limit = endpoint.station.arm(SLEEP_MAX);
        let mut books = self.shared.books();
        books.limit = limit;
        if !books.alarms.iter().any(|known| Arc::ptr_eq(known, alarm)) {
            books.alarms.push(Arc::clone(alarm));
            self.shared.changed.notify_one();
        }
    }

    /// Ends the thread. A copy of the process has none.
    pub(crate) fn stop(self, endpoint: &Endpoint) {
        if !endpoint.is_here() {
            return core::mem::forget(self);
        }
        self.shared.books().stop = true;
        self.shared.changed.notify_one();
        endpoint.station.wake();
        // If it panicked, nothing of ours has to be repaired.
        let _ = self.thread.join();
    }
}
