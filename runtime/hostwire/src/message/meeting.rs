//! Peers that come one by one, and go: of a station, which is alone at first.

use std::collections::BTreeMap;
use std::sync::Arc;

use hostwire_transport::{PeId, Wire};

use super::Messages;
use super::matching::Found;
use super::pattern::{Envelope, Pattern};
use super::peer::{Arriving, Aside, Body, Peer};
use super::receive::Receiving;
use super::remote::Remote;
use super::requests::{QueueId, Ticket, Work};
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::layout::Layout;

/// Messages that somebody has taken for a receive of its own that is still to come.
#[derive(Default)]
pub(crate) struct Claims {
    claimed: BTreeMap<u64, Aside>,
    last: u64,
}

impl Messages {
    /// Those of a PE that knows nobody but itself.
    pub(crate) fn alone(wire: &Arc<dyn Wire>, layout: &Layout) -> Result<Self> {
        let mut alone = Self::with(wire, layout, 1, true)?;
        alone.listens = false;
        Ok(alone)
    }

    /// Knows the first `pes` PEs from now on. Sends to one that it has not met wait.
    pub(crate) fn know(&mut self, pes: u32) -> Result<()> {
        for pe in self.peers.known()..pes {
            let mut peer = Peer::new(&self.wire, &self.layout, pe, &self.rooms)?;
            peer.shut = true;
            peer.settle();
            self.peers.keep(peer);
            self.talking.push(pe);
            self.talks.push(true);
        }
        Ok(())
    }

    /// How many it knows, itself included.
    pub(crate) fn known(&self) -> u32 {
        self.peers.known()
    }

    /// There is a way to `pe` now.
    pub(crate) fn met(&mut self, inner: &Inner, pe: PeId) -> Result<()> {
        self.know(pe + 1)?;
        if !inner.is_there(pe) {
            return Ok(());
        }
        let (wire, layout) = (Arc::clone(&self.wire), self.layout);
        let Self { peers, rooms, .. } = self;
        let peer = peers.get_mut(pe);
        if let Some(peer) = peer.filter(|peer| peer.shut) {
            peer.connect(&wire, &layout, rooms)?;
            self.meet_room(pe)?;
            self.send_outbox(inner, pe)?;
        }
        Ok(())
    }

    /// `pe` has ended. What it has sent whole stays; what would need it fails with `error`.
    pub(crate) fn ended(&mut self, inner: &Inner, pe: PeId, error: &Error) -> Result<()> {
        self.know(pe + 1)?;
        // What it stored before it ended is there. If it is damaged, it is lost all the same.
        let _ = self.pump(inner, pe, None);
        // So is what it put into the staging memory.
        for ticket in self.requests.receives_from(pe) {
            self.run(inner, ticket);
        }
        // And what it had taken was taken.
        for ticket in self.requests.sends_to(pe) {
            self.end_if_taken(inner, ticket);
        }
        let announced = |aside: &Aside| matches!(aside.body, Body::Announced(_));
        while let Some(index) = self.peer(pe)?.aside.iter().position(announced) {
            self.take_aside(pe, index)?;
        }
        self.requests.fail(pe, error);
        self.claims
            .claimed
            .retain(|_, aside| aside.envelope.from != pe || matches!(aside.body, Body::Whole(_)));
        let peer = self.peer(pe)?;
        peer.shut = true;
        peer.arriving = Arriving::Nothing;
        peer.far().outbox.clear();
        peer.far().backlog.clear();
        peer.far().remote = Remote::default();
        peer.settle();
        self.talking.retain(|talking| *talking != pe);
        self.sending.retain(|sending| *sending != pe);
        self.free_staging_of(pe);
        self.leave_room(pe)
    }

    /// `pe` could not be met. What waits for it fails with `error`, and nothing else: it may still come by itself.
    /// Returns false if it has done so meanwhile.
    pub(crate) fn not_met(&mut self, pe: PeId, error: &Error) -> Result<bool> {
        self.know(pe + 1)?;
        let peer = self.peer(pe)?;
        if !peer.shut {
            return Ok(false);
        }
        peer.far().outbox.clear();
        peer.settle();
        self.sending.retain(|sending| *sending != pe);
        self.requests.fail(pe, error);
        Ok(true)
    }

    fn end_if_taken(&mut self, inner: &Inner, ticket: Ticket) {
        let Some(request) = self.requests.take(ticket) else {
            return;
        };
        let taken = match &request.work {
            Work::Send(sending) => {
                // Damaged words say nothing.
                let was_taken = sending.was_taken(inner, self) == Ok(true);
                was_taken.then(|| sending.envelope(inner.pe))
            }
            _ => None,
        };
        match taken {
            Some(envelope) => self.requests.finish(ticket, request, Ok(envelope)),
            None => self.requests.put_back(ticket, request),
        }
    }

    /// Tells all peers what it has taken of theirs, before it ends.
    pub(crate) fn say_what_was_taken(&mut self) {
        self.peers.for_each(|peer| {
            if !peer.own && !peer.shut {
                // Who cannot be told is lost.
                let _ = peer.receiver.return_all_credit();
            }
        });
    }

    /// Takes the message that a receive with this pattern would get now, for one that names it.
    pub(crate) fn claim(
        &mut self,
        inner: &Inner,
        pattern: &Pattern,
    ) -> Result<Option<(u64, Envelope)>> {
        loop {
            match self.find(inner, pattern)? {
                None => return Ok(None),
                Some(Found::Ring(front)) => self.set_aside(front.envelope.from, front)?,
                Some(Found::Aside(pe, index)) => {
                    let Some(aside) = self.take_aside(pe, index)? else {
                        return Ok(None);
                    };
                    let envelope = aside.envelope;
                    self.claims.last += 1;
                    self.claims.claimed.insert(self.claims.last, aside);
                    return Ok(Some((self.claims.last, envelope)));
                }
            }
        }
    }

    /// Starts to receive a message that was claimed. `None` if there is none of that number.
    pub(crate) fn receive_claimed(
        &mut self,
        inner: &Inner,
        queue: QueueId,
        claim: u64,
        mut receiving: Receiving<'static>,
    ) -> Result<Option<Ticket>> {
        let Some(aside) = self.claims.claimed.remove(&claim) else {
            return Ok(None);
        };
        receiving.take_aside(inner, self, aside)?;
        let ticket = self.requests.add(queue, Work::Receive(receiving));
        self.run(inner, ticket);
        Ok(Some(ticket))
    }
}
