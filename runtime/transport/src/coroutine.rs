//! PEs of a simulated job: stackful coroutines that all run on one thread.
//!
//! A simulated wire has to suspend its PE in the middle of a store and resume it later,
//! from a `&self` method of a type that is `Send + Sync`. So [`suspend`] is a free
//! function: it suspends the coroutine of this module that runs on the calling thread.
//!
//! ```
//! use hostwire_transport::coroutine::{self, Resumed};
//!
//! let steps = std::cell::Cell::new(0);
//! let body = || {
//!     steps.set(1);
//!     coroutine::suspend().unwrap();
//!     steps.set(2);
//! };
//! coroutine::scope(64 << 10, vec![Box::new(body)], |mut all| {
//!     assert_eq!(all.resume(0), Resumed::Suspended);
//!     assert_eq!(steps.get(), 1);
//!     assert_eq!(all.resume(0), Resumed::Ended);
//! })?;
//! assert_eq!(steps.get(), 2);
//! # Ok::<(), hostwire_transport::TransportError>(())
//! ```

use core::cell::Cell;
use core::ptr::NonNull;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::error::TransportError;

/// The body of a coroutine.
pub type Body<'a> = Box<dyn FnOnce() + 'a>;

type Suspender = Yielder<(), ()>;

thread_local! {
    /// The coroutine that is running on this thread. It is `Some` exactly while code of
    /// that coroutine runs: set when it starts or is resumed, and reset by [`Running`] as
    /// soon as its resumer has control again.
    static CURRENT: Cell<Option<NonNull<Suspender>>> = const { Cell::new(None) };
}

/// How a coroutine came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    /// It called [`suspend`].
    Suspended,
    /// Its body has returned, now or earlier.
    Ended,
}

/// The coroutines of a [`scope`].
pub struct Coroutines<'s> {
    all: &'s mut [Coroutine<(), (), ()>],
}

impl Coroutines<'_> {
    /// Lets coroutine `index` run until it suspends or ends. A coroutine that does not
    /// exist counts as ended.
    ///
    /// # Panics
    /// If the body panicked: with its message. The coroutine has then ended.
    pub fn resume(&mut self, index: usize) -> Resumed {
        match self.all.get_mut(index) {
            Some(coroutine) if !coroutine.done() => {
                let _running = Running::begin();
                match coroutine.resume(()) {
                    CoroutineResult::Yield(()) => Resumed::Suspended,
                    CoroutineResult::Return(()) => Resumed::Ended,
                }
            }
            _ => Resumed::Ended,
        }
    }
}

/// Control is about to leave the running code. Dropping this marks that it is back.
struct Running(Option<NonNull<Suspender>>);

