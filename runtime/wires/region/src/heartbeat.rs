//! How PEs on different kernels show each other that they live.
//!
//! A thread of each PE stores a new beat into the line of the PE, four times a second, and looks
//! at the beats of the PEs on other kernels. Time in which this process itself did not run does
//! not count as silence. The thread also checks that the job still has its place.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostwire_transport::error::TransportError;
use hostwire_transport::worker;

use super::Result;
use super::lines::Lines;
use super::table::{JobSlot, Table};

/// From one beat to the next.
const BEAT: Duration = Duration::from_millis(250);

/// The results of the thread, and its input.
#[derive(Debug)]
pub(super) struct Pulse {
    pub(super) lines: Lines,
    pub(super) table: Table,
    pub(super) place: JobSlot,
    pub(super) pe: u32,
    /// By PE: how long it has been silent, in milliseconds, if only beats show whether it lives.
    pub(super) silent_ms: Box<[Option<AtomicU64>]>,
    /// The job has lost its place.
    pub(super) is_taken_away: AtomicBool,
}

impl Pulse {
    /// How long `pe` has been silent, if only beats show whether it lives.
    pub(super) fn silent_ms(&self, pe: u32) -> Option<u64> {
        let silent = self.silent_ms.get(pe as usize)?.as_ref()?;
        Some(silent.load(Ordering::Relaxed))
    }

    /// Checks everything once. `passed` is the time since the last check.
    fn look(&self, seen: &mut [u64], beat: u64, passed: Duration) -> Result<()> {
        self.lines.beat(self.pe, beat)?;
        if !self.table.holds(&self.place)? {
            self.is_taken_away.store(true, Ordering::Relaxed);
        }
        // A process that was stopped has not listened.
        let passed_ms = passed.min(2 * BEAT).as_millis() as u64;
        for (pe, (seen, silent)) in (0..).zip(seen.iter_mut().zip(&self.silent_ms)) {
            let Some(silent) = silent else { continue };
            // A line that makes no sense is no beat.
            let now = self.lines.read(pe).map_or(*seen, |line| line.beat);
            match now == *seen {
                true => silent.fetch_add(passed_ms, Ordering::Relaxed),
                false => silent.swap(0, Ordering::Relaxed),
            };
            *seen = now;
        }
        Ok(())
    }
}

/// Whether the thread has to end.
#[derive(Debug, Default)]
struct Stop {
    is_told: Mutex<bool>,
    changed: Condvar,
}

/// The thread. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Heartbeat {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    pub(super) fn start(pulse: Arc<Pulse>) -> Result<Self> {
        let stop = Arc::new(Stop::default());
        let told = Arc::clone(&stop);
        let body = move || {
            let mut seen = vec![0; pulse.silent_ms.len()];
            let (mut beat, mut last) = (1, Instant::now());
            loop {
                let guard = told.is_told.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = told
                    .changed
                    .wait_timeout_while(guard, BEAT, |is_told| !*is_told);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    return;
                }
                let now = Instant::now();
                // The tables are mapped, so the only possible error is an invalid state, and
                // that is no reason to stop the beats.
                let _ = pulse.look(&mut seen, beat, now - last);
                (beat, last) = (beat + 1, now);
            }
        };
        let thread = worker::start("hostwire-beat", 64 << 10, body)
            .map_err(|e| TransportError::environment("starting the thread that beats", e))?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        *self
            .stop
            .is_told
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
