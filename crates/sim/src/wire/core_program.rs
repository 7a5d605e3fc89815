//! The program on the modelled core of a PE: it carries out the operations of the
//! coroutine.

use crate::devices::opteron::{Local, Op, Outcome, Program};

use super::board::{Request, SharedBoard};

/// The core's end of the board. Between two requests the core is suspended; the driver
/// wakes it.
pub(super) struct CoreProgram {
    pub(super) board: SharedBoard,
    pub(super) pe: usize,
}

impl Program for CoreProgram {
    fn resume(&mut self, _: Local<'_>, outcome: Outcome) -> Op {
        let board = &mut *self.board.lock();
        let Some(pe) = board.pes.get_mut(self.pe) else {
            return Op::Halt;
        };
        if pe.ended {
            return Op::Halt;
        }
        match std::mem::replace(&mut pe.request, Request::Doing) {
            // It was woken for this.
            Request::Do(op) => return op,
            // Started, woken, or done with its operation.
            Request::None | Request::Doing | Request::Store { .. } | Request::Arrival => {}
        }
        pe.request = Request::None;
        pe.outcome = Some(outcome);
        pe.woken = false;
        board.ready.push_back(self.pe);
        Op::Suspend
    }
}