impl Running {
    fn begin() -> Self {
        Self(CURRENT.take())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Makes a coroutine of each body, with a stack of `stack_bytes` bytes and a guard page,
/// and runs `drive`, which resumes them. Coroutines that have not ended then are unwound:
/// the values on their stacks are dropped.
///
/// # Errors
/// [`TransportError::Environment`] if there is no memory for the stacks; then nothing
/// has run.
pub fn scope<'a, R>(
    stack_bytes: usize,
    bodies: Vec<Body<'a>>,
    drive: impl FnOnce(Coroutines<'_>) -> R,
) -> Result<R, TransportError> {
    let mut all = Unwound(Vec::with_capacity(bodies.len()));
    for body in bodies {
        let stack = DefaultStack::new(stack_bytes)
            .map_err(|cause| TransportError::environment("making the stack of a PE", cause))?;
        let run = move |yielder: &Suspender, ()| {
            CURRENT.set(Some(NonNull::from(yielder)));
            body();
        };
        // SAFETY: what the body borrows lives for `'a`, which outlives this call. The
        // coroutine is owned by `all`, a local of this function of which nobody else
        // gets more than a reference of a lifetime that `drive` cannot name; so it is
        // dropped, and thereby unwound, before this function returns or unwinds.
        all.0
            .push(unsafe { Coroutine::with_stack_unchecked(stack, run) });
    }
    Ok(drive(Coroutines { all: &mut all.0 }))
}

/// Unwinds coroutines that have not ended.
struct Unwound(Vec<Coroutine<(), (), ()>>);

impl Drop for Unwound {
    fn drop(&mut self) {
        // Destructors on those stacks must not suspend themselves, nor another
        // coroutine.
        let _running = Running::begin();
        self.0.clear();
    }
}

/// Stops the coroutine that calls this, until it is resumed.
///
/// # Errors
/// [`TransportError::Misused`] when not called from a coroutine of this module, or
/// while it unwinds.
pub fn suspend() -> Result<(), TransportError> {
    let refused = |got| {
        let what = "waiting for an event of the simulation";
        TransportError::misused(what, "a call from a PE of the simulation", got)
    };
    if std::thread::panicking() {
        return Err(refused("one while this PE is unwinding"));
    }
    let current = CURRENT.get().ok_or_else(|| refused("one from elsewhere"))?;
    // SAFETY: `CURRENT` is only `Some` while code of the coroutine that this yielder
    // belongs to runs on this thread (see there), and it lies at the root of that
    // coroutine's stack, below this very call.
    let yielder = unsafe { current.as_ref() };
    yielder.suspend(());
    CURRENT.set(Some(current));
    Ok(())
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const STACK: usize = 256 << 10;

    fn bodies<'a>(list: Vec<impl FnOnce() + 'a>) -> Vec<Body<'a>> {
        list.into_iter()
            .map(|body| Box::new(body) as Body<'a>)
            .collect()
    }

    #[test]
    fn they_take_turns_as_they_are_told() {
        let seen = RefCell::new(Vec::new());
        let body = |who: u32| {
            let seen = &seen;
            move || {
                for step in 0..3 {
                    seen.borrow_mut().push((who, step));
                    suspend().unwrap();
                }
            }
        };
        scope(STACK, bodies(vec![body(0), body(1)]), |mut all| {
            for index in [0, 1, 1, 0, 0, 1] {
                assert_eq!(all.resume(index), Resumed::Suspended);
            }
            for index in [0, 1, 0, 7] {
                assert_eq!(all.resume(index), Resumed::Ended);
            }
        })
        .unwrap();
        let seen = seen.into_inner();
        assert_eq!(seen, [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (1, 2)]);
    }

    #[test]
    fn one_inside_another_stops_only_itself() {
        let steps = Cell::new(0);
        let inner = || {
            suspend().unwrap();
            steps.set(steps.get() + 1);
        };
        let outer = || {
            scope(STACK, bodies(vec![inner]), |mut all| {
                assert_eq!(all.resume(0), Resumed::Suspended);
                suspend().unwrap();
                assert_eq!(all.resume(0), Resumed::Ended);
            })
            .unwrap();
        };
        scope(STACK, bodies(vec![outer]), |mut all| {
            assert_eq!(all.resume(0), Resumed::Suspended);
            assert_eq!(steps.get(), 0);
            assert_eq!(all.resume(0), Resumed::Ended);
        })
        .unwrap();
        assert_eq!(steps.get(), 1);
    }

    #[test]
    fn outside_there_is_nothing_to_suspend() {
        assert!(matches!(suspend(), Err(TransportError::Misused { .. })));
        let body = || drop(suspend());
        scope(STACK, bodies(vec![body]), |mut all| all.resume(0)).unwrap();
        assert!(suspend().is_err());
    }

    #[test]
    fn a_panic_comes_out_of_resume_and_ends_it() {
        let body = || {
            suspend().unwrap();
            panic!("enough");
        };
        scope(STACK, bodies(vec![body]), |mut all| {
            all.resume(0);
            let panic = catch_unwind(AssertUnwindSafe(|| all.resume(0))).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"enough"));
            assert_eq!(all.resume(0), Resumed::Ended);
        })
        .unwrap();
        assert!(suspend().is_err(), "nothing is left behind");
    }

    #[test]
    fn what_has_not_ended_is_dropped_and_cannot_suspend() {
        struct Note<'a>(&'a Cell<u32>);
        impl Drop for Note<'_> {
            fn drop(&mut self) {
                assert!(suspend().is_err());
                self.0.set(self.0.get() + 1);
            }
        }
        let dropped = Cell::new(0);
        let body = || {
            let _note = Note(&dropped);
            // Code that catches the unwinding of a PE cannot make the PE run again.
            let _ = catch_unwind(|| suspend().unwrap());
            assert!(suspend().is_err());
        };
        let outer = || {
            let never_resumed = Note(&dropped);
            let other = || drop(never_resumed);
            scope(STACK, bodies(vec![body, body]), |mut all| all.resume(0)).unwrap();
            scope(STACK, bodies(vec![other]), |_| ()).unwrap();
        };
        // Also when another coroutine drops them.
        scope(STACK, bodies(vec![outer]), |mut all| {
            assert_eq!(all.resume(0), Resumed::Ended);
        })
        .unwrap();
        assert_eq!(dropped.get(), 2);
    }
}
