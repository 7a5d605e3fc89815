//! `libhostwire_clock.so`: the clocks of a program in virtual time.
//!
//! `hostwire run --cluster` has it loaded into programs before the C library (`LD_PRELOAD`), so that
//! its functions take the place of those that tell the time and of those that sleep. They use the
//! clock of the simulator, which the PE finds by an inherited descriptor. In a process without one
//! they do what the C library does.
//!
//! All clocks run alike, those of processor time too: what a program computes takes no time of its
//! own, unless the run measures it. Dates begin at 2000-01-01.
//!
//! | file | |
//! |---|---|
//! | this one | clocks and sleeps |
//! | `limit.rs` | how a wait with a time limit waits |
//! | `descriptors.rs`, `locks.rs`, `futex.rs` | what a program can wait for |
//! | `real.rs` | the functions of the C library behind those here |

mod descriptors;
mod futex;
mod limit;
mod locks;
mod real;

use std::cell::Cell;
use std::ffi::{c_int, c_long, c_uint};
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

use hostwire_virtual::{Clock, EPOCH_S, Who};
use libc::{clockid_t, time_t, timespec, timeval, useconds_t};

static CLOCK: OnceLock<Option<Clock>> = OnceLock::new();

/// Runs when the library is loaded, before the program: later, looking for the clock could need the
/// time.
extern "C" fn load() {
    let clock = CLOCK.get_or_init(|| Clock::inherited().ok().flatten());
    if clock.is_some() {
        buffer_lines();
    }
}

/// Standard output leaves line by line, as to a terminal: so each line has the time at which the
/// program wrote it, and not that at which a buffer was full.
fn buffer_lines() {
    unsafe extern "C" {
        static mut stdout: *mut libc::FILE;
    }
    // SAFETY: the C library sets it before it initialises libraries that depend on it, such as this one, and no other
    // thread runs yet.
    let output = unsafe { stdout };
    if !output.is_null() {
        // SAFETY: it is the C library's open stream, on which nothing has been written yet; with no
        // buffer given, the C library has its own.
        let _ = unsafe { libc::setvbuf(output, ptr::null_mut(), libc::_IOLBF, 0) };
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOAD: extern "C" fn() = load;

fn model() -> Option<&'static Clock> {
    CLOCK.get().and_then(Option::as_ref)
}

/// The time by this clock of the system; nothing if it is that of something else, such as a device.
fn now(id: clockid_t) -> Option<Duration> {
    let clock = model()?;
    let begin = begin(id)?;
    match clock.who() {
        Who::Beside => look_beside(clock),
        Who::User => limit::user_goes_on(),
        Who::Alone => {}
    }
    Some(clock.now() + begin)
}

/// As [`now`], without the time that a look at the clock takes.
fn now_free(id: clockid_t) -> Option<Duration> {
    Some(model()?.time() + begin(id)?)
}

/// When the time of the model began by this clock.
fn begin(id: clockid_t) -> Option<Duration> {
    match id {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
            Some(Duration::from_secs(EPOCH_S))
        }
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_BOOTTIME
        | libc::CLOCK_PROCESS_CPUTIME_ID
        | libc::CLOCK_THREAD_CPUTIME_ID => Some(Duration::ZERO),
        _ => None,
    }
}

/// Looks of a thread beside the one that uses the job take no time, as their number depends on the host. But a loop of
/// looks must have an end: when the other thread sleeps and time stands still, a thousand looks take as long as a
/// thousand of that thread.
fn look_beside(clock: &Clock) {
    const LOOKS: u32 = 1000;
    thread_local! {
        static LOOKED: Cell<(Duration, u32)> = const { Cell::new((Duration::ZERO, 0)) };
    }
    let time = clock.time();
    LOOKED.with(|looked| match looked.get() {
        (since, count) if since == time && count + 1 < LOOKS => looked.set((time, count + 1)),
        (since, _) => {
            looked.set((time, 0));
            if since == time && clock.user_is_asleep() {
                clock.pass_until(time + Clock::look() * LOOKS);
            }
        }
    });
}

fn to_timespec(time: Duration) -> timespec {
    timespec {
        tv_sec: time.as_secs() as time_t,
        tv_nsec: c_long::from(time.subsec_nanos()),
    }
}

/// What a program asks for; nothing if it is no time.
fn from_timespec(time: timespec) -> Option<Duration> {
    let nanos = u32::try_from(time.tv_nsec).ok()?;
    let secs = u64::try_from(time.tv_sec).ok()?;
    (nanos < 1_000_000_000).then(|| Duration::new(secs, nanos))
}

fn fail(errno: c_int) -> c_int {
    // SAFETY: it has no preconditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the `errno` of this thread, which is always there.
    unsafe { *place = errno };
    -1
}

fn errno() -> c_int {
    // SAFETY: it has no preconditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the `errno` of this thread, which is always there.
    unsafe { *place }
}

