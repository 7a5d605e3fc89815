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
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Without a handler the signal ends the process, which is well too.
            let flag = || Arc::clone(&interrupted);
            let _ = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, flag());
            let _ = signal_hook::flag::register(signal, flag());
        }
        let (done, ended) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let started = Instant::now();
            let terminal = std::io::stderr().is_terminal();
            let mut shown = false;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PERIOD) {
                if interrupted.load(Ordering::Relaxed) {
                    monitor.cancel();
                }
                if terminal && started.elapsed() > QUIET {
                    show(&monitor);
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

/// One line that replaces the last. That nobody reads it is no reason to fail.
fn show(monitor: &Monitor) {
    let (point, points) = monitor.point();
    let (events, time) = monitor.progress();
    let run = if points > 1 {
        format!("run {point} of {points}: ")
    } else {
        String::new()
    };
    let events = events as f64 / 1e6;
    let _ = write!(
        std::io::stderr(),
        "\r\x1b[K{run}{events:.1} M events, {:.3} ms simulated",
        time.as_ns() / 1e6
    );
}
