//! Waits for conditions, locks and semaphores of threads.

use std::ffi::c_int;

use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, sem_t, timespec};

use crate::limit::{Look, Seen, clock_of, real_moment, timed_out, until, wait};
use crate::real;

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_timedwait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    moment: *const timespec,
) -> c_int {
    let id = clock_of(moment);
    match until(id, moment) {
        // SAFETY: as the caller promises.
        None => unsafe { real::pthread_cond_timedwait(cond, mutex, moment) },
        // SAFETY: as the caller promises.
        Some(_) => unsafe { pthread_cond_clockwait(cond, mutex, id, moment) },
    }
}

/// As of the C library. It returns without a signal, as it may, when other threads have computed:
/// they may have signalled while this one was about to take the lock back.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_clockwait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    id: clockid_t,
    moment: *const timespec,
) -> c_int {
    let Some((clock, limit)) = until(id, moment) else {
        // SAFETY: as the caller promises.
        return unsafe { real::pthread_cond_clockwait(cond, mutex, id, moment) };
    };
    let ended = wait(clock, limit, &mut |look| {
        let moment = real_moment(look.time());
        let id = libc::CLOCK_MONOTONIC;
        // SAFETY: as the caller promises; the moment is a local variable.
        let ended = unsafe { real::pthread_cond_clockwait(cond, mutex, id, &raw const moment) };
        match (ended, look) {
            (libc::ETIMEDOUT, Look::Meanwhile(_)) => Seen::Again(0),
            (libc::ETIMEDOUT, _) => Seen::Nothing,
            (ended, _) => Seen::Something(ended),
        }
    });
    ended.unwrap_or(libc::ETIMEDOUT)
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_mutex_timedlock(
    mutex: *mut pthread_mutex_t,
    moment: *const timespec,
) -> c_int {
    match until(libc::CLOCK_REALTIME, moment) {
        // SAFETY: as the caller promises.
        None => unsafe { real::pthread_mutex_timedlock(mutex, moment) },
        // SAFETY: as the caller promises.
        Some(_) => unsafe { pthread_mutex_clocklock(mutex, libc::CLOCK_REALTIME, moment) },
    }
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_mutex_clocklock(
    mutex: *mut pthread_mutex_t,
    id: clockid_t,
    moment: *const timespec,
) -> c_int {
    let Some((clock, limit)) = until(id, moment) else {
        // SAFETY: as the caller promises.
        return unsafe { real::pthread_mutex_clocklock(mutex, id, moment) };
    };
    let ended = wait(clock, limit, &mut |look| {
        let moment = real_moment(look.time());
        let id = libc::CLOCK_MONOTONIC;
        // SAFETY: as the caller promises; the moment is a local variable.
        let ended = unsafe { real::pthread_mutex_clocklock(mutex, id, &raw const moment) };
        Seen::something_if(ended != libc::ETIMEDOUT, ended)
    });
    ended.unwrap_or(libc::ETIMEDOUT)
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_timedwait(sem: *mut sem_t, moment: *const timespec) -> c_int {
    match until(libc::CLOCK_REALTIME, moment) {
        // SAFETY: as the caller promises.
        None => unsafe { real::sem_timedwait(sem, moment) },
        // SAFETY: as the caller promises.
        Some(_) => unsafe { sem_clockwait(sem, libc::CLOCK_REALTIME, moment) },
    }
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_clockwait(
    sem: *mut sem_t,
    id: clockid_t,
    moment: *const timespec,
) -> c_int {
    let Some((clock, limit)) = until(id, moment) else {
        // SAFETY: as the caller promises.
        return unsafe { real::sem_clockwait(sem, id, moment) };
    };
    let ended = wait(clock, limit, &mut |look| {
        let moment = real_moment(look.time());
        let id = libc::CLOCK_MONOTONIC;
        // SAFETY: as the caller promises; the moment is a local variable.
        let ended = unsafe { real::sem_clockwait(sem, id, &raw const moment) };
        let has_timed_out = ended < 0 && crate::errno() == libc::ETIMEDOUT;
        Seen::something_if(!has_timed_out, ended)
    });
    ended.unwrap_or_else(timed_out)
}
