//! `syscall` of the C library, by which the standard library of Rust, and that of C++ in parts, wait
//! for a word of memory with a time limit.

use std::ffi::{c_int, c_long};
use std::time::Duration;

use hostwire_virtual::Clock;
use libc::timespec;

use crate::limit::{Look, Seen, real_moment, until, wait};
use crate::{errno, fail, from_timespec, model, real};

/// As of the C library, which gets all calls except waits for a word of memory with a time limit.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    let limit = match number {
        libc::SYS_futex => limit(b as c_int, d),
        _ => None,
    };
    let Some((clock, limit)) = limit else {
        // SAFETY: as the caller promises.
        return unsafe { real::syscall(number, a, b, c, d, e, f) };
    };
    let command = b as c_int & libc::FUTEX_CMD_MASK;
    // By the monotonic clock, and until a moment.
    let bitset = c_long::from(libc::FUTEX_WAIT_BITSET | (b as c_int & libc::FUTEX_PRIVATE_FLAG));
    let bits = match command {
        libc::FUTEX_WAIT => c_long::from(libc::FUTEX_BITSET_MATCH_ANY),
        _ => f,
    };
    let ended = wait(clock, limit, &mut |look| {
        let moment = real_moment(look.time());
        let place = (&raw const moment).expose_provenance() as c_long;
        // SAFETY: as the caller promises, with a moment in a local variable.
        let ended = unsafe { real::syscall(libc::SYS_futex, a, bitset, c, place, e, bits) };
        let has_timed_out = ended < 0 && errno() == libc::ETIMEDOUT;
        match look {
            // A thread that waits so looks at the word again.
            Look::Meanwhile(_) if has_timed_out => Seen::Again(0),
            _ => Seen::something_if(!has_timed_out, ended),
        }
    });
    ended.unwrap_or_else(|| fail(libc::ETIMEDOUT).into())
}

/// The limit of a wait for a word, in a process with a model.
fn limit(operation: c_int, time: c_long) -> Option<(&'static Clock, Duration)> {
    let time = std::ptr::with_exposed_provenance::<timespec>(time as usize);
    if time.is_null() {
        return None;
    }
    match operation & libc::FUTEX_CMD_MASK {
        libc::FUTEX_WAIT => {
            // SAFETY: not null, and valid as the caller promises.
            let limit = from_timespec(unsafe { time.read() })?;
            Some((model()?, limit))
        }
        libc::FUTEX_WAIT_BITSET => {
            let id = match operation & libc::FUTEX_CLOCK_REALTIME {
                0 => libc::CLOCK_MONOTONIC,
                _ => libc::CLOCK_REALTIME,
            };
            until(id, time)
        }
        _ => None,
    }
}
