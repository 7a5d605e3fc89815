//! The functions of the C library that this one stands before. A thread that waits in one may be cancelled, which
//! unwinds it.

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{
    clockid_t, epoll_event, fd_set, nfds_t, pollfd, pthread_cond_t, pthread_mutex_t, sem_t,
    sigset_t, timespec, timeval,
};

/// Makes a function that calls the one of the same name behind this library. The value that it returns if there is none
/// is at its end.
macro_rules! behind {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty, or $missing:expr;)+) => {
        $(
            /// As that of the C library.
            ///
            /// # Safety
            /// As that of the C library.
            pub unsafe fn $name($($argument: $type),*) -> $result {
                static PLACE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                let mut place = PLACE.load(Ordering::Relaxed);
                if place.is_null() {
                    let name = concat!(stringify!($name), "\0");
                    // SAFETY: a name that ends in a zero.
                    place = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) };
                    PLACE.store(place, Ordering::Relaxed);
                }
                if place.is_null() {
                    return $missing;
                }
                type Function = unsafe extern "C-unwind" fn($($type),*) -> $result;
                // SAFETY: the C library's function of this name has these arguments.
                let function = unsafe { std::mem::transmute::<*mut c_void, Function>(place) };
                // SAFETY: as the caller promises.
                unsafe { function($($argument),*) }
            }
        )+
    };
}

/// For functions that return -1 and say why in `errno`.
fn none() -> c_int {
    crate::fail(libc::ENOSYS)
}

behind! {
    fn poll(fds: *mut pollfd, count: nfds_t, limit_ms: c_int) -> c_int, or none();
    fn ppoll(fds: *mut pollfd, count: nfds_t, limit: *const timespec, mask: *const sigset_t)
        -> c_int, or none();
    fn select(
        count: c_int,
        read: *mut fd_set,
        write: *mut fd_set,
        except: *mut fd_set,
        limit: *mut timeval,
    ) -> c_int, or none();
    fn pselect(
        count: c_int,
        read: *mut fd_set,
        write: *mut fd_set,
        except: *mut fd_set,
        limit: *const timespec,
        mask: *const sigset_t,
    ) -> c_int, or none();
    fn epoll_pwait(
        epoll: c_int,
        events: *mut epoll_event,
        count: c_int,
        limit_ms: c_int,
        mask: *const sigset_t,
    ) -> c_int, or none();
    fn clock_nanosleep(
        id: clockid_t,
        flags: c_int,
        time: *const timespec,
        left: *mut timespec,
    ) -> c_int, or libc::ENOSYS;
    fn pthread_cond_clockwait(
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        id: clockid_t,
        until: *const timespec,
    ) -> c_int, or libc::ENOSYS;
    fn pthread_cond_timedwait(
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        until: *const timespec,
    ) -> c_int, or libc::ENOSYS;
    fn pthread_mutex_clocklock(
        mutex: *mut pthread_mutex_t,
        id: clockid_t,
        until: *const timespec,
    ) -> c_int, or libc::ENOSYS;
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec)
        -> c_int, or libc::ENOSYS;
    fn sem_clockwait(sem: *mut sem_t, id: clockid_t, until: *const timespec) -> c_int, or none();
    fn sem_timedwait(sem: *mut sem_t, until: *const timespec) -> c_int, or none();
    fn syscall(
        number: c_long,
        a: c_long,
        b: c_long,
        c: c_long,
        d: c_long,
        e: c_long,
        f: c_long,
    ) -> c_long, or none().into();
}

/// The monotonic time of the system.
pub fn now() -> timespec {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let place = (&raw mut now).expose_provenance() as c_long;
    // SAFETY: clock_gettime(2), which writes to a local variable.
    unsafe {
        syscall(
            libc::SYS_clock_gettime,
            libc::CLOCK_MONOTONIC.into(),
            place,
            0,
            0,
            0,
            0,
        )
    };
    now
}
