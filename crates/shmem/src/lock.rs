//! Locks: a queue, so that no PE starves, in the `long` that the program provides.
//!
//! | half of the word | at the lock's home PE | at every PE |
//! |---|---|---|
//! | high 32 bits | the last in the queue, plus one; 0 if the lock is free | 0 |
//! | low 32 bits | | the PE behind this one, plus one; bit 31: this PE waits |
//!
//! (The lock of Mellor-Crummey and Scott.) A PE waits for a word of its own memory to
//! change, so it can sleep, and passing the lock on costs two stores. All words are zero
//! again when no PE wants the lock.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use hostwire::PeId;
use hostwire::attachment::{Operation, Watch};
use hostwire::board::Activity;

use crate::fail::fatal;
use crate::remote::{atomic_at, done, symmetric};
use crate::runtime::{self, Runtime};

const WAITS: u32 = 1 << 31;

/// The locks that threads of this PE hold or wait for, because the queue has PEs only.
static TAKEN: Mutex<Option<HashSet<usize>>> = Mutex::new(None);
static RETURNED: Condvar = Condvar::new();

/// Waits until no other thread of this PE has the lock, or returns whether that is so.
fn take_turn(offset: usize, wait: bool) -> bool {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    while !taken.get_or_insert_default().insert(offset) {
        if !wait {
            return false;
        }
        taken = RETURNED.wait(taken).unwrap_or_else(PoisonError::into_inner);
    }
    true
}

fn end_turn(offset: usize) {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    taken.get_or_insert_default().remove(&offset);
    RETURNED.notify_all();
}

/// Whether a thread of this PE has the lock, or waits for it.
fn is_taken(offset: usize) -> bool {
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    taken.as_ref().is_some_and(|taken| taken.contains(&offset))
}

struct Lock {
    runtime: &'static Runtime,
    what: &'static str,
    /// The word, in a segment.
    offset: usize,
    home: PeId,
    /// This PE, plus one.
    me: u32,
}

impl Lock {
    fn new(what: &'static str, lock: *const u64) -> Self {
        let runtime = runtime::get(what);
        let offset = symmetric(runtime, what, "the lock", lock.cast(), 8);
        if !offset.is_multiple_of(8) {
            fatal(
                what,
                format_args!("the lock {lock:p} is not aligned to 8 bytes"),
            );
        }
        Self {
            runtime,
            what,
            offset,
            // Many locks should not all be at home in one place.
            home: (offset / 8 % runtime.attachment.pes() as usize) as PeId,
            me: runtime.attachment.pe() + 1,
        }
    }

    /// The high half: little-endian, as all machines that hostwire runs on.
    fn tail(&self, operation: Operation, value: u32, compare: u32) -> u32 {
        self.half(self.home, self.offset + 4, operation, value, compare)
    }

    fn half(&self, pe: PeId, offset: usize, operation: Operation, value: u32, cond: u32) -> u32 {
        let (value, cond) = (value.into(), cond.into());
        atomic_at(
            self.runtime,
            self.what,
            pe,
            offset,
            4,
            operation,
            value,
            cond,
        ) as u32
    }

    fn own(&self) -> &AtomicU32 {
        // SAFETY: the low half of a symmetric, aligned word that the library has for itself.
        unsafe { &*self.runtime.own_at(self.offset).cast() }
    }

    fn await_own(&self, is_so: impl Fn(u32) -> bool) -> u32 {
        let attachment = &self.runtime.attachment;
        attachment.activity(Activity::Waiting, None);
        let got = done(
            self.what,
            attachment.wait(Watch::Anybody, || {
                let own = self.own().load(Ordering::Acquire);
                Ok(is_so(own).then_some(own))
            }),
        );
        attachment.activity(Activity::Computing, None);
        got
    }

    /// The operations of the last holder are known now.
    fn taken(&self) {
        if let Some(race) = self.runtime.debug.race() {
            race.lock_taken(self.runtime, self.what, self.home, self.offset);
        }
    }

    /// The PE that a word of the queue names.
    fn pe(&self, named: u32) -> PeId {
        match named
            .checked_sub(1)
            .filter(|pe| *pe < self.runtime.attachment.pes())
        {
            Some(pe) => pe,
            None => fatal(
                self.what,
                format_args!(
                    "the lock holds {named:#x}, which no PE stored: it has to be 0 before its \
                     first use, and is the library's from then on"
                ),
            ),
        }
    }
}

pub(crate) fn set(lock: *mut u64) {
    let lock = Lock::new("shmem_set_lock", lock);
    take_turn(lock.offset, true);
    lock.own().store(WAITS, Ordering::SeqCst);
    let before = lock.tail(Operation::Swap, lock.me, 0);
    if before != 0 {
        let before = lock.pe(before);
        lock.half(before, lock.offset, Operation::Or, lock.me, 0);
        lock.await_own(|own| own & WAITS == 0);
    }
    lock.taken();
}

/// Takes the lock if it is free, and returns whether it did.
pub(crate) fn test(lock: *mut u64) -> bool {
    let lock = Lock::new("shmem_test_lock", lock);
    if !take_turn(lock.offset, false) {
        return false;
    }
    lock.own().store(WAITS, Ordering::SeqCst);
    let is_mine = lock.tail(Operation::CompareSwap, lock.me, 0) == 0;
    if is_mine {
        lock.taken();
    } else {
        lock.own().store(0, Ordering::SeqCst);
        end_turn(lock.offset);
    }
    is_mine
}

pub(crate) fn clear(lock: *mut u64) {
    let lock = Lock::new("shmem_clear_lock", lock);
    if !is_taken(lock.offset) {
        fatal(lock.what, "this PE does not hold the lock");
    }
    // All stores under the lock arrive before the next PE has it.
    done(lock.what, lock.runtime.attachment.quiet());
    if let Some(race) = lock.runtime.debug.race() {
        race.lock_given(lock.runtime, lock.what, lock.home, lock.offset);
    }
    let behind = |own: u32| own & !WAITS;
    let mut next = behind(lock.own().load(Ordering::Acquire));
    if next == 0 {
        let last = lock.tail(Operation::CompareSwap, 0, lock.me);
        if last == 0 {
            fatal(lock.what, "the lock is not set");
        }
        if last != lock.me {
            // The next PE in the queue is about to store its number here.
            next = behind(lock.await_own(|own| behind(own) != 0));
        }
    }
    lock.own().store(0, Ordering::SeqCst);
    if next != 0 {
        let next = lock.pe(next);
        lock.half(next, lock.offset, Operation::And, !WAITS, 0);
    }
    end_turn(lock.offset);
}
