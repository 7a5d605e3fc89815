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

/// Stores of whole lines, or of one part of a line, with `word` in every word and
/// a fence after each.
pub(super) fn fenced_message(address: u64, bytes: u64, word: u64) -> impl Iterator<Item = Step> {
    let piece = bytes.min(LINE_BYTES);
    (0..bytes / piece.max(1)).flat_map(move |line| {
        let data = word.to_le_bytes().repeat(piece as usize / 8);
        [
            Step::Do(Op::Store {
                address: address + line * LINE_BYTES,
                data,
            }),
            Step::Do(Op::Fence),
        ]
    })
}

/// Where the two sides of a ping-pong write and poll.
#[derive(Clone, Copy)]
pub(super) struct PingPong {
    /// Written by the first side, polled by the second.
    pub(super) ping: u64,
    /// Written by the second side, polled by the first.
    pub(super) pong: u64,
    /// Message size: 8 to 64 bytes in words, or whole lines.
    pub(super) bytes: u64,
    /// Length of a poll; the phases go through it.
    pub(super) poll: Ps,
}

impl PingPong {
    /// Phases of a poll, one per nanosecond.
    fn phases(&self) -> u64 {
        (self.poll.0 / 1_000).max(1)
    }

    /// Eight passes through the phases, paired differently in each; one for long
    /// messages, whose time a phase hardly changes.
    pub(super) fn rounds(&self) -> u64 {
        let passes = if self.bytes > 1_024 { 1 } else { 8 };
        passes * self.phases()
    }

    /// How long a side waits before it sends in a round, so that messages arrive
    /// at all phases of the other side's poll loop.
    fn phase(&self, round: u64, second: bool) -> Ps {
        let step = if second {
            round * 31 + round / self.phases() * 9
        } else {
            round
        };
        Ps::from_ns(step % self.phases())
    }

    fn receive(&self, from: u64, round: u64) -> Step {
        Step::Do(Op::Poll {
            address: from + self.bytes - 8,
            not: round.to_le_bytes().to_vec(),
        })
    }

    pub(super) fn first(&self) -> (Timed, Marks) {
        let mut steps = Vec::new();
        for round in 0..self.rounds() {
            steps.push(Step::Do(Op::Compute(self.phase(round, false))));
            steps.push(Step::Mark);
            steps.extend(fenced_message(self.ping, self.bytes, round + 1));
            steps.push(self.receive(self.pong, round));
            steps.push(Step::Mark);
        }
        Timed::new(steps)
    }

    pub(super) fn second(&self) -> Timed {
        let mut steps = Vec::new();
        for round in 0..self.rounds() {
            steps.push(self.receive(self.ping, round));
            steps.push(Step::Do(Op::Compute(self.phase(round, true))));
            steps.extend(fenced_message(self.pong, self.bytes, round + 1));
        }
        Timed::new(steps).0
    }

    /// Mean half round trip; what the second side waited on purpose does not
    /// count.
    pub(super) fn half_round_trip_ns(&self, marks: &Marks) -> Option<f64> {
        let times = marks.times();
        let rounds = times
            .chunks_exact(2)
            .zip(0..)
            .map(|(pair, round)| pair[1] - pair[0] - self.phase(round, true));
        let trips: Vec<f64> = rounds.map(Ps::as_ns).collect();
        let complete = trips.len() as u64 == self.rounds();
        complete.then(|| trips.iter().sum::<f64>() / trips.len() as f64 / 2.0)
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
