//! Starting and ending sends and receives in the background.

use std::cell::Cell;

use hostwire_transport::PeId;

use super::buffer::Buffer;
use super::header::{Form, Header};
use super::matching::Found;
use super::pattern::{Envelope, Pattern};
use super::peer::{Arriving, Aside, Body};
use super::receive::Receiving;
use super::remote::Asking;
use super::requests::{QueueId, Ticket, Work};
use super::send::Sending;
use super::target::Target;
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
        self.start_in_turn(inner, to, ticket)
    }

    /// What goes to one peer leaves in the order in which it was started.
    fn start_in_turn(&mut self, inner: &Inner, to: PeId, ticket: Ticket) -> Result<Ticket> {
        let peer = self.peer(to)?;
        peer.far().outbox.push_back(ticket);
        peer.settle();
        if !self.send_outbox(inner, to)? && !self.sending.contains(&to) {
            self.sending.push(to);
        }
        Ok(ticket)
    }

    /// Starts an operation on registered memory of another, which goes on in the background: in its
    /// place among the sends.
    pub(crate) fn start_ask(
        &mut self,
        inner: &Inner,
        queue: QueueId,
        asking: Asking,
    ) -> Result<Ticket> {
        let to = asking.to();
        let ticket = self.requests.add(queue, Work::Ask(asking));
        self.start_in_turn(inner, to, ticket)
    }

    /// Starts a receive, which goes on in the background.
    pub(crate) fn start_receive(
        &mut self,
        inner: &Inner,
        queue: QueueId,
        receiving: Receiving<'static>,
    ) -> Result<Ticket> {
        // It looks whether its message is here; what comes from now on finds it.
        let found = self.find(inner, receiving.pattern())?;
        let ticket = self.requests.add(queue, Work::Receive(receiving));
        self.begin_receive(inner, ticket, found);
        Ok(ticket)
    }

    /// The same for a station, into the front of `room`, which is taken if nothing fails. If that is for several messages,
    /// all that have come are received.
    pub(crate) fn start_receive_into(
        &mut self,
        inner: &Inner,
        queue: QueueId,
        pattern: Pattern,
        room: &Cell<Option<Box<dyn Buffer>>>,
    ) -> Result<Ticket> {
        let found = self.find(inner, &pattern)?;
        let target = room.take().map_or(Target::Nowhere, Target::Owned);
        let ticket = self.requests.add_receive(queue, pattern, target);
        if let Some(rest) = self.begin_receive(inner, ticket, found) {
            self.receive_rest(inner, queue, pattern, rest);
        }
        Ok(ticket)
    }

    /// Goes on with a receive for several messages, the first of which has been found.
    #[cold]
    fn receive_rest(
        &mut self,
        inner: &Inner,
        queue: QueueId,
        pattern: Pattern,
        rest: Box<dyn Buffer>,
    ) {
        let mut next = Some(rest);
        while let Some(rest) = next {
            let found = self.find(inner, &pattern).unwrap_or_else(|error| {
                // The receive has begun: the next turn of progress says it.
                self.accused = Some(error);
                None
            });
            let ticket = self
                .requests
                .add_receive(queue, pattern, Target::Owned(rest));
            next = self.begin_receive(inner, ticket, found);
        }
    }

    /// Gives what is behind the message that was found, if it is for several.
    fn begin_receive(
        &mut self,
        inner: &Inner,
        ticket: Ticket,
        found: Option<Found>,
    ) -> Option<Box<dyn Buffer>> {
        if found.is_none() {
            self.requests.post(ticket);
            return None;
        }
        let request = self.requests.take(ticket);
        let rest = request.and_then(|request| self.run_one(inner, ticket, request, found));
        let is_unmatched = self.requests.get(ticket).is_some_and(
            |request| matches!(&request.work, Work::Receive(receiving) if !receiving.has_begun()),
        );
        if is_unmatched {
            self.requests.post(ticket);
        }
        rest
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
                if self.requests.unpost(ticket).is_none() {
                    return Ok(false);
                }
            }
            // Its place is taken.
            Work::Ask(_) => return Ok(false),
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
            self.requests.finish(ticket, request, Err(Error::Cancelled));
        }
        Ok(true)
    }

    /// A receive that its caller has given up goes on without it: its sender does its part,
    /// into the staging memory for one.
    pub(super) fn adopt(&mut self, receiving: Receiving<'static>) {
        // Otherwise it is another thread that takes the lines which are on their way.
        let from = receiving.peer().filter(|_| receiving.takes_lines());
        let ticket = self.requests.add(0, Work::Receive(receiving));
        if let Some(peer) = from.and_then(|pe| self.peers.get_mut(pe))
            && matches!(peer.arriving, Arriving::Caller)
        {
            peer.arriving = Arriving::Request(ticket);
        }
        self.requests.run_again(ticket);
    }

    /// A send that its caller has given up goes on without it: its receiver waits for the bytes.
    pub(super) fn adopt_send(&mut self, sending: Sending<'static>) {
        let (to, number) = (sending.to(), sending.unanswered());
        let ticket = self.requests.add(0, Work::Send(sending));
        if let Some(number) = number
            && let Some(peer) = self.peers.get_mut(to)
        {
            peer.far().unaccepted.hand_to(number, ticket);
        }
        self.requests.run_again(ticket);
    }

    /// A message that is here whole goes to the receive in the background that was posted
    /// first of those that take it, or is set aside.
    pub(super) fn arrive(&mut self, inner: &Inner, aside: Aside) -> Result<()> {
        let front = Header {
            kind: aside.kind,
            envelope: aside.envelope,
            form: Form::Whole(0),
        };
        if let Body::Whole(bytes) = &aside.body {
            while let Some(ticket) = self.requests.first_posted(&front) {
                let place = self.requests.unpost(ticket);
                let Some(mut request) = self.requests.take(ticket) else {
                    continue;
                };
                let Work::Receive(receiving) = &mut request.work else {
                    continue;
                };
                let taken = receiving.take_bytes(inner, aside.envelope, bytes);
                let is_taken = taken.is_ok();
                if is_taken {
                    let len = aside.envelope.len_bytes;
                    self.requests
                        .post_rest(place.unwrap_or(0), &mut request, len);
                }
                let result = taken.map(|()| aside.envelope);
                self.requests.finish(ticket, request, result);
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
        (kind, envelope): (Kind, Envelope),
        bytes: Vec<u8>,
    ) -> Result<()> {
        self.news = true;
        let aside = Aside {
            kind,
            envelope,
            arrival: 0,
            body: Body::Whole(bytes),
        };
        self.arrive(inner, aside)
    }
}
