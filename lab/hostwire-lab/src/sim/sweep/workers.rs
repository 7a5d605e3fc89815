//! Processes that run a point each.
//!
//! A worker ends when its standard input ends: at Ctrl-C, or whenever this process
//! dies.

use std::collections::{BTreeMap, VecDeque};
use std::io::{IsTerminal, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::Args;
use super::super::part::Part;
use super::Results;

const PERIOD: Duration = Duration::from_millis(100);
/// Characters between the brackets.
const BAR: usize = 30;

/// How a worker ended.
pub struct Ran {
    pub status: ExitStatus,
    /// On standard error.
    pub said: String,
}

/// The command line of a worker.
pub fn command(args: &Args, results: &Results, part: Part) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("sim").arg(&args.file);
    if let Some(sweep) = &args.sweep {
        command.arg(format!("--sweep={sweep}"));
    }
    command.arg("--results").arg(results.folder());
    command.arg(format!("--part={part}")).arg("--worker");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    Ok(command)
}

/// Runs a worker for every place, `jobs` at a time, until all have ended or
/// `interrupted` is set; none is left behind. `kept` points had results before.
///
/// # Errors
/// If a worker cannot be started; the others are ended then.
pub fn run(
    start: impl Fn(usize) -> std::io::Result<Command> + Sync,
    places: &[usize],
    jobs: usize,
    kept: usize,
    interrupted: &AtomicBool,
) -> Result<Vec<(usize, Ran)>, String> {
    let board = Board {
        waiting: Mutex::new(places.iter().copied().collect()),
        inputs: Mutex::new(BTreeMap::new()),
    };
    let (done, ended) = mpsc::channel();
    let mut ran = Vec::new();
    let mut failed = None;
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, places.len().max(1)) {
            let (board, start, done) = (&board, &start, done.clone());
            scope.spawn(move || {
                while let Some(place) = board.next() {
                    // The loop below ends only when all threads have.
                    let _ = done.send((place, board.work(place, start)));
                }
            });
        }
        drop(done);
        let mut bar = Bar::new(kept, places.len());
        loop {
            match ended.recv_timeout(PERIOD) {
                Ok((place, Ok(worker))) => ran.push((place, worker)),
                Ok((_, Err(error))) => {
                    failed = Some(format!("cannot start a process for a point: {error}"));
                    board.stop();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupted.load(Ordering::Relaxed) {
                board.stop();
            }
            bar.show(ran.len(), board.at_work());
        }
    });
    match failed {
        Some(why) => Err(why),
        None => Ok(ran),
    }
}

/// The state that the threads share.
struct Board {
    waiting: Mutex<VecDeque<usize>>,
    /// Standard input of those at work.
    inputs: Mutex<BTreeMap<usize, ChildStdin>>,
}

impl Board {
    fn next(&self) -> Option<usize> {
        lock(&self.waiting).pop_front()
    }

    fn work(
        &self,
        place: usize,
        start: impl Fn(usize) -> std::io::Result<Command>,
    ) -> std::io::Result<Ran> {
        let mut child = start(place)?.spawn()?;
        if let Some(input) = child.stdin.take() {
            lock(&self.inputs).insert(place, input);
        }
        let output = child.wait_with_output();
        lock(&self.inputs).remove(&place);
        let output = output?;
        Ok(Ran {
            status: output.status,
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Starts no more workers, and ends the running ones.
    fn stop(&self) {
        lock(&self.waiting).clear();
        lock(&self.inputs).clear();
    }

    fn at_work(&self) -> usize {
        lock(&self.inputs).len()
    }
}

/// No thread panics with a lock; if one did, the values would still be whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Progress, if standard error is a terminal.
struct Bar {
    kept: usize,
    points: usize,
    started: Instant,
    terminal: bool,
}

impl Bar {
    fn new(kept: usize, missing: usize) -> Bar {
        Bar {
            kept,
            points: kept + missing,
            started: Instant::now(),
            terminal: std::io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, ran: usize, at_work: usize) {
        if self.terminal {
            let line = bar(self.kept, ran, self.points, at_work, self.started.elapsed());
            // It is no failure if nobody reads it.
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn bar(kept: usize, ran: usize, points: usize, at_work: usize, elapsed: Duration) -> String {
    let done = (kept + ran).min(points);
    let full = done * BAR / points.max(1);
    let left = if ran > 0 && done < points {
        let each_s = elapsed.as_secs_f64() / ran as f64;
        format!(", about {:.0} s left", each_s * (points - done) as f64)
    } else {
        String::new()
    };
    format!(
        "[{}{}] {done} of {points} points, {at_work} at work{left}",
        "#".repeat(full),
        "-".repeat(BAR - full)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        let second = Duration::from_secs(1);
        assert_eq!(
            bar(2, 0, 4, 2, second),
            format!(
                "[{0}{1}] 2 of 4 points, 2 at work",
                "#".repeat(15),
                "-".repeat(15)
            )
        );
        assert!(bar(2, 1, 4, 1, second).ends_with("1 at work, about 1 s left"));
        assert!(bar(2, 2, 4, 0, second).starts_with(&format!("[{}] 4 of 4", "#".repeat(30))));
        assert!(bar(0, 0, 0, 0, second).ends_with("0 of 0 points, 0 at work"));
    }
}
