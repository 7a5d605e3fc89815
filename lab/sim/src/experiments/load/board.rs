//! What is on the way, and what has arrived.

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::Ps;
use crate::experiments::ExperimentError;
use crate::models::ht::Packet;
use crate::models::ht::opteron::WriteObserver;

use super::summary::{Arrived, Latencies};

/// A message that was begun. Its place in the list is its number, which every part of it
/// carries: a line, or a piece of a frame.
struct Begun {
    from: u32,
    to: u32,
    bytes: u64,
    parts_left: u64,
    due: Ps,
    /// Zero before it has arrived.
    latency: Ps,
}

/// A sender.
#[derive(Clone, Default)]
struct Sending {
    core: u8,
    in_flight: u64,
    waits: bool,
}

/// Shared between the senders and those who watch memory.
pub(in crate::experiments) struct Board {
    begin: Ps,
    last: Ps,
    messages: Vec<Begun>,
    senders: Vec<Sending>,
    woken: Vec<usize>,
    aborted: bool,
}

impl Board {
    pub(in crate::experiments) fn new(begin: Ps, sockets: usize) -> Board {
        Board {
            begin,
            last: begin,
            messages: Vec::new(),
            senders: vec![Sending::default(); sockets],
            woken: Vec::new(),
            aborted: false,
        }
    }

    pub(super) fn set_core(&mut self, socket: usize, core: u8) {
        self.senders[socket].core = core;
    }

    /// Whether `from` may begin a message. If not, it is woken when it may.
    pub(in crate::experiments) fn may_begin(&mut self, from: usize, in_flight_max: u64) -> bool {
        let sender = &mut self.senders[from];
        sender.waits = sender.in_flight >= in_flight_max;
        !sender.waits
    }

    /// Notes a message of so many parts; returns its number.
    pub(in crate::experiments) fn begin(
        &mut self,
        (from, to): (usize, usize),
        (bytes, parts): (u64, u64),
        due: Ps,
    ) -> u64 {
        self.senders[from].in_flight += 1;
        self.messages.push(Begun {
            from: from as u32,
            to: to as u32,
            bytes,
            parts_left: parts,
            due,
            latency: Ps::ZERO,
        });
        self.messages.len() as u64 - 1
    }

    pub(super) fn abort(&mut self) {
        self.aborted = true;
    }

    /// A part of message `number` has arrived at `to`.
    pub(in crate::experiments) fn part(&mut self, to: usize, number: u64, now: Ps) {
        let message = usize::try_from(number)
            .ok()
            .and_then(|number| self.messages.get_mut(number))
            .filter(|message| message.to as usize == to && message.parts_left > 0);
        let Some(message) = message else { return };
        message.parts_left -= 1;
        if message.parts_left > 0 {
            return;
        }
        message.latency = now - message.due;
        self.last = now;
        let from = message.from as usize;
        let sender = &mut self.senders[from];
        sender.in_flight -= 1;
        if std::mem::take(&mut sender.waits) {
            self.woken.push(from);
        }
    }

    /// Senders that may go on.
    pub(in crate::experiments) fn take_woken(&mut self) -> Vec<usize> {
        // Mostly nobody: this allocates nothing then.
        std::mem::take(&mut self.woken)
    }

    pub(super) fn core(&self, socket: usize) -> u8 {
        self.senders[socket].core
    }

    /// The results, when no event is left.
    pub(in crate::experiments) fn finish(&mut self) -> Result<Latencies, ExperimentError> {
        let messages = std::mem::take(&mut self.messages);
        if self.aborted || messages.iter().any(|message| message.parts_left > 0) {
            return Err(ExperimentError::NoMeasurement("a message did not arrive"));
        }
        let arrived = messages.into_iter().map(|message| Arrived {
            flow: (message.from, message.to),
            bytes: message.bytes,
            latency: message.latency,
        });
        Latencies::of(arrived.collect(), self.last - self.begin)
            .ok_or(ExperimentError::NoMeasurement("no message"))
    }
}

/// Watches the memory of a socket.
pub(super) struct Watcher {
    socket: usize,
    board: Rc<RefCell<Board>>,
}

impl Watcher {
    pub(super) fn new(socket: usize, board: &Rc<RefCell<Board>>) -> Watcher {
        Watcher {
            socket,
            board: Rc::clone(board),
        }
    }
}

impl WriteObserver for Watcher {
    fn wrote(&mut self, now: Ps, packet: &Packet) {
        if let Some(number) = packet.data.first_chunk() {
            let number = u64::from_le_bytes(*number);
            self.board.borrow_mut().part(self.socket, number, now);
        }
    }
}
