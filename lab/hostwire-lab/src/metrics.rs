//! Figures that programs print, and the jobs that print them.

use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use hostwire_sim::experiments::file::Metric;
use hostwire_transport::os::process::die_with_parent;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Characters of a name or unit that a program prints.
const WORD_CHARS_MAX: usize = 40;
/// Values that are taken from what a program prints.
const METRICS_MAX: usize = 64;

/// How often it is looked whether a job is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// After this time a launcher that was asked to end is killed, and its warden ends the job. It gives PEs 2 s.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a job without standard input, and returns what it has printed. It ends with this process,
/// however that ends, and when `stop` says so. Call it on the main thread: the job ends with the
/// thread that started it.
///
/// # Errors
/// What it has said instead, if it failed.
pub fn printed(command: &mut Command, stop: &dyn Fn() -> bool) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot be run: {error}");
    die_with_parent(command);
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(failed)?;
    let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
    let (done, ended) = mpsc::channel();
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || done.send(child.wait_with_output()));
        let mut asked: Option<Instant> = None;
        let mut is_killed = false;
        let tell = |signal| {
            if let Ok(handle) = &handle {
                let _ = pidfd_send_signal(handle, signal);
            }
        };
        loop {
            match ended.recv_timeout(LOOK) {
                Ok(ended) => return ended.map_err(failed),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("cannot be waited for".to_owned());
                }
            }
            match asked {
                // Its launcher ends all that it has started.
                None if stop() => {
                    asked = Some(Instant::now());
                    tell(Signal::TERM);
                }
                Some(since) if !is_killed && since.elapsed() > PATIENCE => {
                    is_killed = true;
                    tell(Signal::KILL);
                }
                _ => {}
            }
        }
    })?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(said.trim().trim_start_matches("hostwire: ").to_owned());
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

/// The figures that a program prints: lines such as `latency: 12.5 ns`. If a name comes several times, as each PE
/// prints it, the first one counts.
pub fn of(output: &str) -> Vec<Metric> {
    let mut found: Vec<Metric> = Vec::new();
    for metric in output.lines().filter_map(metric) {
        if found.len() < METRICS_MAX && !found.iter().any(|known| known.name == metric.name) {
            found.push(metric);
        }
    }
    found
}

fn metric(line: &str) -> Option<Metric> {
    let (name, rest) = line.split_once(':')?;
    let is_name = |text: &str| {
        let is_part = |part: char| part.is_ascii_alphanumeric() || "_-".contains(part);
        (1..=WORD_CHARS_MAX).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.chars().all(is_part)
    };
    let mut words = rest.split_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    let unit = words.next().unwrap_or_default();
    let fits = is_name(name) && value.is_finite() && unit.len() <= WORD_CHARS_MAX;
    (fits && words.next().is_none()).then(|| Metric {
        name: name.to_owned().into(),
        value,
        unit: unit.to_owned().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_name_a_value_and_a_unit_are_metrics() {
        let output = "PE 0 says: 5 words\nlatency: 12.5 ns\nupdates: 7\nlatency: 99 ns\n\
                      time: soon\nrate: inf GB/s\nnote: 5 of 6 parts\n: 3\n";
        let found = of(output);
        let found: Vec<_> = found
            .iter()
            .map(|m| (&*m.name, m.value, &*m.unit))
            .collect();
        assert_eq!(found, [("latency", 12.5, "ns"), ("updates", 7.0, "")]);
    }
}
