//! Copies of this process, as a program makes that forks. For tests.

use std::time::{Duration, Instant};

use super::pe::AREA;
use super::{Case, Testbed, run};
use crate::error::TransportError;
use crate::fork_guard::ProcessWords;

/// How a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// By the C library, which runs its handlers and repairs its own locks.
    Fork,
    /// By the bare system call, which no library notices.
    Clone,
}

impl Copying {
    /// Every kind of copy that this machine lets us detect: under some emulators
    /// [`Clone`](Self::Clone) cannot be detected.
    ///
    /// # Panics
    /// If there is no memory for the test.
    pub fn kinds() -> &'static [Self] {
        let words = ProcessWords::new(1).expect("memory that is kept from children");
        match words.are_wiped_by_kernel() {
            true => &[Self::Fork, Self::Clone],
            false => &[Self::Fork],
        }
    }
}

/// For a copy that waits for a lock without an owner.
const LIMIT: Duration = Duration::from_secs(60);
/// The status of a copy that panicked.
const PANICKED: i32 = 101;

/// Runs `work` in a copy of this process that has only this thread. The result is its exit
/// status, of which 8 bits are kept. Changes of private memory do not show here. The copy ends
/// without exit handlers, so nothing happens twice.
///
/// # Errors
/// The state of a copy that did not end by itself within a minute.
pub fn in_copy(how: Copying, work: impl FnOnce() -> i32) -> Result<i32, String> {
    let copied = match how {
        // SAFETY: the copy has a state of its own of everything but shared mappings, to
        // which there are no references. Locks that other threads hold stay held in it:
        // whoever takes one waits for ever, which the limit ends.
        Copying::Fork => unsafe { libc::fork() },
        Copying::Clone => {
            let no_stack = 0_usize;
            // SAFETY: without flags and with no stack of its own this is what `fork` asks of the
            // kernel: a copy with a state of its own of everything but shared mappings, to which
            // there are no references. A lock that another thread holds stays held in it; whoever
            // waits for one is ended by the limit.
            let copied =
                unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, no_stack, 0, 0, 0) };
            copied as libc::pid_t
        }
    };
    if copied == 0 {
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: ends the copy at once; nothing of it is needed any more.
        unsafe { libc::_exit(run.unwrap_or(PANICKED)) };
    }
    match copied {
        -1 => Err(std::io::Error::last_os_error().to_string()),
        child => wait(child),
    }
}

fn wait(child: libc::pid_t) -> Result<i32, String> {
    let begin = Instant::now();
    let mut status = 0;
    loop {
        let late = begin.elapsed() > LIMIT;
        if late {
            // SAFETY: our own child, which nobody else waits for.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        let flags = if late { 0 } else { libc::WNOHANG };
        // SAFETY: writes the status of our own child.
        match unsafe { libc::waitpid(child, &raw mut status, flags) } {
            0 => std::thread::sleep(Duration::from_millis(2)),
            -1 => return Err(std::io::Error::last_os_error().to_string()),
            _ if late => return Err(format!("still there after {LIMIT:?}")),
            _ if libc::WIFEXITED(status) => return Ok(libc::WEXITSTATUS(status)),
            _ => return Err(format!("ended by signal {}", libc::WTERMSIG(status))),
        }
    }
}

/// A case beside the suite, which also runs where PEs are no processes.
pub const CASE: Case = Case {
    name: "copies_are_refused",
    run: copies_of_a_pe_are_refused,
};

/// Stores of a copy of a PE are refused and arrive nowhere, and the copy ends without
/// disturbing the PE. For wires between processes: PEs of a simulation are not copied.
pub fn copies_of_a_pe_are_refused(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let (wire, to) = (&pe.wire, pe.right());
        wire.store(to, AREA, &[7; 200]).unwrap();
        let process = std::process::id();
        let refused = |got| got == Err(TransportError::Forked { pe: pe.pe, process });
        for &how in Copying::kinds() {
            let status = in_copy(how, || {
                let stores = refused(wire.store(to, AREA, &[1; 100]))
                    && refused(wire.store_word(to, AREA, 1))
                    && refused(wire.store_line(to, AREA, 1, &[1; 56]));
                let order = refused(wire.fence()) && refused(wire.quiet());
                // The copy must not wait for any PE.
                let _ = (wire.poll(), wire.is_alive(to));
                wire.give_up(to);
                wire.finish();
                i32::from(!(stores && order))
            });
            assert_eq!(status, Ok(0), "{how:?}");
        }
        pe.meet();
        assert!(pe.bytes(AREA, 200) == [7; 200]);
        pe.meet();
    });
}
