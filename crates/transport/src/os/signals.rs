//! Signals are the program's: threads of the library must not take them.
//!
//! A signal for the process goes to any thread that does not block it, so a handler would run in a
//! thread that the program does not know, and one that the program has blocked, to wait for it,
//! would end the process. Threads inherit the blocked signals of the thread that starts them.

use core::mem::MaybeUninit;

use libc::c_int;

/// Signals that a thread causes itself: blocking them has no meaning.
const FAULTS: [c_int; 7] = [
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGTRAP,
];
/// By which users and launchers end a process that waits.
pub const ENDINGS: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// Does `start` with all signals blocked, but for faults and `others`.
pub fn blocked<R>(others: &[c_int], start: impl FnOnce() -> R) -> R {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: fills the set, which is then initialised.
    unsafe { libc::sigfillset(set.as_mut_ptr()) };
    for signal in FAULTS.iter().chain(others) {
        // SAFETY: an initialised set, and a number of a signal.
        unsafe { libc::sigdelset(set.as_mut_ptr(), *signal) };
    }
    // SAFETY: an initialised set, and room for another one; it fails for a wrong first argument only.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, set.as_ptr(), before.as_mut_ptr()) };
    let result = start();
    // SAFETY: what was there before, as stored above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), core::ptr::null_mut()) };
    result
}

/// Lets this thread take these signals, also if whoever started the process has blocked them: it inherits that.
pub fn unblock(signals: &[c_int]) {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: empties the set, which is then initialised.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in signals {
        // SAFETY: an initialised set; a number of no signal is refused.
        unsafe { libc::sigaddset(set.as_mut_ptr(), *signal) };
    }
    // SAFETY: an initialised set; it fails for a wrong first argument only.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), core::ptr::null_mut()) };
}
