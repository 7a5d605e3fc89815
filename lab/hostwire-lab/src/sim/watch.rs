//! A second thread beside a long run: progress on a terminal, and Ctrl-C.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostwire_sim::experiments::file::Monitor;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Runs shorter than this show no progress.
const QUIET: Duration = Duration::from_secs(1);
const PERIOD: Duration = Duration::from_millis(100);

/// The thread; ends when this is dropped.
pub struct Watch {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to watch. The first Ctrl-C cancels the run, a second one ends the
    /// process at once.
    pub fn new(monitor: Arc<Monitor>) -> Watch {
        let interrupted = Watch::signals();
        Watch::start(move |started| {
            if interrupted.load(Ordering::Relaxed) {
                monitor.cancel();
            }
            (started.elapsed() > QUIET).then(|| progress(&monitor))
        })
    }

    /// Shows the elapsed time, for runs without other progress. Ctrl-C ends the
    /// process.
    pub fn clock() -> Watch {
        Watch::start(|started| {
            let elapsed = started.elapsed();
            (elapsed > QUIET).then(|| format!("simulating, {} s", elapsed.as_secs()))
        })
    }

    /// A flag that the first Ctrl-C sets; the second one ends the process at once.
    pub fn signals() -> Arc<AtomicBool> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Without a handler the signal ends the process, which is also correct.
            let flag = || Arc::clone(&interrupted);
            let _ = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, flag());
            let _ = signal_hook::flag::register(signal, flag());
        }
        interrupted
    }

    fn start(mut look: impl FnMut(Instant) -> Option<String> + Send + 'static) -> Watch {
        let (done, ended) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let started = Instant::now();
            let terminal = std::io::stderr().is_terminal();
            let mut shown = false;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PERIOD) {
                if let Some(line) = look(started).filter(|_| terminal) {
                    // It is no failure if nobody reads it.
                    let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
                    shown = true;
                }
            }
            if shown {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
        });
        Watch {
            done: Some(done),
            thread: Some(thread),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done = None;
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that panics; if it did, nothing is lost.
            let _ = thread.join();
        }
    }
}

fn progress(monitor: &Monitor) -> String {
    let (point, points) = monitor.point();
    let (events, time) = monitor.progress();
    let run = if points > 1 {
        format!("run {point} of {points}: ")
    } else {
        String::new()
    };
    let events = events as f64 / 1e6;
    let simulated_ms = time.as_ns() / 1e6;
    format!("{run}{events:.1} M events, {simulated_ms:.3} ms simulated")
}
