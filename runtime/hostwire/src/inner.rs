//! What all parts of a job share: its attachment, heap, messages and other state.
//!
//! Any thread may use it. Messages are behind one lock, which no thread holds while it waits: a wait
//! takes it anew each time that it looks. Puts, gets, atomics and barriers take no lock.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostwire_transport::OwnerLock;
use hostwire_transport::owner_lock::Guard;

pub(crate) use crate::attachment::Watch;
use crate::attachment::{Attachment, Pace};
use crate::core::Caller;
use crate::core::messages::Company;
use crate::error::Result;
use crate::heap::Heap;
pub(crate) use crate::lost::Departure;
use crate::message::Messages;
use crate::wait_hooks::WaitHooks;

/// See the [module text](self).
pub(crate) struct Inner {
    attachment: Attachment,
    heap: Mutex<Heap>,
    messages: OwnerLock<Messages>,
    /// Symmetric objects whose handles were dropped here, by offset in the segment.
    dropped: Mutex<Vec<usize>>,
    pub(crate) helpers: WaitHooks,
}

impl Deref for Inner {
    type Target = Attachment;

    #[inline(always)]
    fn deref(&self) -> &Attachment {
        &self.attachment
    }
}

impl Inner {
    pub(crate) fn new(attachment: Attachment) -> Result<Self> {
        let messages = Messages::new(&attachment.wire, &attachment.layout)?;
        Ok(Self::with(attachment, messages))
    }

    /// Of a station, whose peers come one by one.
    pub(crate) fn alone(attachment: Attachment) -> Result<Self> {
        let messages = Messages::alone(&attachment.wire, &attachment.layout)?;
        Ok(Self::with(attachment, messages))
    }

    fn with(attachment: Attachment, messages: Messages) -> Self {
        Self {
            heap: Mutex::new(Heap::new(attachment.layout.heap_bytes())),
            messages: OwnerLock::new(messages),
            dropped: Mutex::new(Vec::new()),
            helpers: WaitHooks::default(),
            attachment,
        }
    }

    /// The records of the heap.
    pub(crate) fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The symmetric objects whose handles were dropped.
    pub(crate) fn dropped(&self) -> MutexGuard<'_, Vec<usize>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The messages; waits while another thread uses them.
    pub(crate) fn messages(&self) -> Held<'_> {
        Held {
            inner: self,
            messages: self.messages.lock(),
        }
    }

    /// The messages, if neither another thread nor a caller of this function uses them.
    fn try_messages(&self) -> Option<Held<'_>> {
        let messages = self.messages.try_lock()?;
        Some(Held {
            inner: self,
            messages,
        })
    }

    /// As [`try_messages`](Self::try_messages), for the short ways of the only thread that uses
    /// messages.
    #[inline(always)]
    pub(crate) fn messages_at_once(&self) -> Option<Guard<'_, Messages>> {
        self.messages.try_lock_owned()
    }

    /// Whether several threads have used the messages.
    #[inline(always)]
    pub(crate) fn has_threads(&self) -> bool {
        self.messages.is_shared()
    }

    /// As [`Attachment::wait`], and makes room in the rings meanwhile.
    #[inline]
    pub(crate) fn wait<R>(
        &self,
        watch: Watch<'_>,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        self.wait_before(None, watch, poll)
    }

    /// As [`wait`](Self::wait), for at most `limit`: nothing if that is over.
    pub(crate) fn wait_for<R>(
        &self,
        limit: Duration,
        watch: Watch<'_>,
        mut poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        let deadline = self.wire.now().saturating_add(limit);
        self.wait_before(Some(deadline), watch, || match poll()? {
            Some(result) => Ok(Some(Some(result))),
            None => Ok((self.wire.now() >= deadline).then_some(None)),
        })
    }

    /// As [`wait`](Self::wait), for an operation of a team.
    #[inline]
    pub(crate) fn wait_in<R>(
        &self,
        company: Company<'_>,
        watch: Watch<'_>,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        let progress = |pace| {
            if pace == Pace::Slow {
                (company.look)()?;
            }
            self.get_on(pace)
        };
        self.attachment.wait_and(watch, progress, poll)
    }

    #[inline]
    fn wait_before<R>(
        &self,
        deadline: Option<Duration>,
        watch: Watch<'_>,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        let progress = |pace| self.get_on(pace);
        self.attachment.wait_before(deadline, watch, progress, poll)
    }

    /// As [`progress`](Self::progress), for the helpers of waits as well. In a long wait it also runs the
    /// audits of helpers and messages.
    pub(crate) fn get_on(&self, pace: Pace) -> Result<()> {
        self.progress()?;
        self.helpers.help()?;
        match pace {
            Pace::Quick => Ok(()),
            Pace::Slow => self.audit(),
        }
    }

    #[cold]
    fn audit(&self) -> Result<()> {
        self.helpers.audit()?;
        match self.try_messages() {
            Some(mut messages) => messages.audit(),
            None => Ok(()),
        }
    }

    /// As [`Attachment::progress`], and makes room in the rings, so that two PEs that
    /// send to each other before they receive do not wait for ever.
    pub(crate) fn progress(&self) -> Result<()> {
        self.turn(|_| false, |_| ()).map(drop)
    }

    /// As [`progress`](Self::progress), and then looks at the messages. If they have enough already,
    /// messages make no progress. Nothing if another thread uses them.
    #[inline]
    pub(crate) fn turn<R>(
        &self,
        has_enough: impl FnOnce(&Messages) -> bool,
        look: impl FnOnce(&Messages) -> R,
    ) -> Result<Option<R>> {
        self.attachment.progress()?;
        let Some(mut messages) = self.try_messages() else {
            return Ok(None);
        };
        if !has_enough(&messages) {
            if messages.are_weak() {
                // The awaited event may be the answer to a message that is still here.
                self.wire.fence()?;
            }
            messages.progress(self)?;
        }
        Ok(Some(look(&messages)))
    }
}

/// The messages, locked. When it is dropped, other threads of this PE that sleep are woken if their event
/// may have come: no store of a peer wakes them.
pub(crate) struct Held<'a> {
    inner: &'a Inner,
    messages: Guard<'a, Messages>,
}

impl Deref for Held<'_> {
    type Target = Messages;

    #[inline(always)]
    fn deref(&self) -> &Messages {
        &self.messages
    }
}

impl DerefMut for Held<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }
}

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.messages.take_news() && self.inner.has_threads() {
            self.inner.segment().notify();
        }
    }
}

impl Caller for Inner {
    #[inline(always)]
    fn attachment(&self) -> &Attachment {
        self
    }

    fn progress(&self, pace: Pace) -> Result<()> {
        self.get_on(pace)
    }
}
