//! Waiting until a word of the own memory is what it should be.

// All blocks of `Set` rest on the one promise of its caller, that the arrays are valid.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use core::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hostwire::Error;
use hostwire::attachment::Watch;
use hostwire::board::Activity;

use crate::element::Waitable;
use crate::fail::{self, fatal};
use crate::fast;
use crate::lifecycle;
use crate::remote::done;
use crate::runtime::{self, Runtime};

/// The routine that returns what it has seen.
pub(crate) const SIGNAL_WAIT_UNTIL: &str = "shmem_signal_wait_until";

/// The values of `SHMEM_CMP_EQ` and the other comparisons.
const CMP_EQ: c_int = 1;
pub(crate) const CMP_NE: c_int = 2;
const CMP_GT: c_int = 3;
const CMP_LE: c_int = 4;
const CMP_LT: c_int = 5;
const CMP_GE: c_int = 6;

/// Looks at the word before anything is set up for a longer wait. Fitted: about as long
/// as a line takes to cross the machine and back.
const FIRST_LOOKS: u32 = 200;
/// Changes to some other value that it looks at before that. Fitted.
const FIRST_CHANGES: u32 = 16;

#[inline(always)]
fn compare<T: Waitable>(what: &'static str, cmp: c_int, ours: T, value: T) -> bool {
    match cmp {
        CMP_EQ => ours == value,
        CMP_NE => ours != value,
        CMP_GT => ours > value,
        CMP_LE => ours <= value,
        CMP_LT => ours < value,
        CMP_GE => ours >= value,
        other => no_such_comparison(what, other),
    }
}

#[cold]
fn no_such_comparison(what: &str, cmp: c_int) -> ! {
    fatal(
        what,
        format_args!("{cmp} is not a comparison (SHMEM_CMP_EQ and so on)"),
    )
}

/// Waits until `ivar` compares so, and returns the value that did.
///
/// # Safety
/// `ivar` is a valid, aligned object.
#[inline]
pub(crate) unsafe fn until<T: Waitable>(
    what: &'static str,
    ivar: *const T,
    cmp: c_int,
    value: T,
) -> T {
    for _ in 0..FIRST_CHANGES {
        // SAFETY: as the caller promises.
        let ours = unsafe { T::load(ivar) };
        if compare(what, cmp, ours, value) {
            if !fast::is_coherent() {
                ended(what, ivar, cmp, (ours, value));
            }
            return ours;
        }
        // SAFETY: as the caller promises.
        if !unsafe { ours.changes(ivar, FIRST_LOOKS) } {
            break;
        }
    }
    // SAFETY: as the caller promises.
    unsafe { until_at_length(what, ivar, cmp, value) }
}

#[cold]
#[inline(never)]
unsafe fn until_at_length<T: Waitable>(
    what: &'static str,
    ivar: *const T,
    cmp: c_int,
    value: T,
) -> T {
    let runtime = runtime::get(what);
    check(runtime, what, ivar);
    let ours = wait(runtime, what, || {
        // SAFETY: as the caller promises.
        let ours = unsafe { T::load(ivar) };
        compare(what, cmp, ours, value).then_some(ours)
    });
    ended(what, ivar, cmp, (ours, value));
    ours
}

/// The condition of a wait for `ivar`: a peer can store there, which wakes a sleeper.
fn check<T>(runtime: &Runtime, what: &str, ivar: *const T) {
    if runtime.locate(ivar as usize, size_of::<T>()).is_none() {
        fatal(
            what,
            format_args!("{ivar:p} is not symmetric: no PE could change it"),
        );
    }
}

/// Waits, with everything in place: any PE may end it.
fn wait<R>(runtime: &Runtime, what: &str, mut poll: impl FnMut() -> Option<R>) -> R {
    runtime.attachment.activity(Activity::Waiting, None);
    let result = loop {
        match runtime.attachment.wait(Watch::Anybody, || Ok(poll())) {
            // All others are leaving; but a thread of this PE may still do it.
            Err(Error::PeerLeft { .. }) if lifecycle::may_have_threads() => {}
            result => break done(what, result),
        }
    };
    runtime.attachment.activity(Activity::Computing, None);
    result
}

/// A wait that compared `ivar` with `value` has seen `ours`.
#[cold]
fn ended<T: Waitable>(what: &'static str, ivar: *const T, cmp: c_int, (ours, value): (T, T)) {
    // The program relies on the returned value.
    let is_returned = what == SIGNAL_WAIT_UNTIL;
    seen(what, ivar, |seen| match is_returned {
        true => seen == ours,
        false => compare(what, cmp, seen, value),
    });
}

