//! Waits with a time limit: the limit is one of the model.

use std::cell::Cell;
use std::ffi::c_long;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostwire_transport::os::process::{others_are_asleep, process_time};
use hostwire_virtual::{Clock, Who};
use libc::{c_int, timespec};

use crate::{fail, from_timespec, model, now_free, real};

/// How to look for the event that a wait is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As it is now.
    Now,
    /// For so much real time, while other threads of the program compute.
    Meanwhile(Duration),
    /// For so much real time, which is the whole limit.
    Whole(Duration),
}

impl Look {
    /// The real time for which it looks.
    pub fn time(self) -> Duration {
        match self {
            Look::Now => Duration::ZERO,
            Look::Meanwhile(time) | Look::Whole(time) => time,
        }
    }
}

/// What a look has found.
pub enum Seen<R> {
    Nothing,
    Something(R),
    /// Nothing, and the program has to look by itself: the wait ends with this result.
    Again(R),
}

impl<R> Seen<R> {
    /// Something, if `is_there`.
    pub fn something_if(is_there: bool, what: R) -> Self {
        if is_there {
            Seen::Something(what)
        } else {
            Seen::Nothing
        }
    }

    fn found(self) -> Option<R> {
        match self {
            Seen::Nothing => None,
            Seen::Something(found) | Seen::Again(found) => Some(found),
        }
    }
}

/// The first step in virtual time between two looks; later ones are an eighth of what has passed.
const STEP: Duration = Duration::from_micros(1);
const STEPS: u32 = 8;
/// How long other threads may at least compute before a limit passes, see [`Patience`].
const PATIENCE: Duration = Duration::from_millis(100);
/// Real time between two looks at them.
const SLICE: Duration = Duration::from_millis(1);
/// Without any processor time it ends after so many times as long: somebody may have stopped the other threads.
const STOPPED_TIMES: u32 = 100;

/// How much longer other threads may compute: real time in which the process got a processor. One that waits for its turn on
/// a busy machine has no share in this.
#[derive(Clone, Copy)]
struct Patience {
    left: Duration,
    /// What the process has had at the last look.
    had: Duration,
}

impl Patience {
    fn new(left: Duration) -> Self {
        let had = process_time();
        Self { left, had }
    }

    fn is_over(self) -> bool {
        self.left.is_zero()
    }

    /// So much real time has passed.
    fn pass(&mut self, time: Duration) {
        let had = process_time();
        let got = had.saturating_sub(self.had);
        let counts = got.clamp(time / STOPPED_TIMES, time);
        (self.left, self.had) = (self.left.saturating_sub(counts), had);
    }
}

/// Whether the thread that uses the job waits here, or is about to wait again.
static USER_WAITS: AtomicBool = AtomicBool::new(false);
/// The moments until which other threads wait.
static BESIDE: Mutex<Vec<Duration>> = Mutex::new(Vec::new());

thread_local! {
    /// Until when this thread has waited last, and how much longer others may compute meanwhile: a
    /// program that looks by itself and waits again goes on with the same wait.
    static SAME_WAIT: Cell<(Duration, Duration)> = const { Cell::new((Duration::ZERO, Duration::ZERO)) };
}
/// Two waits until moments so near are one: between them the thread only looks at clocks. The time that it computes is
/// added.
const SAME: Duration = Duration::from_micros(1);

/// Waits until `look` finds something, for `limit` at most. Nothing if the limit has passed.
pub fn wait<R>(clock: &Clock, limit: Duration, look: &mut dyn FnMut(Look) -> Seen<R>) -> Option<R> {
    match clock.who() {
        Who::Alone => {
            let found = look(Look::Whole(limit)).found();
            if found.is_none() {
                clock.sleep(limit);
            }
            found
        }
        Who::User => wait_as_user(clock, limit, look),
        Who::Beside => wait_beside(clock, limit, look),
    }
}

fn wait_as_user<R>(
    clock: &Clock,
    limit: Duration,
    look: &mut dyn FnMut(Look) -> Seen<R>,
) -> Option<R> {
    // The program has computed since it looked at a clock. This moves the end of a wait that it goes on with.
    let computed = clock.catch_up();
    let begin = clock.time();
    let until = begin.saturating_add(limit);
    let found = look(Look::Now).found();
    let found = found.or_else(|| look_meanwhile(until, (limit, SAME + computed), look));
    if found.is_some() {
        return found;
    }
    loop {
        let now = clock.time();
        let left = until.saturating_sub(now);
        if left.is_zero() {
            // A wait with a limit of zero takes time too, so that a loop of them has an end.
            if limit.is_zero() {
                clock.sleep(Clock::look());
            }
            return None;
        }
        let step = (now.saturating_sub(begin) / STEPS).max(STEP);
        clock.sleep(left.min(step));
        let found = look(Look::Now).found();
        if found.is_some() {
            return found;
        }
    }
}

