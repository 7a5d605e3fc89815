//! The boot log.

use std::fmt;

use crate::engine::Ps;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When.
    pub time: Ps,
    /// Which system wrote it.
    pub system: usize,
    /// What.
    pub text: String,
}

/// The console output of firmware and operating system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootLog {
    /// The lines, in order.
    pub lines: Vec<LogLine>,
}

impl BootLog {
    pub(super) fn push(&mut self, time: Ps, system: usize, text: String) {
        self.lines.push(LogLine { time, system, text });
    }

    /// The first line that contains `text`.
    pub fn find(&self, text: &str) -> Option<&LogLine> {
        self.lines.iter().find(|line| line.text.contains(text))
    }
}

impl fmt::Display for BootLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for LogLine { time, system, text } in &self.lines {
            writeln!(
                f,
                "[{:>11.3} us] system {system}: {text}",
                time.as_ns() / 1e3
            )?;
        }
        Ok(())
    }
}