/// As of the C library.
///
/// # Safety
/// `time` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(id: clockid_t, time: *mut timespec) -> c_int {
    match now(id) {
        Some(_) if time.is_null() => fail(libc::EFAULT),
        Some(now) => {
            // SAFETY: not null, and valid as the caller promises.
            unsafe { time.write(to_timespec(now)) };
            0
        }
        // SAFETY: the kernel checks the address.
        None => unsafe { libc::syscall(libc::SYS_clock_gettime, id, time) as c_int },
    }
}

/// As of the C library.
///
/// # Safety
/// `time` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut libc::c_void) -> c_int {
    match now(libc::CLOCK_REALTIME) {
        Some(now) => {
            let value = timeval {
                tv_sec: now.as_secs() as time_t,
                tv_usec: libc::suseconds_t::from(now.subsec_micros()),
            };
            if !time.is_null() {
                // SAFETY: not null, and valid as the caller promises.
                unsafe { time.write(value) };
            }
            0
        }
        // SAFETY: the kernel checks the addresses.
        None => unsafe { libc::syscall(libc::SYS_gettimeofday, time, zone) as c_int },
    }
}

/// As of the C library.
///
/// # Safety
/// `time` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(time: *mut time_t) -> time_t {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a local variable.
    unsafe { clock_gettime(libc::CLOCK_REALTIME, ptr::from_mut(&mut now)) };
    if !time.is_null() {
        // SAFETY: not null, and valid as the caller promises.
        unsafe { time.write(now.tv_sec) };
    }
    now.tv_sec
}

/// As of the C library: `base` is `TIME_UTC`, 1.
///
/// # Safety
/// `time` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timespec_get(time: *mut timespec, base: c_int) -> c_int {
    if base != 1 {
        return 0;
    }
    // SAFETY: as the caller promises.
    match unsafe { clock_gettime(libc::CLOCK_REALTIME, time) } {
        0 => base,
        _ => 0,
    }
}

/// As of the C library: microseconds.
#[unsafe(no_mangle)]
pub extern "C" fn clock() -> libc::clock_t {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a local variable.
    unsafe { clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, ptr::from_mut(&mut now)) };
    now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
}

unsafe extern "C-unwind" {
    fn pthread_testcancel();
}

/// Lets virtual time pass. Returns whether this thread has it.
fn sleep_for(time: Duration) -> bool {
    model().is_some_and(|clock| clock.sleep(time))
}

/// As of the C library.
///
/// # Safety
/// `time` is valid for a read, `left` null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
    // SAFETY: as the caller promises.
    let status = unsafe { clock_nanosleep(libc::CLOCK_MONOTONIC, 0, time, left) };
    match status {
        0 => 0,
        errno => fail(errno),
    }
}

/// As of the C library.
///
/// # Safety
/// `time` is valid for a read, `left` null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn clock_nanosleep(
    id: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    if time.is_null() {
        return libc::EFAULT;
    }
    // SAFETY: not null, and valid as the caller promises.
    let Some(asked) = from_timespec(unsafe { time.read() }) else {
        return libc::EINVAL;
    };
    let wanted = match flags & libc::TIMER_ABSTIME {
        0 => Some(asked),
        _ => now_free(id).map(|now| asked.saturating_sub(now)),
    };
    // SAFETY: as the caller promises.
    let real = |id, flags, time| unsafe { real::clock_nanosleep(id, flags, time, left) };
    if model().is_some() {
        // SAFETY: it has no conditions. This sleep may end at once, but is still a cancellation point.
        unsafe { pthread_testcancel() };
    }
    match (model(), wanted) {
        (Some(_), Some(wanted)) if sleep_for(wanted) => 0,
        // A thread beside the one that uses the job.
        (Some(clock), Some(wanted)) => {
            let slept = limit::wait(clock, wanted, &mut |look| {
                let time = to_timespec(look.time());
                let errno = real(libc::CLOCK_MONOTONIC, 0, &raw const time);
                limit::Seen::something_if(errno != 0, errno)
            });
            slept.unwrap_or(0)
        }
        _ => real(id, flags, time),
    }
}

/// As of the C library.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn usleep(time_us: useconds_t) -> c_int {
    let time = to_timespec(Duration::from_micros(time_us.into()));
    // SAFETY: a local variable, and nothing to write to.
    unsafe { nanosleep(&raw const time, ptr::null_mut()) }
}

/// As of the C library.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn sleep(time_s: c_uint) -> c_uint {
    let mut left = to_timespec(Duration::from_secs(time_s.into()));
    let time = left;
    // SAFETY: two local variables.
    match unsafe { nanosleep(&raw const time, &raw mut left) } {
        0 => 0,
        _ => c_uint::try_from(left.tv_sec).unwrap_or(0),
    }
}
