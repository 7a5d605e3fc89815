//! Messages that are sent and received in the background, and their completions.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hostwire_transport::PeId;

use crate::board::Activity;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::inner::{Inner, Watch};
use crate::message::{
    Envelope, Finished, Kind, Pattern, Payload, QueueId, Receiving, Sending, Source, Tag, Target,
    Ticket,
};
use crate::symmetric::Symmetric;

/// Sends and receives of elements `T` in the background, and the queue of their
/// completions. Made by [`Job::queue`](crate::Job::queue); any number may be outstanding.
///
/// They make progress whenever this PE waits for anything, in [`poll`](Self::poll) and in
/// [`wait`](Self::wait). The queue owns the values of a send and the room of a receive
/// until the [`Completion`] gives them back. Or they lie in symmetric memory, which then
/// has to live, and must not be accessed, until the completion.
///
/// Messages to one PE arrive in the order in which they were sent, whether in the
/// background or not. Of several receives that take a message, the one that was posted
/// first gets it.
///
/// Dropping a queue cancels its receives that have no message. Everything else continues,
/// without a completion.
///
/// ```
/// use hostwire::{Job, Source, Tag};
/// # fn main() -> hostwire::Result<()> {
/// let job = Job::attach()?;
/// let queue = job.queue::<u64>()?;
/// queue.recv(Source::Any, Tag::ANY, vec![0; 10])?;
/// queue.send(job.pe(), 7, vec![1, 2, 3])?;
/// while let Some(done) = queue.wait()? {
///     let envelope = done.result?;
///     println!("{:?} with tag {}", done.values, envelope.tag);
/// }
/// job.finalize()
/// # }
/// ```
pub struct Queue<T: Element> {
    inner: Arc<Inner>,
    id: QueueId,
    /// A thread looks for lost peers.
    is_watched: bool,
    /// Polls that found nothing.
    polls: AtomicU32,
    elements: PhantomData<T>,
}

/// One of so many polls that find nothing checks for lost peers.
const POLLS_PER_LOOK: u32 = 64;

/// How a send or a receive in the background ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completion<T> {
    /// The ticket that the call gave.
    pub ticket: Ticket,
    /// What is known of the message. After [`Error::MessageTooLong`] and
    /// [`Error::MessageShape`] another receive can get the message. [`Error::PeerLost`] and
    /// [`Error::PeerLeft`]: it cannot complete any more.
    pub result: Result<Envelope>,
    /// What was sent; or what was received, which may be fewer elements than there was room
    /// for. Empty if the values are in symmetric memory.
    pub values: Vec<T>,
}

impl<T: Element> Queue<T> {
    pub(crate) fn new(inner: Arc<Inner>, is_watched: bool) -> Result<Self> {
        inner.check_is_here()?;
        let id = inner.messages().requests.open_queue();
        Ok(Self {
            inner,
            id,
            is_watched,
            polls: AtomicU32::new(0),
            elements: PhantomData,
        })
    }

    /// Starts to send `values`.
    ///
    /// # Errors
    /// [`Error::NoSuchPe`]; [`Error::PeerLost`]; [`Error::PeerMisbehaved`].
    pub fn send(&self, to: PeId, tag: u64, values: Vec<T>) -> Result<Ticket> {
        self.send_with_data(to, tag, 0, values)
    }

    /// As [`send`](Self::send), with 8 bytes beside the message, which are in its envelope.
    pub fn send_with_data(&self, to: PeId, tag: u64, data: u64, values: Vec<T>) -> Result<Ticket> {
        let payload = Payload::Owned(Box::new(values));
        self.start_send(
            Sending::new(to, Kind::User, tag, payload).with_data((data != 0).then_some(data)),
            to,
        )
    }

    /// As [`send`](Self::send), from own elements `index .. index + count`.
    pub fn send_from(
        &self,
        to: PeId,
        tag: u64,
        source: &Symmetric<T>,
        index: usize,
        count: usize,
    ) -> Result<Ticket> {
        let payload = Payload::Segment(source.locate(index, count)?, count * size_of::<T>());
        self.start_send(Sending::new(to, Kind::User, tag, payload), to)
    }

    fn start_send(&self, sending: Sending<'static>, to: PeId) -> Result<Ticket> {
        self.inner.check(to)?;
        let messages = &mut *self.inner.messages();
        messages.start_send(&self.inner, self.id, sending)
    }

    /// Starts to receive a message that was or will be sent, into the front of `room`.
    ///
    /// # Errors
    /// [`Error::NoSuchPe`]; [`Error::PeerMisbehaved`].
    pub fn recv(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        room: Vec<T>,
    ) -> Result<Ticket> {
        self.start_receive(from.into(), tag.into(), Target::Owned(Box::new(room)))
    }

    /// As [`recv`](Self::recv), to own elements `index .. index + count`.
    pub fn recv_into(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
        target: &Symmetric<T>,
        index: usize,
        count: usize,
    ) -> Result<Ticket> {
        let target = Target::Segment(target.locate(index, count)?, count * size_of::<T>());
        self.start_receive(from.into(), tag.into(), target)
    }