/// Looks while other threads compute, which takes no time in the model, or end their own waits
/// before `until`. A wait until a moment so near, `same`, is the same one.
fn look_meanwhile<R>(
    until: Duration,
    (limit, same): (Duration, Duration),
    look: &mut dyn FnMut(Look) -> Seen<R>,
) -> Option<R> {
    let (before, left) = SAME_WAIT.get();
    let mut patience = Patience::new(match until.abs_diff(before) <= same {
        true => left,
        false => limit.max(PATIENCE),
    });
    USER_WAITS.store(true, Ordering::Release);
    while !patience.is_over() && somebody_comes_before(until) {
        let slice = SLICE.min(patience.left);
        match look(Look::Meanwhile(slice)) {
            Seen::Nothing => {}
            // The program is about to wait again.
            Seen::Again(found) => {
                patience.pass(slice);
                SAME_WAIT.set((until, patience.left));
                return Some(found);
            }
            Seen::Something(found) => {
                user_goes_on();
                return Some(found);
            }
        }
        patience.pass(slice);
    }
    SAME_WAIT.set((until, patience.left));
    user_goes_on();
    // What they did last.
    look(Look::Now).found()
}

/// The thread that uses the job does not wait here.
pub fn user_goes_on() {
    USER_WAITS.store(false, Ordering::Release);
}

fn somebody_comes_before(until: Duration) -> bool {
    let ends_before = beside().iter().any(|moment| *moment <= until);
    ends_before || !others_are_asleep()
}

/// In real time. The limit has not passed while the thread that uses the job computes, as that takes
/// no time in the model; when that thread waits meanwhile, the time of the model passes.
fn wait_beside<R>(
    clock: &Clock,
    limit: Duration,
    look: &mut dyn FnMut(Look) -> Seen<R>,
) -> Option<R> {
    let until = clock.time().saturating_add(limit);
    let _beside = Beside::enter(until);
    let mut found = look(Look::Whole(limit)).found();
    let mut patience = Patience::new(PATIENCE);
    while found.is_none() && clock.time() < until && !patience.is_over() {
        if USER_WAITS.load(Ordering::Acquire) || clock.user_is_asleep() {
            clock.pass_until(until);
            break;
        }
        found = look(Look::Meanwhile(SLICE)).found();
        patience.pass(SLICE);
    }
    found
}

fn beside() -> MutexGuard<'static, Vec<Duration>> {
    BESIDE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A wait of another thread, until it ends or the thread is cancelled.
struct Beside(Duration);

impl Beside {
    fn enter(until: Duration) -> Self {
        beside().push(until);
        Self(until)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let mut all = beside();
        if let Some(index) = all.iter().position(|moment| *moment == self.0) {
            all.swap_remove(index);
        }
    }
}

/// How long it is until a moment by one of the model's clocks. Nothing in a process without a model,
/// or if it is no time.
pub fn until(id: libc::clockid_t, moment: *const timespec) -> Option<(&'static Clock, Duration)> {
    let clock = model()?;
    if moment.is_null() {
        return None;
    }
    // SAFETY: not null, and valid as the callers of the functions of the C library promise.
    let moment = from_timespec(unsafe { moment.read() })?;
    Some((clock, moment.saturating_sub(now_free(id)?)))
}

/// The clock that a moment is of: dates are years behind the time since the job began.
pub fn clock_of(moment: *const timespec) -> libc::clockid_t {
    // SAFETY: if not null, valid as the callers of the functions of the C library promise.
    let moment = unsafe { moment.as_ref() };
    match moment {
        Some(moment) if moment.tv_sec < hostwire_virtual::EPOCH_S as i64 => libc::CLOCK_MONOTONIC,
        _ => libc::CLOCK_REALTIME,
    }
}

/// The moment that is so far away by the monotonic clock of the system.
pub fn real_moment(time: Duration) -> timespec {
    let now = real::now();
    let secs = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let nanos = now.tv_nsec + c_long::from(time.subsec_nanos() as i32);
    timespec {
        tv_sec: now
            .tv_sec
            .saturating_add(secs)
            .saturating_add(nanos / 1_000_000_000),
        tv_nsec: nanos % 1_000_000_000,
    }
}

/// Fails with the error of a wait whose limit has passed.
pub fn timed_out() -> c_int {
    fail(libc::ETIMEDOUT)
}
