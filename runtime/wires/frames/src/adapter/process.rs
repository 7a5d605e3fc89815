//! The process of an adapter.
//!
//! The first PE of a host forks it when it joins its job: any program may be a PE, and no other executable
//! is needed. From then on it shares with the program only what PEs share: it closes the descriptors of the
//! program, blocks signals, has a session of its own, and may use any core. It is no child of the PE, so
//! that a program that waits for its children does not find it.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use hostwire_transport::error::TransportError;

/// The name in a list of processes: 15 bytes at most.
pub(super) const NAME: &str = "hw-adapter";

/// Makes the process. Returns true in the adapter and false in the PE. The adapter keeps only these
/// descriptors of the PE.
///
/// # Errors
/// [`TransportError::Environment`] if it cannot be made.
pub(super) fn is_adapter(kept: &[BorrowedFd<'_>]) -> Result<bool, TransportError> {
    let failed =
        |e: std::io::Error| TransportError::environment("starting the adapter of this host", e);
    // SAFETY: the child runs only what `detach` and the adapter do. It is a copy of this thread alone: what
    // they need of locks that other threads may hold is the allocator, which the C library unlocks in
    // the child.
    match unsafe { libc::fork() } {
        -1 => Err(failed(std::io::Error::last_os_error())),
        0 => match detach(kept) {
            true => Ok(true),
            false => end(),
        },
        child => {
            let mut status = 0;
            // SAFETY: it writes the status, which outlives the call. The child ends at once.
            while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1
                && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
            {
            }
            match libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == DETACHED {
                true => Ok(false),
                // Another thread that waits for all children may have taken the status.
                false if status == 0 => Ok(false),
                false => Err(failed(std::io::Error::other("it ended at once"))),
            }
        }
    }
}

/// Ends the process of the adapter without the program's exit handlers, which belong to the PE.
pub(super) fn end() -> ! {
    // SAFETY: it has no preconditions, and does not return.
    unsafe { libc::_exit(0) }
}

/// The exit status of the intermediate process.
const DETACHED: i32 = 9;

/// Runs in the child. Returns whether this is the adapter, which is not a child of the PE any more.
fn detach(kept: &[BorrowedFd<'_>]) -> bool {
    // SAFETY: no preconditions.
    unsafe { libc::setsid() };
    // SAFETY: as in `is_adapter`.
    match unsafe { libc::fork() } {
        0 => {}
        -1 => return false,
        // SAFETY: no preconditions; it does not return.
        _ => unsafe { libc::_exit(DETACHED) },
    }
    hear_no_signal();
    close_all_but(kept);
    use_any_core();
    let name = std::ffi::CString::new(NAME).unwrap_or_default();
    // SAFETY: it reads a string that ends.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    true
}

/// The end of a job ends the PEs. The adapter sees that, sends the remaining stores, and ends.
fn hear_no_signal() {
    // SAFETY: all-zero bytes are a `sigset_t`.
    let mut all: libc::sigset_t = unsafe { core::mem::zeroed() };
    // SAFETY: it writes the set, which outlives the call.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: it reads the set; nothing is written.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, core::ptr::null_mut()) };
}

/// A process that waits for the end of a pipe of the program must not wait for the adapter.
fn close_all_but(kept: &[BorrowedFd<'_>]) {
    let mut kept: Vec<RawFd> = kept.iter().map(AsRawFd::as_raw_fd).collect();
    kept.sort_unstable();
    let mut first = 0;
    for fd in kept {
        close_range(first, fd - 1);
        first = fd + 1;
    }
    close_range(first, RawFd::MAX);
    // Output to the standard streams must not go into a socket that gets one of their numbers.
    loop {
        // SAFETY: it reads a string that ends.
        let fd = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
        if !(0..=2).contains(&fd) {
            close_range(fd.max(0), fd);
            break;
        }
    }
}

fn close_range(first: RawFd, last: RawFd) {
    if first < 0 || first > last {
        return;
    }
    // SAFETY: the owners of these descriptors are values of the PE, which the adapter never uses or drops.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if closed == -1 {
        // Linux before 5.9.
        // SAFETY: no preconditions.
        let open_max = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
        let end = RawFd::try_from(open_max).unwrap_or(1024);
        for fd in first..=last.min(end) {
            // SAFETY: as above.
            unsafe { libc::close(fd) };
        }
    }
}

/// The PE may be bound to a core; this core belongs to the PE.
fn use_any_core() {
    let mut all = rustix::thread::CpuSet::new();
    for cpu in 0..rustix::thread::CpuSet::MAX_CPU {
        all.set(cpu);
    }
    // The kernel limits this to the cores that the job may use.
    let _ = rustix::thread::sched_setaffinity(None, &all);
}
