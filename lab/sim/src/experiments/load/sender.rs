//! The program of a sender.

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::Ps;
use crate::models::ht::opteron::{LINE_BYTES, Local, Op, Outcome, Program};

use super::board::Board;
use super::{Message, Messages};

/// Bytes of a message's number, at the front of each line.
const NUMBER_BYTES: u64 = 8;

/// Sends messages in order, each when it is due and may go.
pub(super) struct Sender {
    pub(super) me: usize,
    pub(super) begin: Ps,
    pub(super) messages: Messages,
    /// The message that waits for its time or its turn.
    pub(super) pending: Option<Message>,
    /// The last message does not fill its last line, which stays in a buffer without a fence.
    pub(super) ends_with_fence: bool,
    pub(super) in_flight_max: u64,
    /// Where the targets' memories begin.
    pub(super) bases: Rc<[u64]>,
    /// This sender's place in them.
    pub(super) offset: u64,
    pub(super) board: Rc<RefCell<Board>>,
}

impl Sender {
    fn send(&mut self, message: Message, due: Ps) -> Op {
        let bytes = message.bytes.max(1).next_multiple_of(NUMBER_BYTES);
        let lines = message.bytes.div_ceil(LINE_BYTES);
        let number =
            self.board
                .borrow_mut()
                .begin((self.me, message.to), (message.bytes, lines), due);
        self.ends_with_fence = !bytes.is_multiple_of(LINE_BYTES);
        let mut data = vec![0; bytes as usize];
        for line in data.chunks_mut(LINE_BYTES as usize) {
            line[..NUMBER_BYTES as usize].copy_from_slice(&number.to_le_bytes());
        }
        let base = self.bases.get(message.to).copied().unwrap_or_default();
        Op::Store {
            address: base + self.offset,
            data,
        }
    }
}

impl Program for Sender {
    fn resume(&mut self, local: Local<'_>, outcome: Outcome) -> Op {
        if outcome == Outcome::Aborted {
            self.board.borrow_mut().abort();
            return Op::Halt;
        }
        if std::mem::take(&mut self.ends_with_fence) {
            return Op::Fence;
        }
        let Some(message) = self.pending.take().or_else(|| self.messages.next()) else {
            return Op::Halt;
        };
        let due = message.due_ps.map(|due| self.begin + Ps(due));
        if let Some(due) = due.filter(|due| *due > local.now) {
            self.pending = Some(message);
            return Op::Compute(due - local.now);
        }
        let may_begin = self
            .board
            .borrow_mut()
            .may_begin(self.me, self.in_flight_max);
        if !may_begin {
            self.pending = Some(message);
            return Op::Suspend;
        }
        self.send(message, due.unwrap_or(local.now))
    }
}
