//! Ends a job that cannot go on: prints a clear text, then stops all PEs.
//!
//! OpenSHMEM routines have no way to report most errors, so a PE that cannot carry out
//! a call prints the reason and ends the job.

use core::fmt::Display;
use std::io::Write;

use crate::runtime::{self, LibraryPhase};

/// Ends the job because of `why`, which happened in `what`.
#[cold]
#[inline(never)]
pub(crate) fn fatal(what: &str, why: impl Display) -> ! {
    let text = format!("{what}: {why}");
    say(&text);
    // The launcher names the PE; the reason was printed above.
    end(1, what)
}

/// `what` was called before `shmem_init`, after `shmem_finalize`, or in a child of a PE.
#[cold]
#[inline(never)]
pub(crate) fn not_in_use(what: &str) -> ! {
    match runtime::state() {
        LibraryPhase::Forked => fatal(what, IN_A_CHILD),
        LibraryPhase::Finalized => fatal(what, "called after shmem_finalize"),
        LibraryPhase::Fresh | LibraryPhase::Active => fatal(what, "called before shmem_init"),
    }
}

/// The text for a call in a child that the program has forked.
const IN_A_CHILD: &str = "called in a child that a PE has forked: the child is not a PE of the job, and \
                          cannot use the library";

/// Writes a line, with the name of this PE, to standard error.
pub(crate) fn say(text: &str) {
    let who = match runtime::any() {
        Some(runtime) => format!("hostwire: PE {}: ", runtime.attachment.pe()),
        None => "hostwire: ".into(),
    };
    // In one piece, because other PEs also write. A closed stderr is ignored.
    let _ = std::io::stderr().write_all(format!("{who}{text}\n").as_bytes());
}

/// Ends this process and the job.
pub(crate) fn end(status: i32, why: &str) -> ! {
    // SAFETY: a null stream means all of them.
    unsafe { libc::fflush(core::ptr::null_mut()) };
    if let Some(runtime) = runtime::any() {
        // If it cannot, the others find this PE lost.
        let _ = runtime.attachment.abort(status, why);
    }
    // SAFETY: ends the process without running exit handlers, of which ours would wait.
    unsafe { libc::_exit(status) }
}
