//! Which message goes to which receive.
//!
//! Messages of one PE are looked at in the order in which they were sent, whatever their
//! tags. Each goes to the receive in the background that was posted first of those that
//! take it; else to the call that waits, if it takes it; else it is set aside. A receive
//! looks at what was set aside first. So of two messages that a receive takes it gets the
//! one that was sent first, and of two receives that take a message the one that was
//! posted first gets it: the rule of MPI that messages do not overtake each other.
//!
//! What is set aside is bounded. A PE that keeps more than [`Messages::budget_bytes`] of a
//! sender tells it to announce its messages from now on, which stay with the sender until
//! they are received, and to send them whole again when half of that is left. All that the
//! PE still keeps of a message is what its announcement says, one for each send that waits.

use hostwire_transport::PeId;

use super::buffer::Buffer;
use super::header::{ANSWER, Form, Header, Next};
use super::long::{DELIVERED, Delivery};
use super::pattern::{Pattern, Source};
use super::peer::{ASIDE_BYTES, Arriving, Aside, Body, Peer};
use super::requests::{Request, Ticket, Work};
use super::{ASIDES_MAX, Messages};
use crate::error::{Error, Misbehaviour, Result};
use crate::inner::Inner;

/// A message that a receive takes, and where it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found {
    /// Next in the ring.
    Ring(Header),
    /// Set aside, of this PE, at this index.
    Aside(PeId, usize),
}

/// Why nothing more is taken out of a ring.
enum Stop {
    /// There is nothing more, or not yet.
    Empty,
    /// Enough was set aside.
    Full,
    /// This message is asked for.
    Wanted(Header),
}

impl Messages {
    /// The first message that `pattern` takes, if it has come.
    #[inline]
    pub(super) fn find(&mut self, inner: &Inner, pattern: &Pattern) -> Result<Option<Found>> {
        match pattern.from {
            Source::Pe(pe) => {
                // What is on its way to be set aside comes before what follows it.
                let is_at_front = self.finish_arriving(inner, pe)?;
                let peer = self.peer(pe)?;
                if !peer.aside.is_empty() {
                    let takes = |aside: &Aside| pattern.takes(aside.kind, &aside.envelope);
                    if let Some(index) = peer.aside.iter().position(takes) {
                        return Ok(Some(Found::Aside(pe, index)));
                    }
                }
                if !is_at_front {
                    return Ok(None);
                }
                Ok(self.pump(inner, pe, Some(pattern))?.map(Found::Ring))
            }
            Source::Any => self.find_anywhere(inner, pattern),
        }
    }

    fn find_anywhere(&mut self, inner: &Inner, pattern: &Pattern) -> Result<Option<Found>> {
        if self.listens && self.talking.len() + 1 < self.peers.known() as usize {
            self.listen()?;
        }
        for index in 0..self.talking.len() {
            if let Some(pe) = self.talking.get(index).copied() {
                self.finish_arriving(inner, pe)?;
            }
        }
        if let Some(found) = self.find_aside(pattern) {
            return Ok(Some(found));
        }
        // Somebody else is first each time.
        for step in 0..self.talking.len() {
            let turn = (self.turn + step) % self.talking.len();
            let Some(pe) = self.talking.get(turn).copied() else {
                continue;
            };
            if !matches!(self.peer(pe)?.arriving, Arriving::Nothing) {
                continue;
            }
            if let Some(front) = self.pump(inner, pe, Some(pattern))? {
                self.turn = turn + 1;
                return Ok(Some(Found::Ring(front)));
            }
        }
        Ok(None)
    }

    /// Of what was set aside, the message that came first.
    fn find_aside(&self, pattern: &Pattern) -> Option<Found> {
        if self.asides == 0 {
            return None;
        }
        let takes = |aside: &Aside| pattern.takes(aside.kind, &aside.envelope);
        let first = |peer: &Peer| {
            let index = peer.aside.iter().position(takes)?;
            Some((peer.aside.get(index)?.arrival, peer.pe, index))
        };
        let (_, pe, index) = self.peers.iter().filter_map(first).min()?;
        Some(Found::Aside(pe, index))
    }

