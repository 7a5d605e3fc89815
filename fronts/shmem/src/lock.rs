//! Locks, in the `long` that the program provides: see [`RawLock`].

use hostwire::attachment::Watch;
use hostwire::board::Activity;
use hostwire::lock::{LockError, RawLock};

use crate::fail::fatal;
use crate::remote::{done, symmetric};
use crate::runtime::{self, Runtime};

struct Lock {
    runtime: &'static Runtime,
    what: &'static str,
    /// The word, in a segment.
    offset: usize,
    raw: RawLock<'static>,
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
            raw: runtime.attachment.lock(offset),
        }
    }

    fn wait(
        &self,
        watch: Watch<'_>,
        poll: &mut dyn FnMut() -> hostwire::Result<Option<u32>>,
    ) -> hostwire::Result<u32> {
        let attachment = &self.runtime.attachment;
        attachment.activity(Activity::Waiting, None);
        let got = attachment.wait(watch, poll);
        attachment.activity(Activity::Computing, None);
        got
    }

    fn done<T>(&self, result: Result<T, LockError>) -> T {
        done(self.what, result)
    }

    /// This PE now knows what the previous holder did.
    fn taken(&self) {
        if let Some(race) = self.runtime.debug.race() {
            race.lock_taken(self.runtime, self.what, self.raw.home(), self.offset);
        }
    }
}

pub(crate) fn set(lock: *mut u64) {
    let lock = Lock::new("shmem_set_lock", lock);
    lock.done(lock.raw.acquire(&|watch, poll| lock.wait(watch, poll)));
    lock.taken();
}

/// Takes the lock if it is free, and says whether it did.
pub(crate) fn test(lock: *mut u64) -> bool {
    let lock = Lock::new("shmem_test_lock", lock);
    let is_mine = lock.done(lock.raw.try_acquire());
    if is_mine {
        lock.taken();
    }
    is_mine
}

pub(crate) fn clear(lock: *mut u64) {
    let lock = Lock::new("shmem_clear_lock", lock);
    if !lock.raw.is_taken_here() {
        fatal(lock.what, LockError::NotHeld);
    }
    // All that was done under the lock has to arrive before the next PE gets it.
    done(lock.what, lock.runtime.attachment.quiet());
    if let Some(race) = lock.runtime.debug.race() {
        race.lock_given(lock.runtime, lock.what, lock.raw.home(), lock.offset);
    }
    lock.done(lock.raw.release(&|watch, poll| lock.wait(watch, poll)));
}
