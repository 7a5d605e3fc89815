//! Sends and receives in the background: they go on in every wait of this PE.

use std::collections::{BTreeMap, VecDeque};

use hostwire_transport::PeId;

use super::buffer::Buffer;
use super::header::Header;
use super::pattern::{Envelope, Pattern, Source};
use super::receive::Receiving;
use super::remote::Asking;
use super::send::Sending;
use super::target::Target;
use crate::error::{Error, Result};

/// Names a send or a receive in the background. No other of the same job has the same one,
/// before 2^32 more have been started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket {
    place: u32,
    turn: u32,
}

/// Free places that keep the box of what was there, at most.
const SPARE_MAX: usize = 256;

/// The number of a completion queue; 0 is nobody's.
pub(crate) type QueueId = u32;

/// One that has ended.
pub struct Finished {
    /// Which one.
    pub ticket: Ticket,
    /// A receive; else a send, or an operation on memory of another.
    pub is_receive: bool,
    /// What is known of the message, or why there is none.
    pub result: Result<Envelope>,
    /// What was given away for it.
    pub buffer: Option<Box<dyn Buffer>>,
}

pub(super) enum Work {
    Send(Sending<'static>),
    Receive(Receiving<'static>),
    /// An operation on registered memory of another.
    Ask(Asking),
}

impl Work {
    /// What was given away for it. It keeps nothing else that is large.
    fn take_buffer(&mut self) -> Option<Box<dyn Buffer>> {
        match self {
            Self::Send(sending) => sending.take_buffer(),
            Self::Receive(receiving) => receiving.take_buffer(),
            Self::Ask(asking) => Some(asking.take_buffer()),
        }
    }

    /// Who has to do something for it, if that is known.
    fn peer(&self) -> Option<PeId> {
        match self {
            Self::Send(sending) => Some(sending.to()),
            Self::Receive(receiving) => receiving.peer(),
            Self::Ask(asking) => Some(asking.to()),
        }
    }

    /// Whether what is sent later to the same peer may follow it into the ring.
    pub(super) fn has_left(&self) -> bool {
        match self {
            Self::Send(sending) => sending.has_begun(),
            Self::Receive(_) => true,
            Self::Ask(asking) => asking.has_left(),
        }
    }
}

pub(super) struct Request {
    pub(super) queue: QueueId,
    pub(super) work: Work,
}

impl Request {
    /// Whether it is a receive that any peer may end.
    pub(super) fn is_for_anybody(&self) -> bool {
        matches!(&self.work, Work::Receive(receiving) if receiving.peer().is_none())
    }
}

#[derive(Default)]
struct RequestSlot {
    turn: u32,
    /// Nothing while it is being polled. In a place that is free: one that has ended, whose box the next one gets.
    request: Option<Box<Request>>,
    in_use: bool,
}

/// All of a PE. See the [module text](self).
#[derive(Default)]
pub(crate) struct Requests {
    places: Vec<RequestSlot>,
    free: Vec<u32>,
    /// Receives that have no message, in the order in which they were posted.
    posted: VecDeque<Ticket>,
    /// Those that go on by being polled, and not by a word of a peer.
    runnable: Vec<Ticket>,
    queues: BTreeMap<QueueId, VecDeque<Finished>>,
    last_queue: QueueId,
    /// Those that have ended, in all queues.
    unheard: usize,
    /// Whether a queue has changed since that was asked last.
    ended: bool,
}

impl Requests {
    pub(crate) fn open_queue(&mut self) -> QueueId {
        self.last_queue += 1;
        self.queues.insert(self.last_queue, VecDeque::new());
        self.last_queue
    }

    /// Its receives without a message are given up; all else ends unheard.
    pub(crate) fn close_queue(&mut self, queue: QueueId) {
        let unheard = self.queues.remove(&queue).map_or(0, |queue| queue.len());
        self.unheard -= unheard;
        let of_it: Vec<Ticket> = self.posted.iter().copied().collect();
        for ticket in of_it {
            if self.get(ticket).is_some_and(|r| r.queue == queue) {
                self.unpost(ticket);
                self.release(ticket);
            }
        }
    }

    /// The next of `queue` that has ended.
    pub(crate) fn finished(&mut self, queue: QueueId) -> Option<Finished> {
        if self.unheard == 0 {
            return None;
        }
        let finished = self.queues.get_mut(&queue)?.pop_front()?;
        self.unheard -= 1;
        self.ended = true;
        Some(finished)
    }

    /// Whether there is one.
    #[inline]
    pub(crate) fn has_finished(&self, queue: QueueId) -> bool {
        let has = |ended: &VecDeque<Finished>| !ended.is_empty();
        self.unheard > 0 && self.queues.get(&queue).is_some_and(has)
    }

    /// See [`Messages::take_news`](super::Messages::take_news).
    #[inline(always)]
    pub(super) fn take_ended(&mut self) -> bool {
        core::mem::take(&mut self.ended)
    }

    pub(super) fn add(&mut self, queue: QueueId, mut work: Work) -> Ticket {
        let (ticket, at) = self.take_place();
        match &mut work {
            Work::Send(sending) => sending.set_ticket(ticket),
            Work::Receive(receiving) => receiving.set_ticket(ticket),
            Work::Ask(asking) => asking.set_ticket(ticket),
        }
        let request = Request { queue, work };
        match &mut at.request {
            Some(spare) => **spare = request,
            None => at.request = Some(Box::new(request)),
        }
        ticket
    }

    /// A receive of a station. In a box that was used before it is made in its place: moved as a whole right
    /// after it was made, it would be loaded in larger pieces than it was stored in, which makes a core wait.
    #[inline(always)]
    pub(super) fn add_receive(
        &mut self,
        queue: QueueId,
        pattern: Pattern,
        target: Target<'static>,
    ) -> Ticket {
        let (ticket, at) = self.take_place();
        if let Some(spare) = at.request.as_deref_mut()
            && let Work::Receive(receiving) = &mut spare.work
        {
            spare.queue = queue;
            receiving.begin_anew(pattern, target, ticket);
            return ticket;
        }
        let mut receiving = Receiving::new(pattern, 1, target).that_cuts();
        receiving.set_ticket(ticket);
        let work = Work::Receive(receiving);
        at.request = Some(Box::new(Request { queue, work }));
        ticket
    }

    /// A place that was free.
    #[inline(always)]
    fn take_place(&mut self) -> (Ticket, &mut RequestSlot) {
        let place = match self.free.pop() {
            Some(place) if (place as usize) < self.places.len() => place,
            _ => self.add_place(),
        };
        let at = &mut self.places[place as usize];
        at.turn = at.turn.wrapping_add(1);
        at.in_use = true;
        let turn = at.turn;
        (Ticket { place, turn }, at)
    }

    #[cold]
    #[inline(never)]
    fn add_place(&mut self) -> u32 {
        self.places.push(RequestSlot::default());
        self.places.len() as u32 - 1
    }

    /// What it does.
    pub(super) fn work(&mut self, ticket: Ticket) -> Option<&mut Work> {
        let request = self.place(ticket)?.request.as_deref_mut()?;
        Some(&mut request.work)
    }

    /// The receive that was posted first.
    pub(super) fn first_of_posted(&mut self) -> Option<(Ticket, &mut Receiving<'static>)> {
        let ticket = self.posted.front().copied()?;
        match self.work(ticket)? {
            Work::Receive(receiving) => Some((ticket, receiving)),
            Work::Send(_) | Work::Ask(_) => None,
        }
    }

    fn place(&mut self, ticket: Ticket) -> Option<&mut RequestSlot> {
        let place = self.places.get_mut(ticket.place as usize)?;
        (place.in_use && place.turn == ticket.turn).then_some(place)
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Request> {
        let place = self.places.get(ticket.place as usize)?;
        let is_it = place.in_use && place.turn == ticket.turn;
        place.request.as_deref().filter(|_| is_it)
    }

    /// Takes it out, to be polled; [`put_back`](Self::put_back) or [`finish`](Self::finish)
    /// follows.
    pub(super) fn take(&mut self, ticket: Ticket) -> Option<Box<Request>> {
        self.place(ticket)?.request.take()
    }

    pub(super) fn put_back(&mut self, ticket: Ticket, request: Box<Request>) {
        if let Some(place) = self.place(ticket) {
            place.request = Some(request);
        }
    }

    pub(super) fn run_again(&mut self, ticket: Ticket) {
        self.runnable.push(ticket);
    }

    #[inline(always)]
    pub(super) fn has_runnable(&self) -> bool {
        !self.runnable.is_empty()
    }

    pub(super) fn take_runnable(&mut self) -> Vec<Ticket> {
        core::mem::take(&mut self.runnable)
    }

    pub(super) fn finish(
        &mut self,
        ticket: Ticket,
        mut request: Box<Request>,
        result: Result<Envelope>,
    ) {
        self.release(ticket);
        self.ended = true;
        let is_receive = matches!(request.work, Work::Receive(_));
        let buffer = request.work.take_buffer();
        if let Some(queue) = self.queues.get_mut(&request.queue) {
            self.unheard += 1;
            queue.push_back(Finished {
                ticket,
                is_receive,
                result,
                buffer,
            });
        }
        // Its place is free, and keeps the box.
        if self.free.len() <= SPARE_MAX
            && let Some(at) = self.places.get_mut(ticket.place as usize)
            && !at.in_use
        {
            at.request = Some(request);
        }
    }

    /// Ends the receive that was posted first, if it is of `queue` and `take` gives it its message: which one it is, what is
    /// known of the message, and the buffer of the receive. Its end is told here and in no queue.
    #[inline(always)]
    pub(super) fn end_first_posted(
        &mut self,
        queue: QueueId,
        take: impl FnOnce(&mut Receiving<'static>) -> Option<Envelope>,
    ) -> Option<(Ticket, Envelope, Box<dyn Buffer>)> {
        let ticket = *self.posted.front()?;
        let place = self.places.get_mut(ticket.place as usize)?;
        let request = place.request.as_deref_mut()?;
        let Work::Receive(receiving) = &mut request.work else {
            return None;
        };
        if !place.in_use || place.turn != ticket.turn || request.queue != queue {
            return None;
        }
        let envelope = take(receiving)?;
        let rest = receiving.take_rest(envelope.len_bytes);
        let pattern = *receiving.pattern();
        let buffer = receiving.take_buffer();
        place.in_use = false;
        if self.free.len() >= SPARE_MAX {
            place.request = None;
        }
        self.posted.pop_front();
        self.free.push(ticket.place);
        if let Some(rest) = rest {
            let ticket = self.add_receive(queue, pattern, Target::Owned(rest));
            self.post_again(0, ticket);
        }
        Some((ticket, envelope, buffer?))
    }

    /// The receive that was [posted first](Self::first_of_posted) has its message.
    pub(super) fn finish_first(&mut self, ticket: Ticket, envelope: Envelope) {
        self.posted.pop_front();
        if let Some(mut request) = self.take(ticket) {
            self.post_rest(0, &mut request, envelope.len_bytes);
            self.finish(ticket, request, Ok(envelope));
        }
    }

    /// What a receive for several messages has behind one of so many bytes waits for the next, in its place among
    /// those that were posted: memory that was posted first is full first.
    pub(super) fn post_rest(&mut self, place: usize, request: &mut Request, len_bytes: usize) {
        let Work::Receive(receiving) = &mut request.work else {
            return;
        };
        if let Some(rest) = receiving.take_rest(len_bytes) {
            let pattern = *receiving.pattern();
            let ticket = self.add_receive(request.queue, pattern, Target::Owned(rest));
            self.post_again(place, ticket);
        }
    }

    /// Ends one without a word, and gives it back.
    pub(super) fn release(&mut self, ticket: Ticket) -> Option<Box<Request>> {
        let place = self.place(ticket)?;
        place.in_use = false;
        let request = place.request.take();
        self.free.push(ticket.place);
        request
    }

    pub(super) fn post(&mut self, ticket: Ticket) {
        self.posted.push_back(ticket);
    }

    /// At the place that [`unpost`](Self::unpost) gave, before anything else is posted.
    pub(super) fn post_again(&mut self, place: usize, ticket: Ticket) {
        self.posted.insert(place.min(self.posted.len()), ticket);
    }

    /// It waits for no message any more. Gives its place among those that do, if it did.
    pub(super) fn unpost(&mut self, ticket: Ticket) -> Option<usize> {
        let place = self.posted.iter().position(|posted| *posted == ticket)?;
        self.posted.remove(place).map(|_| place)
    }

    #[inline(always)]
    pub(super) fn has_posted(&self) -> bool {
        !self.posted.is_empty()
    }

    /// The receive that was posted first of those that take this message.
    pub(super) fn first_posted(&self, front: &Header) -> Option<Ticket> {
        let takes = |ticket: &&Ticket| {
            self.get(**ticket)
                .is_some_and(|request| match &request.work {
                    Work::Receive(receiving) => {
                        receiving.pattern().takes(front.kind, &front.envelope)
                    }
                    Work::Send(_) | Work::Ask(_) => false,
                })
        };
        self.posted.iter().find(takes).copied()
    }

    fn all(&self) -> impl Iterator<Item = (Ticket, &Request)> {
        (0..).zip(&self.places).filter_map(|(place, at)| {
            let request = at.request.as_deref().filter(|_| at.in_use)?;
            let turn = at.turn;
            Some((Ticket { place, turn }, request))
        })
    }

    /// What `queue` waits for: how many there are, of which PEs, and whether of any.
    pub(crate) fn awaited(&self, queue: QueueId) -> Awaited {
        let mut awaited = Awaited::default();
        for (_, request) in self.all().filter(|(_, request)| request.queue == queue) {
            awaited.count += 1;
            match request.work.peer() {
                Some(pe) if !awaited.peers.contains(&pe) => awaited.peers.push(pe),
                Some(_) => {}
                None => awaited.anybody = true,
            }
        }
        awaited
    }

    /// The receive of `queue` whose buffer has this mark: of several the one that was posted first.
    pub(crate) fn receive_marked(&self, queue: QueueId, mark: usize) -> Option<Ticket> {
        let is_it = |request: &Request| {
            let marked = match &request.work {
                Work::Receive(receiving) => receiving.mark(),
                Work::Send(_) | Work::Ask(_) => None,
            };
            request.queue == queue && marked == Some(mark)
        };
        let posted = self.posted.iter().copied();
        let mut posted = posted.filter(|ticket| self.get(*ticket).is_some_and(is_it));
        let under_way = || self.all().find(|(_, request)| is_it(request));
        posted.next().or_else(|| Some(under_way()?.0))
    }

    /// Receives that only `pe` can end.
    pub(crate) fn receives_from(&self, pe: PeId) -> Vec<Ticket> {
        let of_it = |(ticket, request): (Ticket, &Request)| {
            let is_receive = matches!(request.work, Work::Receive(_));
            (is_receive && request.work.peer() == Some(pe)).then_some(ticket)
        };
        self.all().filter_map(of_it).collect()
    }

    /// Sends to `pe`.
    pub(crate) fn sends_to(&self, pe: PeId) -> Vec<Ticket> {
        let of_it = |(ticket, request): (Ticket, &Request)| {
            let is_send = matches!(request.work, Work::Send(_));
            (is_send && request.work.peer() == Some(pe)).then_some(ticket)
        };
        self.all().filter_map(of_it).collect()
    }

    /// Ends all that `pe` would have to do something for. Returns whether there was
    /// anything.
    pub(crate) fn fail(&mut self, pe: PeId, error: &Error) -> bool {
        let of_it = |(ticket, request): (Ticket, &Request)| {
            (request.work.peer() == Some(pe)).then_some(ticket)
        };
        let lost: Vec<Ticket> = self.all().filter_map(of_it).collect();
        for ticket in &lost {
            self.unpost(*ticket);
            if let Some(request) = self.take(*ticket) {
                self.finish(*ticket, request, Err(error.clone()));
            }
        }
        !lost.is_empty()
    }
}

/// See [`Requests::awaited`].
#[derive(Debug, Default)]
pub(crate) struct Awaited {
    pub(crate) count: usize,
    pub(crate) peers: Vec<PeId>,
    pub(crate) anybody: bool,
}

/// A receive of any PE's messages waits for nobody in particular until it has one.
pub(super) fn named(source: Source) -> Option<PeId> {
    match source {
        Source::Pe(pe) => Some(pe),
        Source::Any => None,
    }
}
