//! A PE that a starter on another host looks after.

use std::cell::RefCell;
use std::rc::Rc;

use hostwire_bootstrap::starter::{Message, Order};
use rustix::process::Signal;

use super::super::pes::{End, Pe};
use super::super::pipe::Which;

/// If more bytes wait for a host, requests of its PEs are not answered.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// What waits to be sent to a starter. Shared with the PEs of its host.
#[derive(Clone, Debug, Default)]
pub struct Outgoing(Rc<RefCell<Vec<u8>>>);

impl Outgoing {
    pub fn push(&self, order: &Order) {
        self.push_bytes(&order.emit());
    }

    /// Bytes that are no order: before the starter is there.
    pub fn push_bytes(&self, bytes: &[u8]) {
        self.0.borrow_mut().extend(bytes);
    }

    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Lets `write` take bytes from the front. How many it has taken.
    pub fn drain(&self, write: impl FnOnce(&[u8]) -> usize) -> usize {
        let mut waiting = self.0.borrow_mut();
        let written = write(&waiting);
        waiting.drain(..written);
        written
    }

    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

/// What is known here of a PE.
#[derive(Debug, Default)]
pub struct State {
    /// Bytes of PMI that have not been taken.
    pub pmi: Vec<u8>,
    pub stdout: Output,
    pub stderr: Output,
    /// Whether it has been started, as far as this launcher has said so.
    pub is_started: bool,
    pub end: Option<End>,
    /// What is known of its memory, if it crashed.
    pub core: Option<String>,
    pub is_dying: bool,
}

/// An output of a PE.
#[derive(Debug, Default)]
pub struct Output {
    /// Bytes that have not been taken.
    pub bytes: Vec<u8>,
    /// Whether no more come.
    pub is_closed: bool,
}

impl State {
    pub fn output(&mut self, which: Which) -> &mut Output {
        match which {
            Which::Stdout => &mut self.stdout,
            Which::Stderr => &mut self.stderr,
        }
    }

    /// Nothing more is heard of it.
    pub fn give_up(&mut self) {
        self.end = self.end.or(Some(End::Unknown));
        self.stdout.is_closed = true;
        self.stderr.is_closed = true;
    }
}

/// The PE.
pub struct Far {
    pe: u32,
    outgoing: Outgoing,
    state: Rc<RefCell<State>>,
    /// The end, once the launcher has been told.
    noticed: Option<End>,
}

impl Far {
    pub fn new(pe: u32, outgoing: Outgoing, state: Rc<RefCell<State>>) -> Far {
        Far {
            pe,
            outgoing,
            state,
            noticed: None,
        }
    }
}

impl Pe for Far {
    fn end(&self) -> Option<End> {
        self.noticed
    }

    fn notice_end(&mut self) -> Option<End> {
        if self.noticed.is_none() {
            self.noticed = self.state.borrow().end;
            return self.noticed;
        }
        None
    }

    fn core(&self) -> Option<String> {
        self.state.borrow().core.clone()
    }

    fn is_dying(&self) -> bool {
        self.noticed.is_none() && self.state.borrow().is_dying
    }

    fn signal(&self, signal: Signal) {
        if !self.state.borrow().is_started {
            return;
        }
        let signal = signal.as_raw();
        self.outgoing.push(&Order::Signal {
            pe: self.pe,
            signal,
        });
    }

    fn is_deaf(&self) -> bool {
        self.outgoing.len() > WAITING_BYTES_MAX
    }

    fn has_requests(&self) -> bool {
        !self.state.borrow().pmi.is_empty()
    }

    fn holds_output(&self, which: Which) -> bool {
        !self.state.borrow_mut().output(which).bytes.is_empty()
    }

    fn receive(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.state.borrow_mut().pmi)
    }

    fn send(&mut self, bytes: &[u8]) {
        self.outgoing.push(&Order::Pmi {
            pe: self.pe,
            bytes: bytes.to_vec(),
        });
    }

    fn is_open(&self, which: Which) -> bool {
        let mut state = self.state.borrow_mut();
        let output = state.output(which);
        !output.is_closed || !output.bytes.is_empty()
    }

    fn read_output(&mut self, which: Which) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.state.borrow_mut().output(which).bytes);
        if !bytes.is_empty() {
            self.outgoing.push(&Order::Took(bytes.len() as u32));
        }
        bytes
    }

    fn close_output(&mut self, which: Which) {
        self.state.borrow_mut().output(which).is_closed = true;
    }
}
