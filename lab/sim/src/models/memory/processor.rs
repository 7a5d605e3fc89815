//! How the processor waits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::Ps;

use super::ProcessorKind;

/// The processor's clock.
#[derive(Clone, Debug)]
pub(super) struct Processor {
    now: Ps,
    /// Most transactions on their way; 0: it blocks.
    in_flight_max: usize,
    ends: BinaryHeap<Reverse<Ps>>,
}

impl Processor {
    pub(super) fn new(kind: ProcessorKind) -> Processor {
        let in_flight_max = match kind {
            ProcessorKind::Blocking => 0,
            ProcessorKind::Overlapped { in_flight } => in_flight as usize,
        };
        Processor {
            now: Ps::ZERO,
            in_flight_max,
            ends: BinaryHeap::with_capacity(in_flight_max),
        }
    }

    pub(super) fn now(&self) -> Ps {
        self.now
    }

    pub(super) fn blocks(&self) -> bool {
        self.in_flight_max == 0
    }

    /// It works, or waits only for time to pass.
    #[inline]
    pub(super) fn work(&mut self, time: Ps) {
        self.now += time;
    }

    /// A transaction begins that takes `time`.
    #[inline]
    pub(super) fn transact(&mut self, time: Ps) {
        if self.blocks() {
            self.now += time;
            return;
        }
        if self.ends.len() == self.in_flight_max
            && let Some(Reverse(end)) = self.ends.pop()
        {
            self.now = self.now.max(end);
        }
        self.ends.push(Reverse(self.now + time));
    }

    /// Waits for everything that is on its way.
    pub(super) fn drain(&mut self) {
        while let Some(Reverse(end)) = self.ends.pop() {
            self.now = self.now.max(end);
        }
    }
}
