//! A lock that costs next to nothing while one thread uses it.
//!
//! The thread that makes it *owns* it, and takes it with a plain store to a word that no other thread
//! writes. The first other thread that takes it ends the ownership for ever: from then on every thread
//! takes it with an atomic exchange. Measured, lock and unlock: 1 ns for the owner, 8 to 20 ns for
//! others.
//!
//! | step | the owner | another thread, once |
//! |---|---|---|
//! | 1 | stores its word | takes the shared word, and stores that nobody owns the lock |
//! | 2 | [`light_fence`] | [`heavy_fence`]: a full barrier on every CPU |
//! | 3 | looks whether it still owns the lock; if not, it gives its word back and takes the shared word | waits until the owner's word does not say that the owner has the lock |
//!
//! At least one of the two sees the store of the other: this is the asymmetric barrier of
//! [`crate::sync`]. Where the kernel has none, no thread ever owns the lock.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::sync::{AtomicU64, Ordering, heavy_fence, light_fence};

/// See the [module text](self).
pub struct OwnerLock<T> {
    /// The number of the owner while the lock is free, [`TAKEN`] while the owner has it, [`NOBODY`] when
    /// the maker has seen that it no longer owns the lock. Written only by the thread `maker`.
    own_word: AtomicU64,
    /// Not 0 if nobody owns the lock. Written under `shared_word` only.
    is_shared: AtomicU64,
    /// The thread that has the lock, or ends the ownership; 0 if it is free.
    shared_word: AtomicU64,
    /// The thread that made it.
    maker: u64,
    value: UnsafeCell<T>,
}

/// Nobody owns the lock. No thread has this number.
const NOBODY: u64 = 0;
/// The owner has the lock. No thread has this number.
const TAKEN: u64 = 1;
/// Looks at a lock that another thread has, before it gives up its CPU. Fitted: about 1 us.
#[cfg(not(loom))]
const LOOKS: u32 = 64;
/// Replaces the barrier if the kernel refuses it after it has worked once: in this time each CPU takes
/// many timer interrupts, which drain its stores.
const DRAIN: Duration = Duration::from_millis(20);

// SAFETY: the value is accessed through guards only. Of those there is one at a time, as the module
// text shows, so that it only moves from thread to thread, and `T: Send` allows that. What one guard
// did happens before the next: the words are given back with release and taken, or found free, with
// acquire. The owner's own word needs no acquire, because only the owner stores it: either that is one
// thread, or it has ended and another thread has its number, which also has its stack; the C library
// hands that on with the same ordering.
unsafe impl<T: Send> Sync for OwnerLock<T> {}

impl<T> OwnerLock<T> {
    /// A lock that this thread owns.
    pub fn new(value: T) -> Self {
        let maker = this_thread();
        // Registered first: a barrier must reach this process.
        let has_barrier = is_registered() && heavy_fence();
        Self {
            own_word: AtomicU64::new(if has_barrier { maker } else { NOBODY }),
            is_shared: AtomicU64::new((!has_barrier).into()),
            shared_word: AtomicU64::new(0),
            maker,
            value: UnsafeCell::new(value),
        }
    }

    /// Whether a thread other than its maker has taken it.
    #[inline(always)]
    pub fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Relaxed) != 0
    }

    /// Takes the lock if this thread owns it and does not have it. Calls no function, so a short caller
    /// saves no registers.
    #[inline(always)]
    pub fn try_lock_owned(&self) -> Option<Guard<'_, T>> {
        let thread = this_thread();
        if self.own_word.load(Ordering::Relaxed) != thread {
            return None;
        }
        self.own_word.store(TAKEN, Ordering::Relaxed);
        light_fence();
        if self.is_shared() {
            self.own_word.store(NOBODY, Ordering::Release);
            return None;
        }
        Some(self.guard(true))
    }

    /// Takes the lock if nobody has it.
    #[inline(always)]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        match self.try_lock_owned() {
            Some(guard) => Some(guard),
            None => self.try_lock_shared(),
        }
    }

    /// Waits until no other thread has the lock, and takes it.
    ///
    /// # Panics
    /// If this thread has it already.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        match self.try_lock() {
            Some(guard) => guard,
            None => self.lock_slowly(),
        }
    }

    #[cold]
    #[inline(never)]
    fn lock_slowly(&self) -> Guard<'_, T> {
        let mut looks = 0;
        loop {
            let thread = this_thread();
            let has_it = self.shared_word.load(Ordering::Relaxed) == thread;
            assert!(
                !has_it && !self.is_taken_by(thread),
                "a thread takes a lock that it has"
            );
            pause(&mut looks);
            if let Some(guard) = self.try_lock() {
                return guard;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn try_lock_shared(&self) -> Option<Guard<'_, T>> {
        let thread = this_thread();
        if self.is_taken_by(thread) {
            return None;
        }
        self.shared_word
            .compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed)
            .ok()?;
        if !self.is_shared() {
            self.end_ownership();
        }
        Some(self.guard(false))
    }

    /// The steps of the other thread in the module text. The caller has the shared word.
    #[cold]
    fn end_ownership(&self) {
        self.is_shared.store(1, Ordering::Relaxed);
        if !heavy_fence() {
            std::thread::sleep(DRAIN);
        }
        let mut looks = 0;
        while self.own_word.load(Ordering::Acquire) == TAKEN {
            pause(&mut looks);
        }
    }

    /// Whether this thread has the lock as its owner, or as its former owner.
    fn is_taken_by(&self, thread: u64) -> bool {
        self.maker == thread && self.own_word.load(Ordering::Relaxed) == TAKEN
    }

    #[inline(always)]
    fn guard(&self, is_owned: bool) -> Guard<'_, T> {
        Guard {
            lock: self,
            is_owned,
            of_thread: PhantomData,
        }
    }
}