    /// Brings to its place whatever has come in the ring of `pe`. Stops before the first
    /// message that `wanted` takes, and returns it. With `wanted`, the ring has to be at the
    /// first line of a message.
    pub(super) fn pump(
        &mut self,
        inner: &Inner,
        pe: PeId,
        wanted: Option<&Pattern>,
    ) -> Result<Option<Header>> {
        match self.pump_until(inner, pe, wanted, usize::MAX) {
            Ok(Stop::Wanted(front)) => Ok(Some(front)),
            Ok(Stop::Empty | Stop::Full) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same for a turn of progress, which wants none, and at a station sets few aside. False if there is
    /// more.
    pub(super) fn pump_some(&mut self, inner: &Inner, pe: PeId) -> Result<bool> {
        let most = if self.is_station {
            ASIDES_MAX
        } else {
            usize::MAX
        };
        let stop = self.pump_until(inner, pe, None, most)?;
        Ok(!matches!(stop, Stop::Full))
    }

    fn pump_until(
        &mut self,
        inner: &Inner,
        pe: PeId,
        wanted: Option<&Pattern>,
        asides_max: usize,
    ) -> Result<Stop> {
        let mut asides = 0;
        while self.finish_arriving(inner, pe)? {
            let peer = self.peer(pe)?;
            if peer.own || peer.shut {
                return Ok(Stop::Empty);
            }
            if self.requests.has_posted() && self.hand_over(pe) {
                continue;
            }
            let peer = self.peer(pe)?;
            match peer.look()? {
                None => return Ok(Stop::Empty),
                Some(Next::Answer(number, word)) => {
                    peer.receiver.take(&mut [])?;
                    self.heed(pe, number, word)?;
                }
                Some(Next::Remote(len)) => {
                    peer.arriving = Arriving::Remote(vec![0; len]);
                    peer.settle();
                }
                Some(Next::Message(front)) => {
                    if self.requests.has_posted() && self.offer(inner, &front)? {
                        continue;
                    }
                    if wanted.is_some_and(|wanted| wanted.takes(front.kind, &front.envelope)) {
                        return Ok(Stop::Wanted(front));
                    }
                    if asides == asides_max {
                        return Ok(Stop::Full);
                    }
                    self.set_aside(pe, front)?;
                    asides += 1;
                }
            }
        }
        Ok(Stop::Empty)
    }

    /// Goes on with the message whose lines are on their way. Returns whether the ring is at
    /// the first line of one now.
    #[inline]
    fn finish_arriving(&mut self, inner: &Inner, pe: PeId) -> Result<bool> {
        let peer = self.peer(pe)?;
        match &mut peer.arriving {
            Arriving::Nothing => Ok(true),
            Arriving::Caller => Ok(false),
            Arriving::Request(ticket) => {
                let ticket = *ticket;
                self.run(inner, ticket);
                Ok(matches!(self.peer(pe)?.arriving, Arriving::Nothing))
            }
            Arriving::Remote(bytes) => {
                if !peer.receiver.take(bytes)? {
                    return Ok(false);
                }
                let bytes = core::mem::take(bytes);
                peer.arriving = Arriving::Nothing;
                peer.settle();
                self.take_memory(pe, &bytes)?;
                Ok(matches!(self.peer(pe)?.arriving, Arriving::Nothing))
            }
            Arriving::Pulling(_) => self.pull(pe),
            Arriving::Aside(aside, skip) => {
                if let Body::Whole(bytes) = &mut aside.body
                    && !peer.receiver.take_behind(*skip, bytes)?
                {
                    return Ok(false);
                }
                if let Arriving::Aside(aside, _) =
                    core::mem::replace(&mut peer.arriving, Arriving::Nothing)
                {
                    peer.settle();
                    // A receive that takes it may have been posted meanwhile.
                    self.arrive(inner, *aside)?;
                }
                Ok(true)
            }
        }
    }

    /// Gives the message at hand to the first receive in the background that takes it.
    #[cold]
    fn offer(&mut self, inner: &Inner, front: &Header) -> Result<bool> {
        while let Some(ticket) = self.requests.first_posted(front) {
            let place = self.requests.unpost(ticket);
            let Some(mut request) = self.requests.take(ticket) else {
                continue;
            };
            let begun = match &mut request.work {
                Work::Receive(receiving) => receiving.begin(self, front),
                Work::Send(_) | Work::Ask(_) => Ok(()),
            };
            match begun {
                Ok(()) => {
                    let len = front.envelope.len_bytes;
                    self.requests
                        .post_rest(place.unwrap_or(0), &mut request, len);
                    self.run_one(inner, ticket, request, None);
                    return Ok(true);
                }
                Err(error) => match error.into_refusal() {
                    Ok(refusal) => self.requests.finish(ticket, request, Err(refusal)),
                    // It may have one of another peer yet.
                    Err(error) if self.is_station && request.is_for_anybody() => {
                        self.requests.put_back(ticket, request);
                        self.requests.post_again(place.unwrap_or(0), ticket);
                        return Err(error);
                    }
                    Err(error) => {
                        self.requests.finish(ticket, request, Err(error.clone()));
                        return Err(error);
                    }
                },
            }
        }
        Ok(false)
    }

    /// A word of `pe` about a long message.
    fn heed(&mut self, pe: PeId, number: u32, word: u64) -> Result<()> {
        if Self::is_of_rooms(number, word) {
            return self.heed_of_rooms(pe, word);
        }
        let peer = self.peer(pe)?;
        let said = if word == DELIVERED {
            peer.far().undelivered.say(number, word)
        } else {
            Delivery::from_word(pe, word)?;
            peer.far().unaccepted.say(number, word)
        };
        match said {
            Ok(Some(ticket)) => {
                self.requests.run_again(ticket);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(()) => Err(Error::PeerMisbehaved {
                pe,
                how: Misbehaviour::Unasked { number },
            }),
        }
    }

    /// Takes the message at hand out of the ring, as far as it has come.
    pub(super) fn set_aside(&mut self, pe: PeId, front: Header) -> Result<()> {
        let most = self.budget_bytes + self.slack_bytes;
        let peer = self.peer(pe)?;
        let Header {
            kind,
            envelope,
            form,
        } = front;
        let mut rest = None;
        let body = match form {
            Form::Announced(announcement) => {
                peer.take_announcement(&announcement)?;
                Body::Announced(announcement)
            }
            Form::Whole(skip) => {
                if peer.aside_bytes > most {
                    let how = Misbehaviour::Unreceived {
                        bytes_max: most,
                        got_bytes: peer.aside_bytes + envelope.len_bytes,
                    };
                    return Err(Error::PeerMisbehaved { pe, how });
                }
                let mut bytes = self.spare.take(envelope.len_bytes);
                let peer = self.peer(pe)?;
                // Mostly all of it is there.
                if !peer.receiver.take_behind(skip, &mut bytes)? {
                    rest = Some(skip);
                }
                Body::Whole(bytes)
            }
        };
        let aside = Aside {
            kind,
            envelope,
            arrival: 0,
            body,
        };
        let Some(skip) = rest else {
            return self.put_aside(aside);
        };
        let peer = self.peer(pe)?;
        peer.arriving = Arriving::Aside(Box::new(aside), skip);
        peer.settle();
        Ok(())
    }

    pub(super) fn put_aside(&mut self, mut aside: Aside) -> Result<()> {
        let budget = self.budget_bytes;
        self.asides += 1;
        // Only now: one that was found here before stays in front of it.
        self.arrivals += 1;
        aside.arrival = self.arrivals;
        let peer = self.peer(aside.envelope.from)?;
        if let Body::Whole(bytes) = &aside.body {
            peer.aside_bytes += bytes.len() + ASIDE_BYTES;
        }
        peer.aside.push_back(aside);
        peer.settle();
        if peer.aside_bytes > budget && !peer.held && !peer.own {
            peer.held = true;
            peer.receiver.hold(true)?;
        }
        Ok(())
    }

    pub(super) fn take_aside(&mut self, pe: PeId, index: usize) -> Result<Option<Aside>> {
        let budget = self.budget_bytes;
        let peer = self.peer(pe)?;
        let Some(aside) = peer.aside.remove(index) else {
            return Ok(None);
        };
        if let Body::Whole(bytes) = &aside.body {
            peer.aside_bytes -= bytes.len() + ASIDE_BYTES;
        }
        peer.settle();
        if peer.held && peer.aside_bytes <= budget / 2 {
            peer.held = false;
            peer.receiver.hold(false)?;
        }
        self.asides -= 1;
        Ok(Some(aside))
    }

    /// Says a word about long message `number`, as soon as there is room for it.
    pub(super) fn answer(&mut self, pe: PeId, number: u32, word: u64) -> Result<()> {
        if !self.open(pe)? {
            return Ok(());
        }
        // What was stored before is there when the word is.
        self.wire.fence_of(pe)?;
        self.peer(pe)?.far().backlog.push_back((number, word));
        self.flush(pe)?;
        Ok(())
    }

    /// Whether all such words are on their way.
    pub(super) fn flush(&mut self, pe: PeId) -> Result<bool> {
        let peer = self.peer(pe)?;
        let mut any = false;
        while peer.has_backlog()
            && let Some((number, word)) = peer.far().backlog.front().copied()
        {
            let bytes = word.to_le_bytes();
            if !peer.sender.try_send_held(ANSWER, number, &bytes)? {
                return Ok(false);
            }
            peer.far().backlog.pop_front();
            any = true;
        }
        if any && self.are_weak() {
            self.wire.fence()?;
        }
        Ok(true)
    }

    /// Polls one in the background, and tells its queue when it ends.
    pub(super) fn run(&mut self, inner: &Inner, ticket: Ticket) {
        if let Some(request) = self.requests.take(ticket) {
            self.run_one(inner, ticket, request, None);
        }
    }

    /// As [`run`](Self::run), of one that was taken out; a receive begins with what was found for it. Gives what is behind
    /// that, if it is for several messages.
    pub(super) fn run_one(
        &mut self,
        inner: &Inner,
        ticket: Ticket,
        mut request: Box<Request>,
        found: Option<Found>,
    ) -> Option<Box<dyn Buffer>> {
        let mut rest = None;
        let polled = match &mut request.work {
            Work::Send(sending) => sending
                .poll(inner, self)
                .map(|sent| sent.then(|| sending.envelope(inner.pe))),
            Work::Receive(receiving) => match found {
                Some(found) => receiving
                    .start_one_of_several(inner, self, found)
                    .map(|behind| rest = behind),
                None => Ok(()),
            }
            .and_then(|()| receiving.poll(inner, self)),
            Work::Ask(asking) => asking
                .poll(inner, self)
                .map(|done| done.then(|| asking.envelope(inner.pe))),
        };
        match polled {
            Ok(None) => {
                let again = match &request.work {
                    Work::Send(sending) => sending.goes_on_by_itself(),
                    Work::Receive(receiving) => receiving.goes_on_by_itself(),
                    // Otherwise its peer answers, or the outbox goes on with it.
                    Work::Ask(asking) => asking.goes_on_by_itself(),
                };
                self.requests.put_back(ticket, request);
                if again {
                    self.requests.run_again(ticket);
                }
            }
            Ok(Some(envelope)) => self.requests.finish(ticket, request, Ok(envelope)),
            Err(error) => {
                if self.is_station && matches!(error, Error::PeerMisbehaved { .. }) {
                    self.accused = Some(error.clone());
                    if request.is_for_anybody() {
                        self.requests.put_back(ticket, request);
                        return rest;
                    }
                }
                if let Work::Receive(receiving) = &mut request.work {
                    receiving.let_go(self);
                }
                self.requests.finish(ticket, request, Err(error));
            }
        }
        rest
    }

    /// Begins sends in the background to `pe`, in their order, as long as there is room.
    pub(super) fn send_outbox(&mut self, inner: &Inner, pe: PeId) -> Result<bool> {
        loop {
            let peer = self.peer(pe)?;
            if !peer.has_outbox() {
                return Ok(true);
            }
            let Some(ticket) = peer.far().outbox.front().copied() else {
                return Ok(true);
            };
            self.run(inner, ticket);
            if let Some(request) = self.requests.get(ticket)
                && !request.work.has_left()
            {
                return Ok(false);
            }
            let peer = self.peer(pe)?;
            peer.far().outbox.pop_front();
            peer.settle();
        }
    }
}
