//! The line before the end of a child that touches its parent's borrowed memory.
//!
//! A child without a SIGSEGV handler of its own gets one at the fork. It only writes a line, and the signal then does
//! what it would have done without it. Programs that the child starts do not have it.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use crate::addresses::{Where, place_of};

const LINE: &[u8] =
    b"hostwire borrow: this process was forked, and touches borrowed memory of its parent, \
which it does not have: see 'hostwire borrow --help'\n";

/// Prepares the line, unless the program has a handler itself.
pub(crate) fn prepare() {
    let mut present = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null action only asks. The place for the answer is as large as one.
    let asked = unsafe { libc::sigaction(libc::SIGSEGV, core::ptr::null(), present.as_mut_ptr()) };
    if asked != 0 {
        return;
    }
    // SAFETY: all bytes are initialised, with zeros and then by the call, and all fields are
    // integers, a set of integers, or an optional function.
    let mut action = unsafe { present.assume_init() };
    if action.sa_sigaction != libc::SIG_DFL {
        return;
    }
    let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) = say;
    action.sa_sigaction = handler as usize;
    // Once; then it is the default action again.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESETHAND | libc::SA_ONSTACK;
    // SAFETY: the handler has the arguments that SA_SIGINFO promises, stays as long as the process,
    // and calls only what a signal handler may.
    unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, core::ptr::null_mut()) };
}

extern "C" fn say(signal: i32, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid `siginfo_t`, which nothing changes
    // until the handler returns.
    let info = unsafe { &*info };
    if info.si_code <= 0 {
        // It was sent, so no instruction is run again that would cause it once more.
        // SAFETY: a signal handler may send a signal. It comes when the handler returns.
        unsafe { libc::raise(signal) };
        return;
    }
    // SAFETY: a SIGSEGV of the kernel has an address.
    let address = unsafe { info.si_addr() };
    if place_of(address as usize) == Where::Abandoned {
        // SAFETY: the line is initialised, and as long as is said. A handler may write. Whether
        // anybody reads it changes nothing.
        unsafe { libc::write(2, LINE.as_ptr().cast(), LINE.len()) };
    }
}