    fn start_receive(&self, from: Source, tag: Tag, target: Target<'static>) -> Result<Ticket> {
        self.inner.check_is_here()?;
        if let Source::Pe(pe) = from
            && pe >= self.inner.pes
        {
            self.inner.check(pe)?;
        }
        let pattern = Pattern::new(Kind::User, from, tag);
        let receiving = Receiving::new(pattern, size_of::<T>().max(1), target);
        let messages = &mut *self.inner.messages();
        messages.start_receive(&self.inner, self.id, receiving)
    }

    /// Cancels a receive that has no message yet, or a send of which nothing has left, and
    /// returns `true`. It then completes with [`Error::Cancelled`]. Everything else
    /// continues: `false`.
    ///
    /// # Errors
    /// [`Error::Copied`].
    pub fn cancel(&self, ticket: Ticket) -> Result<bool> {
        self.inner.check_is_here()?;
        self.inner.messages().cancel(self.id, ticket)
    }

    /// How many sends and receives have not completed.
    pub fn outstanding(&self) -> usize {
        let messages = self.inner.messages();
        messages.requests.awaited(self.id).count
    }

    /// The next completion, if there is one. Makes progress.
    ///
    /// # Errors
    /// [`Error::PeerMisbehaved`]; [`Error::Copied`].
    pub fn poll(&self) -> Result<Option<Completion<T>>> {
        self.inner.check_is_here()?;
        if let Some(done) = self.finished() {
            return Ok(Some(done));
        }
        self.inner.progress()?;
        if let Some(done) = self.finished() {
            return Ok(Some(done));
        }
        // A program that polls does so often.
        let polls = self.polls.fetch_add(1, Ordering::Relaxed);
        if !polls.is_multiple_of(POLLS_PER_LOOK) {
            return Ok(None);
        }
        let awaited = self.inner.messages().requests.awaited(self.id);
        for pe in awaited.peers {
            if !self.is_watched {
                self.inner.is_lost(pe)?;
            }
            self.fail_if_lost(pe);
        }
        Ok(self.finished())
    }

    /// Waits for the next completion. `None` if nothing is outstanding.
    ///
    /// # Errors
    /// As [`poll`](Self::poll). [`Error::PeerLost`] for each PE that is newly lost while a
    /// receive waits for a message from any PE. The receive continues, because others may
    /// still send.
    pub fn wait(&self) -> Result<Option<Completion<T>>> {
        if let Some(done) = self.poll()? {
            return Ok(Some(done));
        }
        loop {
            let awaited = self.inner.messages().requests.awaited(self.id);
            if awaited.count == 0 {
                return Ok(self.finished());
            }
            let watch = match awaited.anybody {
                true => Watch::Anybody,
                false => Watch::All(&awaited.peers),
            };
            let _busy = self.inner.status.during(Activity::Receiving, None);
            let waited = self.inner.wait(watch, || {
                let mut messages = self.inner.messages();
                if let Some(done) = messages.requests.finished(self.id) {
                    return Ok(Some(Some(done)));
                }
                messages.progress(&self.inner)?;
                if let Some(done) = messages.requests.finished(self.id) {
                    return Ok(Some(Some(done)));
                }
                drop(messages);
                for pe in &awaited.peers {
                    self.fail_if_lost(*pe);
                }
                let requests = &mut self.inner.messages().requests;
                let done = requests.finished(self.id);
                // Another thread may have taken the last one.
                let is_over = done.is_none()
                    && self.inner.has_threads()
                    && requests.awaited(self.id).count == 0;
                Ok((done.is_some() || is_over).then_some(done))
            });
            match waited {
                Ok(done) => return Ok(done.map(completion)),
                Err(error @ (Error::PeerLost { pe, .. } | Error::PeerLeft { pe })) => {
                    if !self.inner.messages().requests.fail(pe, &error) {
                        return Err(error);
                    }
                }
                Err(other) => return Err(other),
            }
        }
    }

    fn fail_if_lost(&self, pe: PeId) {
        if let Err(error) = self.inner.check(pe) {
            self.inner.messages().requests.fail(pe, &error);
        }
    }

    fn finished(&self) -> Option<Completion<T>> {
        let mut messages = self.inner.messages();
        messages.requests.finished(self.id).map(completion)
    }
}

impl<T: Element> Drop for Queue<T> {
    fn drop(&mut self) {
        // In a copy of the process the lock may belong to a thread that does not exist
        // there.
        if self.inner.is_here() {
            self.inner.messages().requests.close_queue(self.id);
        }
    }
}

fn completion<T: Element>(done: Finished) -> Completion<T> {
    let Finished {
        ticket,
        is_receive,
        result,
        buffer,
    } = done;
    let values = buffer.and_then(|buffer| buffer.into_any().downcast::<Vec<T>>().ok());
    let mut values = values.map(|values| *values).unwrap_or_default();
    if let Ok(envelope) = &result
        && is_receive
    {
        values.truncate(envelope.count::<T>());
    }
    Completion {
        ticket,
        result,
        values,
    }
}