/// Tells the detector of races which values of `ivar` can have ended a wait or a test.
#[cold]
fn seen<T: Waitable>(what: &str, ivar: *const T, ends_it: impl Fn(T) -> bool) {
    let runtime = runtime::get(what);
    if let Some(race) = runtime.debug.race()
        && let Some(offset) = runtime.locate(ivar as usize, size_of::<T>())
    {
        let word = (offset, size_of::<T>());
        race.seen(runtime, word, &|bits| ends_it(T::from_bits(bits)));
    }
}

/// `shmem_signal_fetch`.
///
/// # Safety
/// `ivar` is a valid, aligned object.
#[inline]
pub(crate) unsafe fn fetch<T: Waitable>(what: &'static str, ivar: *const T) -> T {
    // SAFETY: as the caller promises.
    let value = unsafe { T::load(ivar) };
    if !fast::is_coherent() {
        seen(what, ivar, |seen| seen == value);
    }
    value
}

/// Whether `ivar` compares so.
///
/// # Safety
/// `ivar` is a valid, aligned object.
#[inline]
pub(crate) unsafe fn test<T: Waitable>(
    what: &'static str,
    ivar: *const T,
    cmp: c_int,
    value: T,
) -> bool {
    // SAFETY: as the caller promises.
    let ours = unsafe { T::load(ivar) };
    let is_so = compare(what, cmp, ours, value);
    if !is_so {
        tested_in_vain(what);
    } else if !fast::is_coherent() {
        ended(what, ivar, cmp, (ours, value));
    }
    is_so
}

/// The number of tests in a row without success, of all threads.
static IN_VAIN: AtomicU32 = AtomicU32::new(0);

/// A program that loops over a test must see its job make progress, must leave a shared
/// core to those it waits for, and must hear of the loss of a peer.
#[inline]
fn tested_in_vain(what: &'static str) {
    let before = IN_VAIN.load(Ordering::Relaxed);
    IN_VAIN.store(before.wrapping_add(1), Ordering::Relaxed);
    if before.is_multiple_of(64) {
        in_between(what, before);
    }
}

#[cold]
#[inline(never)]
fn in_between(what: &'static str, tests: u32) {
    let runtime = runtime::get(what);
    done(what, runtime.attachment.progress());
    // More PEs than cores: fewer polls are worth it.
    if runtime.attachment.limits().pauses == 0 {
        runtime.attachment.wire().yield_now();
    }
    if tests.is_multiple_of(1 << 16) {
        match runtime.attachment.look_for_lost() {
            // The value may have arrived before they left, or this PE may go on with other
            // work: a test is not a wait.
            Err(Error::PeerLeft { .. }) => say_once_that_all_left(what),
            result => done(what, result),
        }
    }
}

/// A program tests without success for a minute while all others wait for it to leave.
fn say_once_that_all_left(what: &str) {
    const PATIENCE: Duration = Duration::from_secs(60);
    static SINCE: OnceLock<Instant> = OnceLock::new();
    static SAID: AtomicBool = AtomicBool::new(false);
    let since = SINCE.get_or_init(Instant::now);
    if since.elapsed() > PATIENCE && !SAID.swap(true, Ordering::Relaxed) {
        fail::say(&format!(
            "{what}: all other PEs have been leaving the job for a minute: is this for ever?"
        ));
    }
}

/// The values with which the elements of a [`Set`] are compared.
pub(crate) enum Values<T> {
    Same(T),
    Each(*const T),
}

/// The elements of an array that are waited for.
pub(crate) struct Set<T> {
    what: &'static str,
    ivars: *const T,
    nelems: usize,
    /// Null, or nonzero for those that do not count.
    status: *const c_int,
    cmp: c_int,
    values: Values<T>,
}

/// The place where the next search begins, so that every element that holds is found by
/// some call.
static NEXT: AtomicUsize = AtomicUsize::new(0);

impl<T: Waitable> Set<T> {
    pub(crate) fn new(
        what: &'static str,
        ivars: *const T,
        nelems: usize,
        status: *const c_int,
        cmp: c_int,
        values: Values<T>,
    ) -> Self {
        Self {
            what,
            ivars,
            nelems,
            status,
            cmp,
            values,
        }
    }

    /// # Safety
    /// `index` is one of the array's, and the arrays are valid. This holds for all that
    /// follows: the caller of each promises the arrays.
    unsafe fn counts(&self, index: usize) -> bool {
        // SAFETY: as the caller promises.
        self.status.is_null() || unsafe { self.status.add(index).read() } == 0
    }

    unsafe fn value(&self, index: usize) -> T {
        match self.values {
            Values::Same(value) => value,
            // SAFETY: as the caller promises.
            Values::Each(values) => unsafe { values.add(index).read() },
        }
    }

    unsafe fn holds(&self, index: usize) -> bool {
        // SAFETY: as the caller promises.
        let value = unsafe { self.value(index) };
        // SAFETY: as the caller promises.
        let ours = unsafe { T::load(self.ivars.add(index)) };
        compare(self.what, self.cmp, ours, value)
    }

