//! Programs that measure: lists of operations with marks between them.

use std::cell::RefCell;
use std::rc::Rc;

use crate::devices::opteron::{LINE_BYTES, Local, Op, Outcome, Program};
use crate::engine::Ps;

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
    steps: std::vec::IntoIter<Step>,
    marks: Marks,
}

impl Timed {
    pub(super) fn new(steps: Vec<Step>) -> (Timed, Marks) {
        let marks = Marks::default();
        (
            Timed {
                steps: steps.into_iter(),
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

/// How a stream of lines is stored.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    pub(super) address: u64,
    pub(super) lines: u64,
    /// Bytes stored at the begin of each line.
    pub(super) bytes: usize,
    /// A fence after each line.
    pub(super) ordered: bool,
    /// Work of the sender after each line.
    pub(super) work: Option<Ps>,
}

impl Stream {
    /// The program; its marks are begin and end as the sender sees them.
    pub(super) fn program(&self) -> (Timed, Marks) {
        let mut steps = vec![Step::Mark];
        steps.extend(self.steps());
        steps.push(Step::Mark);
        Timed::new(steps)
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for line in 0..self.lines {
            let data = vec![line as u8; self.bytes];
            steps.push(Step::Do(Op::Store {
                address: self.address + line * LINE_BYTES,
                data,
            }));
            steps.extend(self.ordered.then_some(Step::Do(Op::Fence)));
            steps.extend(self.work.map(|work| Step::Do(Op::Compute(work))));
        }
        steps
    }
}
