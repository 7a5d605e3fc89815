//! Threads of the library.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread. It takes no signals, because signals belong to the program.
///
/// # Errors
/// The error of the system.
pub fn start<R: Send + 'static>(
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    let thread = Builder::new().name(name.into()).stack_size(stack_bytes);
    let start = || thread.spawn(work);
    #[cfg(target_os = "linux")]
    let start = || crate::os::signals::blocked(start);
    start()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The signals that this thread blocks.
    fn blocked() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        u64::from_str_radix(mask.unwrap().trim(), 16).unwrap()
    }

    #[test]
    fn it_takes_no_signals_and_who_starts_it_takes_what_it_took() {
        let before = blocked();
        let inside = start("hostwire-test", 64 << 10, blocked).unwrap();
        let inside = inside.join().unwrap();
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGUSR1, libc::SIGCHLD] {
            assert_eq!(inside >> (signal - 1) & 1, 1, "{signal}");
        }
        assert_eq!(inside >> (libc::SIGSEGV - 1) & 1, 0, "a fault is a fault");
        assert_eq!(blocked(), before);
    }
}
