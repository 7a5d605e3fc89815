//! Signals to the launcher, as something to poll.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hostwire_transport::os::signals::unblock;
use rustix::process::Signal;
use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGXCPU,
};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// Signals that inform the program, for example that its time is almost over: batch systems send them to whatever they
/// have started. The PEs get them.
pub const PASSED_ON: [i32; 4] = [SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

/// The signals that the launcher handles.
pub struct Signals {
    delivery: SignalDelivery<UnixStream, SignalOnly>,
}

impl Signals {
    /// Begins to handle them, even if they were blocked. SIGHUP, and those that are passed on, stay ignored if they
    /// were (nohup).
    pub fn new() -> io::Result<Signals> {
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        write.set_nonblocking(true)?;
        let mut signals = vec![SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGTSTP];
        let unless_ignored = [SIGHUP].into_iter().chain(PASSED_ON);
        signals.extend(unless_ignored.filter(|signal| !is_ignored_here(*signal)));
        // A write beyond the limit of file sizes then returns an error.
        disregard(&[Signal::XFSZ.as_raw()])?;
        let delivery = SignalDelivery::with_pipe(read, write, SignalOnly, &signals)?;
        unblock(&signals);
        Ok(Signals { delivery })
    }

    /// The descriptor to poll for input.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// The signals that came since the last call.
    pub fn pending(&mut self) -> Vec<i32> {
        self.delivery.pending().collect()
    }
}

/// This process ignores these signals from now on; programs that it starts do not.
pub fn disregard(signals: &[i32]) -> io::Result<()> {
    let unheeded = Arc::new(AtomicBool::new(false));
    for signal in signals {
        signal_hook::flag::register(*signal, Arc::clone(&unheeded))?;
    }
    Ok(())
}

/// Whether this process ignores `signal`: as it was started, if nothing has changed that.
pub fn is_ignored_here(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    is_ignored(&status, signal)
}

/// Whether `SigIgn` of /proc/self/status has `signal`.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_seen() {
        assert!(is_ignored(
            "SigBlk:\t0\nSigIgn:\t0000000000000001\n",
            SIGHUP
        ));
        assert!(!is_ignored("SigIgn:\t0000000000000002\n", SIGHUP));
        assert!(is_ignored("SigIgn:\t0000000000000002\n", SIGINT));
        assert!(!is_ignored("", SIGHUP));
    }
}
