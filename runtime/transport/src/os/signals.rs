//! Signals are the program's: threads of the library must not take them.
//!
//! The kernel delivers a signal for the process to any thread that does not block it. So a handler could run in a
//! thread that the program does not know. And a signal that the program has blocked, in order to wait for it, would end
//! the process. Threads inherit the blocked signals of the thread that starts them.

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
/// Signals by which users and launchers end a waiting process.
pub const ENDINGS: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// Calls `start` with all signals blocked, except faults.
pub fn blocked<R>(start: impl FnOnce() -> R) -> R {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: fills the set, which is then initialised.
    unsafe { libc::sigfillset(set.as_mut_ptr()) };
    for signal in FAULTS {
        // SAFETY: an initialised set, and a number of a signal.
        unsafe { libc::sigdelset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: an initialised set, and room for another one; it fails for a wrong first argument only.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, set.as_ptr(), before.as_mut_ptr()) };
    let result = start();
    // SAFETY: what was there before, as stored above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), core::ptr::null_mut()) };
    result
}

/// Calls `load` with all signals blocked in this thread, except faults, and then restores the signal handlers: handlers
/// that a foreign library installs in its constructors are meant for its own programs. libinfinipath, with which some
/// libfabrics are linked, makes SIGTERM end the process by `exit`, which waits for the call that it has interrupted,
/// and makes faults exit with 1. Another thread of the program may still take a signal within this call.
pub fn kept<R>(load: impl FnOnce() -> R) -> R {
    blocked(|| {
        let before: Vec<_> = (1..=libc::SIGRTMAX())
            .filter_map(|signal| Some((signal, action(signal)?)))
            .collect();
        let result = load();
        for (signal, before) in &before {
            if action(*signal).is_some_and(|now| !is_same(&now, before)) {
                // SAFETY: an action that the program had installed, or the system.
                unsafe { libc::sigaction(*signal, before, core::ptr::null_mut()) };
            }
        }
        result
    })
}

/// The action of a signal; `None` for those that the C library keeps for itself.
pub(super) fn action(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is installed, and there is room for an action.
    let asked = unsafe { libc::sigaction(signal, core::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: stored by the call, and all-zero bytes are an action before.
    (asked == 0).then(|| unsafe { action.assume_init() })
}

fn is_same(one: &libc::sigaction, other: &libc::sigaction) -> bool {
    (one.sa_sigaction, one.sa_flags) == (other.sa_sigaction, other.sa_flags)
}

/// Unblocks these signals in this thread: the process may have inherited blocked signals.
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
