//! Programs that measure: lists of operations with marks between them.

use std::cell::RefCell;
use std::rc::Rc;

use crate::devices::opteron::{LINE_BYTES, Local, Op, Outcome, Program};
use crate::engine::Ps;

/// From this message size on a ping-pong goes through few phases only.
const LONG_BYTES: u64 = 8 << 10;
const LONG_ROUNDS: u64 = 2;

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

/// Stores of whole lines, or of one part of a line, with `word` in every word.
/// Ordered: a fence after each. Otherwise one before the last, whose last word
/// tells the receiver that all is there, and one after it.
fn message(address: u64, bytes: u64, word: u64, ordered: bool) -> impl Iterator<Item = Step> {
    let piece = bytes.min(LINE_BYTES);
    let lines = bytes / piece.max(1);
    (0..lines).flat_map(move |line| {
        let data = word.to_le_bytes().repeat(piece as usize / 8);
        let store = Op::Store {
            address: address + line * LINE_BYTES,
            data,
        };
        let fence = ordered || line + 2 >= lines;
        [Some(Step::Do(store)), fence.then_some(Step::Do(Op::Fence))]
            .into_iter()
            .flatten()
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
    /// A fence after each line.
    pub(super) ordered: bool,
    /// Length of a poll; the phases go through it.
    pub(super) poll: Ps,
}

impl PingPong {
    /// Phases of a poll, one per nanosecond.
    fn phases(&self) -> u64 {
        (self.poll.0 / 1_000).max(1)
    }

    /// Eight passes through the phases, paired differently in each; one for long
    /// messages, whose time a phase hardly changes; a few phases for very long ones.
    pub(super) fn rounds(&self) -> u64 {
        match self.bytes {
            0..=1_024 => 8 * self.phases(),
            1_025..=LONG_BYTES => self.phases(),
            _ => self.phases().min(LONG_ROUNDS),
        }
    }

    /// How long a side waits before it sends in a round, so that messages arrive
    /// at all phases of the other side's poll loop.
    fn phase(&self, round: u64, second: bool) -> Ps {
        let round = if self.bytes > LONG_BYTES {
            round * (self.phases() / LONG_ROUNDS).max(1)
        } else {
            round
        };
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
        let me = *self;
        Timed::new((0..me.rounds()).flat_map(move |round| {
            [Step::Do(Op::Compute(me.phase(round, false))), Step::Mark]
                .into_iter()
                .chain(message(me.ping, me.bytes, round + 1, me.ordered))
                .chain([me.receive(me.pong, round), Step::Mark])
        }))
    }

    pub(super) fn second(&self) -> Timed {
        let me = *self;
        let steps = (0..me.rounds()).flat_map(move |round| {
            let wait = Step::Do(Op::Compute(me.phase(round, true)));
            [me.receive(me.ping, round), wait]
                .into_iter()
                .chain(message(me.pong, me.bytes, round + 1, me.ordered))
        });
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
        let marked = [Step::Mark].into_iter().chain(self.steps());
        Timed::new(marked.chain([Step::Mark]))
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = Step> + use<> {
        let me = *self;
        (0..me.lines).flat_map(move |line| {
            let store = Op::Store {
                address: me.address + line * LINE_BYTES,
                data: vec![line as u8; me.bytes],
            };
            let fence = me.ordered.then_some(Step::Do(Op::Fence));
            let work = me.work.map(|work| Step::Do(Op::Compute(work)));
            [Some(Step::Do(store)), fence, work].into_iter().flatten()
        })
    }
}
