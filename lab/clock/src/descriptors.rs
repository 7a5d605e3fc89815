//! Waits for descriptors. Without a limit they are those of the C library.

use std::ffi::c_int;
use std::ptr;
use std::time::Duration;

use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};

use crate::limit::{Look, Seen, wait};
use crate::{from_timespec, model, real, sleep_for, to_timespec};

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn poll(fds: *mut pollfd, count: nfds_t, limit_ms: c_int) -> c_int {
    let limit = u64::try_from(limit_ms).ok().map(Duration::from_millis);
    let limit = limit.filter(|_| model().is_some());
    match limit {
        // SAFETY: as the caller promises.
        None => unsafe { real::poll(fds, count, limit_ms) },
        // SAFETY: as the caller promises.
        Some(limit) => unsafe { poll_for(fds, count, limit, ptr::null()) },
    }
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    limit: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as the caller promises.
    let asked = unsafe { limit.as_ref() }.filter(|_| model().is_some());
    match asked.copied().and_then(from_timespec) {
        // SAFETY: as the caller promises.
        None => unsafe { real::ppoll(fds, count, limit, mask) },
        // SAFETY: as the caller promises.
        Some(limit) => unsafe { poll_for(fds, count, limit, mask) },
    }
}

/// As of the C library, where programs are compiled with `_FORTIFY_SOURCE`.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __poll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    limit_ms: c_int,
    fds_bytes: usize,
) -> c_int {
    check(count, fds_bytes);
    // SAFETY: as the caller promises.
    unsafe { poll(fds, count, limit_ms) }
}

/// As of the C library, where programs are compiled with `_FORTIFY_SOURCE`.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    limit: *const timespec,
    mask: *const sigset_t,
    fds_bytes: usize,
) -> c_int {
    check(count, fds_bytes);
    // SAFETY: as the caller promises.
    unsafe { ppoll(fds, count, limit, mask) }
}

/// Ends the process, as the C library does, where a program names more descriptors than it has.
fn check(count: nfds_t, fds_bytes: usize) {
    unsafe extern "C" {
        fn __chk_fail() -> !;
    }
    if ((fds_bytes / size_of::<pollfd>()) as nfds_t) < count {
        // SAFETY: it has no preconditions.
        unsafe { __chk_fail() }
    }
}

/// # Safety
/// As of the C library.
unsafe fn poll_for(
    fds: *mut pollfd,
    count: nfds_t,
    limit: Duration,
    mask: *const sigset_t,
) -> c_int {
    if count == 0 && mask.is_null() && sleep_for(limit) {
        return 0;
    }
    wait_in_model(limit, &mut |look| {
        let limit = to_timespec(look.time());
        // SAFETY: as the caller promises; the limit is a local variable.
        unsafe { real::ppoll(fds, count, &raw const limit, mask) }
    })
}

/// Waits for what `look` returns, unless that is 0. 0 if the limit has passed.
fn wait_in_model(limit: Duration, look: &mut dyn FnMut(Look) -> c_int) -> c_int {
    let Some(clock) = model() else {
        return look(Look::Whole(limit));
    };
    // Descriptors, or an error.
    let ended = wait(clock, limit, &mut |how| {
        let count = look(how);
        Seen::something_if(count != 0, count)
    });
    ended.unwrap_or(0)
}

/// As of the C library: the remaining time is left in `limit`.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    limit: *mut timeval,
) -> c_int {
    // SAFETY: as the caller promises.
    let asked = unsafe { limit.as_ref() };
    let asked = asked.and_then(|limit| {
        let micros = u64::try_from(limit.tv_usec).ok()?;
        let secs = Duration::from_secs(u64::try_from(limit.tv_sec).ok()?);
        Some(secs + Duration::from_micros(micros))
    });
    let (Some(asked), Some(clock)) = (asked, model()) else {
        // SAFETY: as the caller promises.
        return unsafe { real::select(count, read, write, except, limit) };
    };
    let until = clock.time().saturating_add(asked);
    // SAFETY: as the caller promises.
    let found = unsafe { select_for(count, [read, write, except], asked, ptr::null()) };
    let left = until.saturating_sub(clock.time());
    let left = timeval {
        tv_sec: left.as_secs() as libc::time_t,
        tv_usec: libc::suseconds_t::from(left.subsec_micros() as i32),
    };
    // SAFETY: it was read above, and Linux writes it too.
    unsafe { limit.write(left) };
    found
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    limit: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as the caller promises.
    let asked = unsafe { limit.as_ref() }.filter(|_| model().is_some());
    match asked.copied().and_then(from_timespec) {
        // SAFETY: as the caller promises.
        None => unsafe { real::pselect(count, read, write, except, limit, mask) },
        // SAFETY: as the caller promises.
        Some(limit) => unsafe { select_for(count, [read, write, except], limit, mask) },
    }
}

