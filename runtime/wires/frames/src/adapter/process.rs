//! The process of an adapter.
//!
//! It is forked by the first PE of a host, when that joins its job: any program may be a PE, and no
//! other file has to be found. It shares nothing with the program from then on but what PEs share:
//! it closes the descriptors of the program, hears no signal, has a session of its own, and uses any
//! core. It is no child of the PE, so that a program which waits for its children does not find it.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use hostwire_transport::error::TransportError;

/// What a list of processes shows: 15 bytes at most.
pub(super) const NAME: &str = "hw-adapter";

/// Makes the process. True in that, false in the PE. The adapter keeps these descriptors of the
/// PE, and no others.
///
/// # Errors
/// [`TransportError::Environment`] if there can be none.
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
                // Somebody who waits for all children may have had the status.
                false if status == 0 => Ok(false),
                false => Err(failed(std::io::Error::other("it ended at once"))),
            }
        }
    }
}

/// Ends the process of the adapter. What the program would do at its end is the PE's.
pub(super) fn end() -> ! {
    // SAFETY: it has no preconditions, and does not return.
    unsafe { libc::_exit(0) }
}

/// What the process in between says.
const DETACHED: i32 = 9;

/// In the child: whether it is the adapter now, and not a child of the PE any more.
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

/// Who ends the job ends the PEs; the adapter sees that, sends what is left, and ends.
fn hear_no_signal() {
    // SAFETY: all-zero bytes are a `sigset_t`.
    let mut all: libc::sigset_t = unsafe { core::mem::zeroed() };
    // SAFETY: it writes the set, which outlives the call.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: it reads the set; nothing is written.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, core::ptr::null_mut()) };
}

/// Who waits for the end of a pipe of the program must not wait for the adapter.
fn close_all_but(kept: &[BorrowedFd<'_>]) {
    let mut kept: Vec<RawFd> = kept.iter().map(AsRawFd::as_raw_fd).collect();
    kept.sort_unstable();
    let mut first = 0;
    for fd in kept {
        close_range(first, fd - 1);
        first = fd + 1;
    }
    close_range(first, RawFd::MAX);
    // What anything writes to the numbers of the standard streams must not go into a socket.
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

/// The PE may be bound to a core, which is its own.
fn use_any_core() {
    let mut all = rustix::thread::CpuSet::new();
    for cpu in 0..rustix::thread::CpuSet::MAX_CPU {
        all.set(cpu);
    }
    // The kernel keeps to what the job may use.
    let _ = rustix::thread::sched_setaffinity(None, &all);
}
