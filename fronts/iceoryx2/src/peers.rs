//! Tunnels of other hosts, as this one knows them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hostwire::station::{Buffer, Claim};
use hostwire::{Envelope, Ticket};

use crate::message::Kind;

/// Messages of one peer that are received at a time.
pub const COMING_MAX: usize = 16;
/// Bytes that are on their way to one peer before samples wait in their service, where its own rules decide which are lost.
pub const AHEAD_BYTES_MAX: usize = 8 << 20;

/// One of them.
#[derive(Default)]
pub struct Peer {
    /// Services in use there: its numbers, and those of this tunnel.
    pub offers: BTreeMap<u32, u32>,
    /// Services of which it wants what programs of this host write, by the numbers of this tunnel.
    pub wants: BTreeSet<u32>,
    /// Bytes on their way to it.
    pub ahead_bytes: usize,
    /// What it has sent, in order.
    pub coming: VecDeque<Coming>,
    /// The user header of its next sample.
    pub header: Vec<u8>,
}

/// A message that a peer has sent.
pub struct Coming {
    /// What it is.
    pub kind: Kind,
    /// The number of the service.
    pub number: u32,
    /// What was sent beside its bytes.
    pub data: u64,
    /// How far it has come.
    pub state: State,
}

/// How far a message has come.
pub enum State {
    /// There is no room for it yet.
    Waits(Claim, Envelope),
    /// It is received.
    Comes(Ticket),
    /// It is here. `None`: it was dropped.
    Here(Option<Box<dyn Buffer>>),
}

impl Peer {
    /// The first message, if all of it is here.
    pub fn next(&mut self) -> Option<Coming> {
        let is_here = matches!(self.coming.front()?.state, State::Here(_));
        is_here.then(|| self.coming.pop_front()).flatten()
    }

    /// One has come.
    pub fn has_come(&mut self, ticket: Ticket, buffer: Option<Box<dyn Buffer>>) {
        let is_it = |one: &&mut Coming| matches!(one.state, State::Comes(it) if it == ticket);
        if let Some(one) = self.coming.iter_mut().find(is_it) {
            one.state = State::Here(buffer);
        }
    }
}
