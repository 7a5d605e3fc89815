//! The end of a job that cannot go on: a clear text, then everybody stops.
//!
//! OpenSHMEM routines have no way to report most errors, so a PE that cannot do what it
//! was asked says why and takes the job with it.

use core::fmt::Display;
use std::io::Write;

use crate::runtime::{self, State};

/// Ends the job because of `why`, which happened in `what`.
#[cold]
#[inline(never)]
pub(crate) fn fatal(what: &str, why: impl Display) -> ! {
    let text = format!("{what}: {why}");
    say(&text);
    // The launcher says who and when; why was just said.
    end(1, what)
}

/// `what` was called before `shmem_init`, after `shmem_finalize`, or in a child of a PE.
#[cold]
#[inline(never)]
pub(crate) fn not_in_use(what: &str) -> ! {
    match runtime::state() {
        State::Forked => fatal(what, IN_A_CHILD),
        State::Finalized => fatal(what, "called after shmem_finalize"),
        State::Fresh | State::Active => fatal(what, "called before shmem_init"),
    }
}

/// What is said of a call in a child that the program has forked.
const IN_A_CHILD: &str = "called in a child that a PE has forked: it is no PE of the job, and cannot \
                          use the library";

/// Writes a line that says who says it to standard error.
pub(crate) fn say(text: &str) {
    let who = match runtime::any() {
        Some(runtime) => format!("hostwire: PE {}: ", runtime.attachment.pe()),
        None => "hostwire: ".into(),
    };
    // In one piece: other PEs write, too. A closed stderr is no reason to do anything.
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
