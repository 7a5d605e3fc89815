//! The program on a modelled core: it carries out the operations of its PEs.

use crate::engine::Ps;
use crate::models::ht::opteron::{Local, Op, Outcome, Program};

use super::board::{self, Board, Request, SharedBoard};

/// The core's end of the board. A core with several PEs takes their operations in turn, in the
/// order in which they come. With nothing to do it is suspended; the driver wakes it.
pub(super) struct CoreProgram {
    pub(super) board: SharedBoard,
    pub(super) core: usize,
}

impl Program for CoreProgram {
    fn resume(&mut self, local: Local<'_>, outcome: Outcome) -> Op {
        let board = &mut *self.board.lock();
        let Some(core) = board.cores.get_mut(self.core) else {
            return Op::Halt;
        };
        if outcome == Outcome::Start {
            // Each of its PEs begins.
            let pes = core.pes.clone();
            for pe in pes {
                board.release(pe, board::Outcome::Done);
            }
            return Op::Suspend;
        }
        if let Some(pe) = core.current.take() {
            let outcome = match outcome {
                Outcome::Aborted => board::Outcome::Aborted,
                _ => board::Outcome::Done,
            };
            board.release(pe, outcome);
        }
        board.release_woken(self.core, local.now);
        board.next_op(self.core)
    }
}

impl Board {
    /// Lets those PEs of a core go on whose sleeps or waits are over.
    fn release_woken(&mut self, core: usize, now: Ps) {
        let mut index = 0;
        while let Some(&pe) = self.cores.get(core).and_then(|core| core.pes.get(index)) {
            self.release_due(pe, now);
            index += 1;
        }
    }

    /// The operation that a core does next.
    fn next_op(&mut self, core: usize) -> Op {
        let Some(core) = self.cores.get_mut(core) else {
            return Op::Halt;
        };
        while let Some(pe) = core.queue.pop_front() {
            let Some(entry) = self.pes.get_mut(pe) else {
                continue;
            };
            if let Request::Do(op) = std::mem::replace(&mut entry.request, Request::Doing) {
                core.current = Some(pe);
                return match op {
                    board::Op::Store { address, data } => Op::Store { address, data },
                    board::Op::Fence => Op::Fence,
                    board::Op::Compute(time) => Op::Compute(time),
                };
            }
        }
        let ended = |pe: &usize| self.pes.get(*pe).is_none_or(|entry| entry.ended);
        match core.pes.iter().all(ended) {
            true => Op::Halt,
            false => Op::Suspend,
        }
    }
}