    /// An element that counts and holds.
    unsafe fn find(&self) -> Option<usize> {
        let start = NEXT.load(Ordering::Relaxed) % self.nelems.max(1);
        for index in (start..self.nelems).chain(0..start) {
            // SAFETY: as the caller promises.
            if unsafe { self.counts(index) && self.holds(index) } {
                NEXT.store(index + 1, Ordering::Relaxed);
                return Some(index);
            }
        }
        None
    }

    unsafe fn is_empty(&self) -> bool {
        // SAFETY: as the caller promises.
        (0..self.nelems).all(|index| unsafe { !self.counts(index) })
    }

    /// Writes the indices of the elements that count and hold, and returns their
    /// number.
    unsafe fn collect(&self, indices: *mut usize) -> usize {
        let mut found = 0;
        for index in 0..self.nelems {
            // SAFETY: as the caller promises.
            if unsafe { self.counts(index) && self.holds(index) } {
                // SAFETY: the caller has room for all.
                unsafe { indices.add(found).write(index) };
                found += 1;
            }
        }
        found
    }

    /// The element counts, and held when it was looked at.
    unsafe fn seen(&self, index: usize) {
        if fast::is_coherent() {
            return;
        }
        // SAFETY: as the caller promises.
        let value = unsafe { self.value(index) };
        seen(self.what, self.ivars.wrapping_add(index), |seen| {
            compare(self.what, self.cmp, seen, value)
        });
    }

    unsafe fn seen_some(&self, indices: *const usize, count: usize) {
        for at in 0..count {
            // SAFETY: the caller has so many.
            let index = unsafe { indices.add(at).read() };
            // SAFETY: as the caller promises.
            unsafe { self.seen(index) };
        }
    }

    pub(crate) unsafe fn wait_until_all(&self) {
        for index in 0..self.nelems {
            // SAFETY: as the caller promises.
            if unsafe { self.counts(index) && !self.holds(index) } {
                let runtime = runtime::get(self.what);
                check(runtime, self.what, self.ivars.wrapping_add(index));
                wait(runtime, self.what, || {
                    // SAFETY: as the caller promises.
                    unsafe { self.holds(index) }.then_some(())
                });
            }
            // SAFETY: as the caller promises.
            if unsafe { self.counts(index) } {
                // SAFETY: as above.
                unsafe { self.seen(index) };
            }
        }
    }

    pub(crate) unsafe fn wait_until_any(&self) -> usize {
        // SAFETY: as the caller promises.
        if unsafe { self.is_empty() } {
            return usize::MAX;
        }
        let runtime = runtime::get(self.what);
        check(runtime, self.what, self.ivars);
        // SAFETY: as the caller promises.
        let found = wait(runtime, self.what, || unsafe { self.find() });
        // SAFETY: as the caller promises.
        unsafe { self.seen(found) };
        found
    }

    pub(crate) unsafe fn wait_until_some(&self, indices: *mut usize) -> usize {
        // SAFETY: as the caller promises.
        if unsafe { self.is_empty() } {
            return 0;
        }
        let runtime = runtime::get(self.what);
        check(runtime, self.what, self.ivars);
        let found = wait(runtime, self.what, || {
            // SAFETY: as the caller promises.
            let found = unsafe { self.collect(indices) };
            (found > 0).then_some(found)
        });
        // SAFETY: as the caller promises; these were written just now.
        unsafe { self.seen_some(indices, found) };
        found
    }

    pub(crate) unsafe fn test_all(&self) -> bool {
        for index in 0..self.nelems {
            // SAFETY: as the caller promises.
            if unsafe { self.counts(index) && !self.holds(index) } {
                tested_in_vain(self.what);
                return false;
            }
        }
        for index in 0..self.nelems {
            // SAFETY: as the caller promises.
            if unsafe { self.counts(index) } {
                // SAFETY: as above.
                unsafe { self.seen(index) };
            }
        }
        true
    }

    pub(crate) unsafe fn test_any(&self) -> usize {
        // SAFETY: as the caller promises.
        match unsafe { self.find() } {
            Some(index) => {
                // SAFETY: as the caller promises.
                unsafe { self.seen(index) };
                index
            }
            None => {
                tested_in_vain(self.what);
                usize::MAX
            }
        }
    }

    pub(crate) unsafe fn test_some(&self, indices: *mut usize) -> usize {
        // SAFETY: as the caller promises.
        let found = unsafe { self.collect(indices) };
        if found == 0 {
            tested_in_vain(self.what);
        }
        // SAFETY: as the caller promises; these were written just now.
        unsafe { self.seen_some(indices, found) };
        found
    }
}
