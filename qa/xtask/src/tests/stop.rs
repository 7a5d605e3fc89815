//! Signals that end this process. What it has started is ended first, because nobody else would end it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::Error;

const SIGNALS: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

/// The signal that has come; 0 if none has.
pub(super) struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// From now on these signals are only noted. Those that were ignored (nohup) stay ignored.
    pub(super) fn on_signals() -> Result<Self, Error> {
        let asked = Arc::new(AtomicUsize::new(0));
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        for signal in SIGNALS {
            if !is_ignored(&status, signal) {
                let noted = Arc::clone(&asked);
                signal_hook::flag::register_usize(signal, noted, number(signal))
                    .map_err(Error::Signals)?;
            }
        }
        Ok(Self(asked))
    }

    /// Whether what runs is to be ended.
    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Ends this process as the signal would have, if one has come.
    pub(super) fn obey(&self) -> Result<(), Error> {
        let asked = self.0.load(Ordering::Relaxed);
        match SIGNALS.into_iter().find(|signal| number(*signal) == asked) {
            Some(signal) => {
                signal_hook::low_level::emulate_default_handler(signal).map_err(Error::Signals)
            }
            None => Ok(()),
        }
    }
}

fn number(signal: i32) -> usize {
    signal.unsigned_abs() as usize
}

/// Whether `SigIgn` of /proc/self/status has `signal`.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nohup_ignores_is_seen() {
        let status = "SigBlk:\t0000000000004000\nSigIgn:\t0000000000000001\n";
        assert!(is_ignored(status, SIGHUP));
        assert!(!is_ignored(status, SIGTERM));
        assert!(!is_ignored("", SIGHUP));
    }
}
