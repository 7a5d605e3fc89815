//! For emulators of processes that accept `madvise` but do not wipe memory in a child (QEMU before 8.0).
//! There a handler of the C library wipes it, in each child that `fork` makes.
//!
//! No handler runs in a child of a bare `clone`. A real kernel follows the advice or refuses it, so only
//! emulated programs have this gap.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::OnceLock;

use rustix::io::Errno;

use crate::sync::AtomicU64;

/// Words to wipe. Entries are reused but never freed, so a child can walk through its copies, whatever
/// other threads of the parent did during the fork.
struct Entry {
    is_taken: AtomicBool,
    /// Null while there are none.
    words: AtomicPtr<AtomicU64>,
    count: AtomicUsize,
    next: Option<&'static Entry>,
}

/// The newest entry.
static NEWEST: AtomicPtr<Entry> = AtomicPtr::new(core::ptr::null_mut());

thread_local! {
    /// The newest entry when this thread began to fork. Programs of `libshmem` share static objects with a
    /// child for a moment, but never thread-local memory: entries that the parent adds meanwhile do not
    /// exist in the child.
    static NEWEST_AT_FORK: Cell<*const Entry> = const { Cell::new(core::ptr::null()) };
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    from(NEWEST.load(Ordering::Acquire))
}

/// `newest`, which was the newest one or is null, and those before it.
fn from(newest: *const Entry) -> impl Iterator<Item = &'static Entry> {
    // SAFETY: null, or an entry that `new_entry` published and nobody frees.
    let newest = unsafe { newest.as_ref() };
    core::iter::successors(newest, |entry| entry.next)
}

/// From now on, until [`forget`], `count` words are 0 in a child that `fork` makes.
///
/// # Errors
/// The C library has no memory for its handler.
///
/// # Safety
/// The words are valid until they are forgotten.
pub(super) unsafe fn wipe_in_children(words: *mut AtomicU64, count: usize) -> Result<(), Errno> {
    static REGISTERED: OnceLock<i32> = OnceLock::new();
    let code = REGISTERED.get_or_init(|| {
        // SAFETY: two functions that stay where they are, and do what may be done in a child: they
        // call nothing and take no lock.
        unsafe { libc::pthread_atfork(Some(before), None, Some(wipe)) }
    });
    if *code != 0 {
        return Err(Errno::from_raw_os_error(*code));
    }
    let free = entries().find(|entry| !entry.is_taken.swap(true, Ordering::AcqRel));
    let entry = free.unwrap_or_else(new_entry);
    entry.count.store(count, Ordering::Relaxed);
    // Stored after the count: the handler reads them in the opposite order.
    entry.words.store(words, Ordering::Release);
    Ok(())
}

/// An entry that the caller has taken.
fn new_entry() -> &'static Entry {
    let entry = Box::leak(Box::new(Entry {
        is_taken: AtomicBool::new(true),
        words: AtomicPtr::new(core::ptr::null_mut()),
        count: AtomicUsize::new(0),
        next: None,
    }));
    let mut newest = NEWEST.load(Ordering::Acquire);
    loop {
        // SAFETY: null, or an entry that was published here and that nobody frees.
        entry.next = unsafe { newest.as_ref() };
        let new = core::ptr::from_mut(entry);
        match NEWEST.compare_exchange(newest, new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the entry just leaked, which is only shared from here on.
            Ok(_) => return unsafe { &*new },
            Err(now) => newest = now,
        }
    }
}

/// The words will no longer be valid.
pub(super) fn forget(words: *mut AtomicU64) {
    for entry in entries().filter(|entry| entry.words.load(Ordering::Acquire) == words) {
        entry.words.store(core::ptr::null_mut(), Ordering::Release);
        entry.is_taken.store(false, Ordering::Release);
    }
}

unsafe extern "C" fn before() {
    NEWEST_AT_FORK.set(NEWEST.load(Ordering::Acquire));
}

/// Runs in the child, which has only this thread.
unsafe extern "C" fn wipe() {
    for entry in from(NEWEST_AT_FORK.get()) {
        let words = entry.words.load(Ordering::Acquire);
        if words.is_null() {
            continue;
        }
        for index in 0..entry.count.load(Ordering::Relaxed) {
            // SAFETY: `wipe_in_children` was promised that many valid words, which have not been
            // forgotten; the child has a copy of them.
            let word = unsafe { &*words.wrapping_add(index) };
            word.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::copies::{Copying, in_copy};

    #[test]
    fn words_are_wiped_in_children_until_they_are_forgotten() {
        let all = [const { AtomicU64::new(0) }; 5];
        let (first, last) = (&all[..2], &all[2..]);
        let at = |words: &[AtomicU64]| words.as_ptr().cast_mut();
        let sees = |expected: [u64; 5]| {
            all.iter().for_each(|word| word.store(7, Ordering::Relaxed));
            let seen = || all.each_ref().map(|word| word.load(Ordering::Relaxed));
            let status = in_copy(Copying::Fork, || i32::from(seen() != expected));
            assert_eq!(status, Ok(0), "{expected:?}");
            assert_eq!(seen(), [7; 5]);
        };
        sees([7; 5]);
        for _ in 0..3 {
            for words in [first, last] {
                // SAFETY: valid until the end of the test, and forgotten before.
                unsafe { wipe_in_children(at(words), words.len()) }.unwrap();
            }
            sees([0; 5]);
            forget(at(first));
            sees([7, 7, 0, 0, 0]);
            forget(at(last));
            sees([7; 5]);
        }
    }

    #[test]
    fn entries_are_used_again() {
        let words = [const { AtomicU64::new(0) }; 1];
        let at = words.as_ptr().cast_mut();
        for _ in 0..1000 {
            // SAFETY: forgotten at once.
            unsafe { wipe_in_children(at, 1) }.unwrap();
            forget(at);
        }
        assert!(entries().count() < 100);
    }
}
