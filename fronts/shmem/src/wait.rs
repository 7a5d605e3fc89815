//! Waiting until a word of the own memory is what it should be.

use core::ffi::c_int;
use core::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hostwire::Error;
use hostwire::attachment::Watch;
use hostwire::board::Activity;
use hostwire::core::{Compare, Words};

use crate::buffer::{self, Array, Results};
use crate::element::Waitable;
use crate::fail::{self, fatal};
use crate::fast;
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
fn comparison(what: &'static str, cmp: c_int) -> Compare {
    match cmp {
        CMP_EQ => Compare::Eq,
        CMP_NE => Compare::Ne,
        CMP_GT => Compare::Gt,
        CMP_LE => Compare::Le,
        CMP_LT => Compare::Lt,
        CMP_GE => Compare::Ge,
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

/// Waits until the word compares so, and returns the value that did.
#[inline]
pub(crate) fn until<T: Waitable>(what: &'static str, word: &T::Cell, cmp: c_int, value: T) -> T {
    let compare = comparison(what, cmp);
    for _ in 0..FIRST_CHANGES {
        let ours = T::load(word);
        if compare.holds(&ours, &value) {
            if !fast::is_coherent() {
                ended(what, word, compare, (ours, value));
            }
            return ours;
        }
        if !ours.changes(word, FIRST_LOOKS) {
            break;
        }
    }
    until_at_length(what, word, compare, value)
}

#[cold]
#[inline(never)]
fn until_at_length<T: Waitable>(
    what: &'static str,
    word: &T::Cell,
    compare: Compare,
    value: T,
) -> T {
    let runtime = runtime::get(what);
    check(runtime, what, word);
    let ours = wait(runtime, what, || {
        let ours = T::load(word);
        Ok(compare.holds(&ours, &value).then_some(ours))
    });
    ended(what, word, compare, (ours, value));
    ours
}

/// Where a word is.
fn address<C>(word: &C) -> usize {
    core::ptr::from_ref(word) as usize
}

/// The condition of a wait for a word: a peer can store there, which wakes a sleeper.
fn check<C>(runtime: &Runtime, what: &str, word: &C) {
    if runtime.locate(address(word), size_of::<C>()).is_none() {
        fatal(
            what,
            format_args!("{word:p} is not symmetric: no PE could change it"),
        );
    }
}

/// Waits, after all preparations: any PE may end it.
fn wait<R>(
    runtime: &Runtime,
    what: &str,
    mut poll: impl FnMut() -> hostwire::Result<Option<R>>,
) -> R {
    runtime.attachment.activity(Activity::Waiting, None);
    let result = loop {
        match runtime.attachment.wait(Watch::Anybody, &mut poll) {
            // All others are leaving; but a thread of this PE may still do it.
            Err(Error::PeerLeft { .. }) if runtime::may_have_threads() => {}
            result => break done(what, result),
        }
    };
    runtime.attachment.activity(Activity::Computing, None);
    result
}

/// A wait that compared a word with `value` has seen `ours`.
#[cold]
fn ended<T: Waitable>(what: &'static str, word: &T::Cell, compare: Compare, (ours, value): (T, T)) {
    // The program relies on the returned value.
    let is_returned = what == SIGNAL_WAIT_UNTIL;
    seen::<T>(what, word, |seen| match is_returned {
        true => seen == ours,
        false => compare.holds(&seen, &value),
    });
}

/// Tells the detector of races which values of a word can have ended a wait or a test.
#[cold]
fn seen<T: Waitable>(what: &str, word: &T::Cell, ends_it: impl Fn(T) -> bool) {
    let runtime = runtime::get(what);
    if let Some(race) = runtime.debug.race()
        && let Some(offset) = runtime.locate(address(word), size_of::<T>())
    {
        let word = (offset, size_of::<T>());
        race.seen(runtime, word, &|bits| ends_it(T::from_bits(bits)));
    }
}

/// `shmem_signal_fetch`.
#[inline]
pub(crate) fn fetch<T: Waitable>(what: &'static str, word: &T::Cell) -> T {
    let value = T::load(word);
    if !fast::is_coherent() {
        seen::<T>(what, word, |seen| seen == value);
    }
    value
}

/// Whether the word compares so.
#[inline]
pub(crate) fn test<T: Waitable>(what: &'static str, word: &T::Cell, cmp: c_int, value: T) -> bool {
    let compare = comparison(what, cmp);
    let ours = T::load(word);
    let is_so = compare.holds(&ours, &value);
    if !is_so {
        tested_in_vain(what);
    } else if !fast::is_coherent() {
        ended(what, word, compare, (ours, value));
    }
    is_so
}

/// The number of tests in a row without success, of all threads.
static IN_VAIN: AtomicU32 = AtomicU32::new(0);

/// A program that loops over a test must see its job make progress, must leave a shared core to
/// those it waits for, and must learn of the loss of a peer.
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
    // There are more PEs than cores, so fewer polls pay.
    if runtime.attachment.limits().pauses == 0 {
        runtime.attachment.wire().yield_now();
    }
    if tests.is_multiple_of(1 << 16) {
        match runtime.attachment.look_for_lost() {
            // The value may have arrived before the others left, or this PE may go on with other
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

/// The values with which the words of a [`Set`] are compared.
enum Values<'a, T> {
    Same(T),
    Each(Array<'a, T>),
}

/// The words of an array that are waited for.
pub(crate) struct Set<'a, T: Waitable> {
    what: &'static str,
    words: &'a [T::Cell],
    /// Nonzero for those that do not count.
    status: Option<Array<'a, c_int>>,
    compare: Compare,
    values: Values<'a, T>,
}

/// The place where the next search begins, so that every element that holds is found by
/// some call.
static NEXT: AtomicUsize = AtomicUsize::new(0);

impl<T: Waitable> Set<'_, T> {
    /// All words compare with the same value.
    ///
    /// # Safety
    /// `ivars` and `status` have `nelems` elements, which are there for as long as the set is used;
    /// the words are aligned, and changed only in one piece. `status` may be null.
    pub(crate) unsafe fn same(
        what: &'static str,
        ivars: *const T,
        nelems: usize,
        status: *const c_int,
        cmp: c_int,
        value: T,
    ) -> Self {
        let compare = comparison(what, cmp);
        Self {
            what,
            // SAFETY: so many words are at `ivars`, by the promise of the caller.
            words: unsafe { buffer::words(ivars, nelems) },
            status: (!status.is_null()).then(|| {
                // SAFETY: not null, so as many numbers are at `status`.
                unsafe { Array::new(status, nelems) }
            }),
            compare,
            values: Values::Same(value),
        }
    }

    /// Each word has a value of its own.
    ///
    /// # Safety
    /// As of [`same`](Self::same); `values` has as many elements.
    pub(crate) unsafe fn each(
        what: &'static str,
        ivars: *const T,
        nelems: usize,
        status: *const c_int,
        cmp: c_int,
        values: *const T,
    ) -> Self {
        let none = T::from_bits(0);
        // SAFETY: the caller promises the same of these arrays.
        let set = unsafe { Self::same(what, ivars, nelems, status, cmp, none) };
        Self {
            // SAFETY: the caller promises so many values.
            values: Values::Each(unsafe { Array::new(values, nelems) }),
            ..set
        }
    }

    fn value(&self, index: usize) -> Option<T> {
        match &self.values {
            Values::Same(value) => Some(*value),
            Values::Each(values) => values.get(index),
        }
    }

    fn counts(&self, index: usize) -> bool {
        let status = self.status.and_then(|status| status.get(index));
        status.is_none_or(|status| status == 0)
    }

    /// Whether the comparison holds, for a word that counts.
    fn look(&self, index: usize) -> Option<bool> {
        if !self.counts(index) {
            return None;
        }
        let (word, value) = (self.words.get(index)?, self.value(index)?);
        Some(self.compare.holds(&T::load(word), &value))
    }

    fn words(&self) -> Words<impl Fn(usize) -> hostwire::Result<Option<bool>>> {
        Words::new(self.words.len(), |index| Ok(self.look(index)))
    }

    fn is_empty(&self) -> bool {
        (0..self.words.len()).all(|index| !self.counts(index))
    }

    fn one(&self) -> hostwire::Result<Option<usize>> {
        let start = NEXT.load(Ordering::Relaxed) % self.words.len().max(1);
        let found = self.words().one(start)?;
        if let Some(index) = found {
            NEXT.store(index + 1, Ordering::Relaxed);
        }
        Ok(found)
    }

    /// The word counts, and held when it was looked at.
    fn seen(&self, index: usize) {
        if fast::is_coherent() {
            return;
        }
        if let (Some(word), Some(value)) = (self.words.get(index), self.value(index)) {
            seen::<T>(self.what, word, |seen| self.compare.holds(&seen, &value));
        }
    }

    fn seen_all(&self, indices: Range<usize>) {
        for index in indices.filter(|index| self.counts(*index)) {
            self.seen(index);
        }
    }

    /// The runtime, for a wait in which a PE may change word `index`.
    fn check(&self, index: usize) -> &'static Runtime {
        let runtime = runtime::get(self.what);
        if let Some(word) = self.words.get(index) {
            check(runtime, self.what, word);
        }
        runtime
    }

    pub(crate) fn wait_until_all(&self) {
        let mut next = 0;
        loop {
            let first = next;
            let all = done(self.what, self.words().all(&mut next));
            self.seen_all(first..next);
            if all.is_some() {
                break;
            }
            wait(self.check(next), self.what, || {
                Ok((self.look(next) != Some(false)).then_some(()))
            });
        }
    }

    pub(crate) fn wait_until_any(&self) -> usize {
        if self.is_empty() {
            return usize::MAX;
        }
        let found = wait(self.check(0), self.what, || self.one());
        self.seen(found);
        found
    }

    pub(crate) fn wait_until_some(&self, mut indices: Results<'_, usize>) -> usize {
        if self.is_empty() {
            return 0;
        }
        let found = wait(self.check(0), self.what, || {
            self.words().some(|index| indices.push(index))
        });
        indices.iter().for_each(|index| self.seen(index));
        found
    }

    pub(crate) fn test_all(&self) -> bool {
        let all = done(self.what, self.words().all(&mut 0));
        match all {
            Some(()) => self.seen_all(0..self.words.len()),
            None => tested_in_vain(self.what),
        }
        all.is_some()
    }

    pub(crate) fn test_any(&self) -> usize {
        match done(self.what, self.one()) {
            Some(index) => {
                self.seen(index);
                index
            }
            None => {
                tested_in_vain(self.what);
                usize::MAX
            }
        }
    }

    pub(crate) fn test_some(&self, mut indices: Results<'_, usize>) -> usize {
        let found = done(self.what, self.words().some(|index| indices.push(index)));
        match found {
            Some(_) => indices.iter().for_each(|index| self.seen(index)),
            None => tested_in_vain(self.what),
        }
        found.unwrap_or(0)
    }
}
