//! Starting and ending sends and receives in the background.

use super::front::{Form, Front};
use super::pattern::Envelope;
use super::peer::{Arriving, Aside, Body};
use super::receive::Receiving;
use super::requests::{QueueId, Ticket, Work};
use super::send::Sending;
use super::{Kind, Messages};
use crate::error::{Error, Result};
use crate::inner::Inner;

impl Messages {
    /// Starts a send, which goes on in the background.
    pub(crate) fn start_send(
        &mut self,
        inner: &Inner,
        queue: QueueId,
        sending: Sending<'static>,
    ) -> Result<Ticket> {
        let to = sending.to();
        let ticket = self.requests.add(queue, Work::Send(sending));
        let peer = self.peer(to)?;
        peer.far().outbox.push_back(ticket);
        peer.settle();
        if !self.send_outbox(inner, to)? && !self.sending.contains(&to) {
            self.sending.push(to);
        }
        Ok(ticket)
    }

    /// Starts a receive, which goes on in the background.
    pub(crate) fn start_receive(
        &mut self,
        inner: &Inner,
        queue: QueueId,
        receiving: Receiving<'static>,
    ) -> Result<Ticket> {
        let pattern = *receiving.pattern();
        let ticket = self.requests.add(queue, Work::Receive(receiving));
        // What comes from now on finds it; and it looks whether its message is here.
        if let Err(error) = self.probe(inner, &pattern) {
            self.requests.release(ticket);
            return Err(error);
        }
        self.run(inner, ticket);
        let is_unmatched = self.requests.get(ticket).is_some_and(
            |request| matches!(&request.work, Work::Receive(receiving) if !receiving.has_begun()),
        );
        if is_unmatched {
            self.requests.post(ticket);
        }
        Ok(ticket)
    }

    /// Ends one of `queue` that has not begun to move: a send that is not in the ring, a
    /// receive without a message. Returns false if it goes on, or has ended.
    pub(crate) fn cancel(&mut self, queue: QueueId, ticket: Ticket) -> Result<bool> {
        let request = self.requests.get(ticket);
        let Some(request) = request.filter(|request| request.queue == queue) else {
            return Ok(false);
        };
        match &request.work {
            Work::Receive(_) => {
                if !self.requests.unpost(ticket) {
                    return Ok(false);
                }
            }
            Work::Send(sending) => {
                if sending.has_begun() {
                    return Ok(false);
                }
                let to = sending.to();
                let peer = self.peer(to)?;
                peer.far().outbox.retain(|queued| *queued != ticket);
                peer.settle();
            }
        }
        if let Some(request) = self.requests.take(ticket) {
            self.requests
                .finish(ticket, *request, Err(Error::Cancelled));
        }
        Ok(true)
    }

    /// A receive that its caller has given up goes on without it: its sender does its part,
    /// into the staging memory for one.
    pub(super) fn adopt(&mut self, receiving: Receiving<'static>) {
        // Otherwise it is another thread that takes the lines which are on their way.
        let from = receiving.peer().filter(|_| receiving.takes_lines());
        let ticket = self.requests.add(0, Work::Receive(receiving));
        if let Some(peer) = from.and_then(|pe| self.peers.get_mut(pe as usize))
            && matches!(peer.arriving, Arriving::Caller)
        {
            peer.arriving = Arriving::Request(ticket);
        }
        self.requests.run_again(ticket);
    }

    /// A message that is here whole goes to the receive in the background that was posted
    /// first of those that take it, or is set aside.
    pub(super) fn arrive(&mut self, inner: &Inner, aside: Aside) -> Result<()> {
        let front = Front {
            kind: aside.kind,
            envelope: aside.envelope,
            form: Form::Whole(0),
        };
        if let Body::Whole(bytes) = &aside.body {
            while let Some(ticket) = self.requests.first_posted(&front) {
                self.requests.unpost(ticket);
                let Some(mut request) = self.requests.take(ticket) else {
                    continue;
                };
                let Work::Receive(receiving) = &mut request.work else {
                    continue;
                };
                let taken = receiving.take_bytes(inner, aside.envelope, bytes);
                let is_taken = taken.is_ok();
                let result = taken.map(|()| aside.envelope);
                self.requests.finish(ticket, *request, result);
                if is_taken {
                    return Ok(());
                }
            }
        }
        self.put_aside(aside)
    }

    /// A message of this PE to itself is where it has to be at once.
    pub(super) fn send_to_self(
        &mut self,
        inner: &Inner,
        kind: Kind,
        envelope: Envelope,
        bytes: Vec<u8>,
    ) -> Result<()> {
        let arrival = self.next_arrival();
        self.news = true;
        let aside = Aside {
            kind,
            envelope,
            arrival,
            body: Body::Whole(bytes),
        };
        self.arrive(inner, aside)
    }
}