/// Up to this many descriptors every set has room for.
const SET_BITS: usize = 1024;

/// How many of `count` descriptors the kernel looks at: no more than its table has room for. A set
/// need not have more.
fn seen_of(count: usize) -> usize {
    if count <= SET_BITS {
        return count;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("FDSize:"));
    let size = size.and_then(|size| size.trim().parse().ok());
    count.min(size.unwrap_or(SET_BITS))
}

/// # Safety
/// As of the C library.
unsafe fn select_for(
    count: c_int,
    sets: [*mut fd_set; 3],
    limit: Duration,
    mask: *const sigset_t,
) -> c_int {
    let is_sleep = sets.iter().all(|set| set.is_null()) && mask.is_null();
    if is_sleep && sleep_for(limit) {
        return 0;
    }
    // Each look overwrites what was asked for: so many words of each set.
    let words = seen_of(usize::try_from(count).unwrap_or(0)).div_ceil(64);
    let asked = sets.map(|set| {
        let words = (0..words).filter(|_| !set.is_null());
        // SAFETY: a set has a bit for each descriptor that the kernel looks at, in words.
        words
            .map(|word| unsafe { set.cast::<u64>().wrapping_add(word).read() })
            .collect::<Vec<u64>>()
    });
    wait_in_model(limit, &mut |look| {
        for (set, asked) in sets.iter().zip(&asked) {
            for (word, value) in asked.iter().enumerate() {
                // SAFETY: as above.
                unsafe { set.cast::<u64>().wrapping_add(word).write(*value) };
            }
        }
        let limit = to_timespec(look.time());
        let [read, write, except] = sets;
        // SAFETY: as the caller promises; the limit is a local variable.
        unsafe { real::pselect(count, read, write, except, &raw const limit, mask) }
    })
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    limit_ms: c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { epoll_pwait(epoll, events, count, limit_ms, ptr::null()) }
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    limit_ms: c_int,
    mask: *const sigset_t,
) -> c_int {
    let limit = u64::try_from(limit_ms).ok().map(Duration::from_millis);
    match limit.filter(|_| model().is_some()) {
        // SAFETY: as the caller promises.
        None => unsafe { real::epoll_pwait(epoll, events, count, limit_ms, mask) },
        // SAFETY: as the caller promises.
        Some(limit) => unsafe { epoll_for(epoll, (events, count), limit, mask) },
    }
}

/// As of the C library.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    limit: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: as the caller promises.
    match unsafe { limit.as_ref() }.copied().map(from_timespec) {
        // SAFETY: as the caller promises.
        None => unsafe { real::epoll_pwait(epoll, events, count, -1, mask) },
        Some(None) => crate::fail(libc::EINVAL),
        // SAFETY: as the caller promises.
        Some(Some(limit)) => unsafe { epoll_for(epoll, (events, count), limit, mask) },
    }
}

/// # Safety
/// As of the C library.
unsafe fn epoll_for(
    epoll: c_int,
    (events, count): (*mut epoll_event, c_int),
    limit: Duration,
    mask: *const sigset_t,
) -> c_int {
    wait_in_model(limit, &mut |look| {
        let limit_ms = look.time().as_nanos().div_ceil(1_000_000);
        let limit_ms = c_int::try_from(limit_ms).unwrap_or(c_int::MAX);
        // Without a time the kernel does not look for signals that the mask lets through.
        let limit_ms = limit_ms.max(c_int::from(!mask.is_null()));
        // SAFETY: as the caller promises.
        unsafe { real::epoll_pwait(epoll, events, count, limit_ms, mask) }
    })
}
