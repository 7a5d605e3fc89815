//! Programs that measure: lists of operations with marks between them.

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::Ps;
use crate::models::ht::opteron::{LINE_BYTES, Local, Op, Outcome, Program};

/// One step of a measuring program.
pub(super) enum Step {
    Do(Op),
    /// Writes the time down.
    Mark,
}

/// Times that a program wrote down.
#[derive(Clone, Default)]
pub(super) struct Marks(Rc<RefCell<Vec<Ps>>>);

impl Marks {
    pub(super) fn times(&self) -> Vec<Ps> {
        self.0.borrow().clone()
    }
}

/// Runs steps in order; ends early if an operation is aborted.
pub(super) struct Timed {
    steps: Box<dyn Iterator<Item = Step>>,
    marks: Marks,
}

impl Timed {
    /// The steps are made one by one as they are run: long streams need no memory.
    pub(super) fn new(steps: impl IntoIterator<Item = Step> + 'static) -> (Timed, Marks) {
        let marks = Marks::default();
        let steps = Box::new(steps.into_iter());
        (
            Timed {
                steps,
                marks: marks.clone(),
            },
            marks,
        )
    }
}

impl Program for Timed {
    fn resume(&mut self, local: Local<'_>, outcome: Outcome) -> Op {
        if outcome == Outcome::Aborted {
            return Op::Halt;
        }
        loop {
            match self.steps.next() {
                Some(Step::Do(op)) => return op,
                Some(Step::Mark) => self.marks.0.borrow_mut().push(local.now),
                None => return Op::Halt,
            }
        }
    }
}

/// Bare stores, one line after the other, without a fence.
#[derive(Clone, Copy)]
pub(super) struct BareStores {
    pub(super) address: u64,
    pub(super) lines: u64,
    /// Bytes stored at the begin of each line.
    pub(super) bytes: usize,
    /// Bytes from `address` on; then the lines begin again.
    pub(super) window_bytes: u64,
}

impl BareStores {
    pub(super) fn program(self) -> Timed {
        Timed::new(self.steps()).0
    }

    pub(super) fn steps(self) -> impl Iterator<Item = Step> {
        (0..self.lines).map(move |line| {
            Step::Do(Op::Store {
                address: self.address + line * LINE_BYTES % self.window_bytes,
                data: vec![line as u8; self.bytes],
            })
        })
    }
}