impl<T> fmt::Debug for OwnerLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerLock")
            .field("is_shared", &self.is_shared())
            .finish_non_exhaustive()
    }
}

/// The lock is taken. Dropping this, in the thread that took it, gives it back.
///
/// Two words, so that functions return it in registers.
pub struct Guard<'a, T> {
    lock: &'a OwnerLock<T>,
    /// It was taken by the owner's word, and not by the shared one.
    is_owned: bool,
    of_thread: PhantomData<*const ()>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: only this guard's thread has the lock, see `Sync` above, and the guard is borrowed.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: only this guard's thread has the lock, and the guard is borrowed exclusively, so there
        // is no other reference.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        match self.is_owned {
            true => self.lock.own_word.store(self.lock.maker, Ordering::Release),
            false => self.lock.shared_word.store(0, Ordering::Release),
        }
    }
}

/// A number that no other living thread has, never 0 or 1: the address of something that belongs to the
/// thread. In a shared library, a thread-local variable would take a call.
#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_os = "linux",
    target_pointer_width = "64",
    not(any(loom, miri))
))]
#[inline(always)]
fn this_thread() -> u64 {
    let block: u64;
    // SAFETY: the ABI of x86-64 for threads has the address of the thread's control block in its first
    // word, at fs:0, for as long as the thread lives.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!("mov {}, fs:[0]", out(reg) block, options(nostack, preserves_flags, pure, readonly));
    }
    // SAFETY: the ABI of 64-bit Arm for threads has the address of the thread's control block in this register,
    // for as long as the thread lives; reading it changes nothing.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) block, options(nostack, preserves_flags, pure, nomem));
    }
    block
}

#[cfg(all(
    not(loom),
    any(
        miri,
        not(all(
            any(target_arch = "x86_64", target_arch = "aarch64"),
            target_os = "linux",
            target_pointer_width = "64"
        ))
    )
))]
#[inline(always)]
fn this_thread() -> u64 {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    HERE.with(|here| core::ptr::from_ref(here).addr() as u64)
}

#[cfg(loom)]
fn this_thread() -> u64 {
    loom::thread_local! {
        static HERE: Box<u8> = Box::new(0);
    }
    HERE.with(|here| core::ptr::from_ref(&**here).addr() as u64)
}

#[cfg(not(loom))]
fn is_registered() -> bool {
    crate::sync::registered()
}

#[cfg(loom)]
fn is_registered() -> bool {
    true
}

fn pause(looks: &mut u32) {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    if *looks < LOOKS {
        core::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
    *looks = looks.saturating_add(1);
}

#[cfg(loom)]
mod model;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_has_it_keeps_out_everybody() {
        let lock = OwnerLock::new(1);
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        drop(guard);
        *lock.lock() += 1;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let guard = lock.lock();
                assert!(lock.is_shared() && lock.try_lock().is_none());
                assert_eq!(*guard, 2);
            });
        });
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        drop(guard);
        assert_eq!(*lock.lock(), 2);
    }

    #[test]
    #[should_panic(expected = "a lock that it has")]
    fn taking_it_twice_is_noticed() {
        let lock = OwnerLock::new(());
        let _guard = lock.lock();
        let _again = lock.lock();
    }

    #[test]
    fn its_owner_goes_on_with_others() {
        const EACH: u64 = 20_000;
        let lock = OwnerLock::new((0_u64, 0_u64));
        let add = |step: u64| {
            for _ in 0..EACH {
                let mut both = lock.lock();
                both.0 += step;
                both.1 += step;
                assert_eq!(both.0, both.1);
            }
        };
        add(1);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| add(1));
            }
            add(1);
        });
        assert_eq!(*lock.lock(), (5 * EACH, 5 * EACH));
    }
}
