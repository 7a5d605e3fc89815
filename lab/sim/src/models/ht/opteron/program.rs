//! Programs that run on a core.

use crate::engine::Ps;

use super::memory::Memory;

/// One thing a program asks of its core.
///
/// Which way a store or load goes follows from the memory type of its address
/// (MTRRs): write-combining, uncached, or write-back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Stores bytes at a system address, lowest first.
    Store {
        /// Where.
        address: u64,
        /// What.
        data: Vec<u8>,
    },
    /// `sfence`: goes on when all earlier stores have left the core.
    Fence,
    /// Loads bytes.
    Load {
        /// Where.
        address: u64,
        /// How many.
        bytes: usize,
    },
    /// Begins an uncached load and goes on. What has arrived comes with [`Op::AwaitLoads`].
    LoadAhead {
        /// Where.
        address: u64,
        /// How many: one packet asks for at most 64, with those of the first dword before it.
        bytes: usize,
    },
    /// Goes on when at most so many loads ahead are under way.
    AwaitLoads {
        /// How many.
        in_flight: usize,
    },
    /// Loads the bytes again and again until they differ from `not`.
    Poll {
        /// Where.
        address: u64,
        /// The value to wait away from; its length is the length of the load.
        not: Vec<u8>,
    },
    /// Computes for a while.
    Compute(Ps),
    /// Goes on at the event [`wake`](super::OpteronEvent::Wake).
    Suspend,
    /// Sends an interrupt to all devices.
    Broadcast {
        /// Interrupt vector.
        vector: u8,
    },
    /// The program is over.
    Halt,
}

/// The result of the last [`Op`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There was no operation: the program starts.
    Start,
    /// It is done.
    Done,
    /// The bytes of a load, or the first differing bytes of a poll.
    Loaded(Vec<u8>),
    /// The loads ahead that have arrived since the last [`Op::AwaitLoads`], in that order.
    Arrived(Vec<Arrival>),
    /// No register claims the address, or the link behind it is down.
    Aborted,
}

/// A load ahead that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Where it loaded from.
    pub address: u64,
    /// When the core issued it.
    pub issued: Ps,
    /// When the core had it.
    pub arrived: Ps,
    /// Its bytes; `None` if nobody answers at that address.
    pub data: Option<Vec<u8>>,
}

/// The node as a program sees it while it decides.
pub struct Local<'a> {
    /// Current time.
    pub now: Ps,
    /// Access to this socket's memory that takes no time: for setting up and for
    /// checking results. An access that takes time is an [`Op`].
    pub memory: &'a mut Memory,
}

/// A program. A coroutine that runs ordinary code implements it by yielding
/// [`Op`]s and being resumed with [`Outcome`]s.
pub trait Program {
    /// Decides what comes next.
    fn resume(&mut self, local: Local<'_>, outcome: Outcome) -> Op;
}

impl<F: FnMut(Local<'_>, Outcome) -> Op> Program for F {
    fn resume(&mut self, local: Local<'_>, outcome: Outcome) -> Op {
        self(local, outcome)
    }
}

/// A fixed list of operations.
pub struct Script {
    ops: std::vec::IntoIter<Op>,
}

impl Script {
    /// Runs `ops` in order, then halts.
    pub fn new(ops: Vec<Op>) -> Script {
        Script {
            ops: ops.into_iter(),
        }
    }
}

impl Program for Script {
    fn resume(&mut self, _: Local<'_>, _: Outcome) -> Op {
        self.ops.next().unwrap_or(Op::Halt)
    }
}
