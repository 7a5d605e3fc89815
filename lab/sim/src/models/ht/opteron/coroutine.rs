//! Programs as ordinary code: a stackful coroutine per core.
//!
//! The code calls the methods of a [`CoreHandle`]; each call suspends the
//! coroutine, becomes an [`Op`], and returns when the modelled core has done it.
//! Between calls no simulated time passes.

use std::cell::Cell;

use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::engine::Ps;

use super::program::{Local, Op, Outcome, Program};

struct Resume {
    now: Ps,
    outcome: Outcome,
}

/// A program made of a closure.
///
/// ```
/// use hostwire_sim::models::ht::opteron::CoroutineProgram;
///
/// let program = CoroutineProgram::new(|core| {
///     core.store(0x2_0000_1000, &[1; 64])?;
///     core.fence();
///     let answer = core.poll(0x1000, &[0; 8])?;
///     assert_ne!(answer, [0; 8]);
///     Ok(())
/// });
/// # let _ = program;
/// ```
pub struct CoroutineProgram {
    coroutine: Coroutine<Resume, Op, ()>,
}

/// An access that no mapping, no register or no link carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("access to {address:#x} aborted")]
pub struct Aborted {
    /// Where.
    pub address: u64,
}

impl CoroutineProgram {
    /// Makes a program that runs `body` once. If it returns early with an abort
    /// the program is over; the socket has logged the incident.
    pub fn new(
        body: impl FnOnce(CoreHandle<'_>) -> Result<(), Aborted> + 'static,
    ) -> CoroutineProgram {
        let coroutine = Coroutine::new(|yielder: &Yielder<Resume, Op>, first: Resume| {
            let _ = body(CoreHandle {
                yielder,
                now: Cell::new(first.now),
            });
        });
        CoroutineProgram { coroutine }
    }
}

impl Program for CoroutineProgram {
    fn resume(&mut self, local: Local<'_>, outcome: Outcome) -> Op {
        if self.coroutine.done() {
            return Op::Halt;
        }
        match self.coroutine.resume(Resume {
            now: local.now,
            outcome,
        }) {
            CoroutineResult::Yield(op) => op,
            CoroutineResult::Return(()) => Op::Halt,
        }
    }
}

/// The core that a program runs on.
pub struct CoreHandle<'a> {
    yielder: &'a Yielder<Resume, Op>,
    now: Cell<Ps>,
}

impl CoreHandle<'_> {
    /// Simulated time.
    pub fn now(&self) -> Ps {
        self.now.get()
    }

    /// Stores bytes; returns when they are issued.
    ///
    /// # Errors
    /// [`Aborted`] if no mapping holds the address.
    pub fn store(&self, address: u64, bytes: &[u8]) -> Result<(), Aborted> {
        self.checked(
            address,
            Op::Store {
                address,
                data: bytes.to_vec(),
            },
        )
        .map(|_| ())
    }

    /// `sfence`.
    pub fn fence(&self) {
        self.run(Op::Fence);
    }

    /// Loads bytes.
    ///
    /// # Errors
    /// [`Aborted`] if nobody has the address.
    pub fn load(&self, address: u64, bytes: usize) -> Result<Vec<u8>, Aborted> {
        self.checked(address, Op::Load { address, bytes })
    }

    /// Loads again and again until the bytes differ from `not`; returns them.
    ///
    /// # Errors
    /// [`Aborted`] if no mapping holds the address.
    pub fn poll(&self, address: u64, not: &[u8]) -> Result<Vec<u8>, Aborted> {
        self.checked(
            address,
            Op::Poll {
                address,
                not: not.to_vec(),
            },
        )
    }

    /// Lets time pass.
    pub fn compute(&self, time: Ps) {
        self.run(Op::Compute(time));
    }

    /// Waits for [`OpteronEvent::Wake`](super::OpteronEvent::Wake).
    pub fn suspend(&self) {
        self.run(Op::Suspend);
    }

    fn checked(&self, address: u64, op: Op) -> Result<Vec<u8>, Aborted> {
        match self.run(op) {
            Outcome::Loaded(bytes) => Ok(bytes),
            Outcome::Aborted => Err(Aborted { address }),
            Outcome::Start | Outcome::Done | Outcome::Arrived(_) => Ok(Vec::new()),
        }
    }

    fn run(&self, op: Op) -> Outcome {
        let Resume { now, outcome } = self.yielder.suspend(op);
        self.now.set(now);
        outcome
    }
}
